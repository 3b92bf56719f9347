"""Limits of one expression, each with its reason; none is a setting.

Expressions stand in workflow files that anybody with access to a repository may write, and
they are evaluated in the scheduler's neighbourhood, so each has a bound that no real workflow
comes near.
"""

from __future__ import annotations

from mantle_provider.expressions.faults import BudgetError

# Mantle has no limit. A workflow file may have 1 MiB; nobody reads an expression of this length.
MAX_EXPRESSION_LENGTH = 64 * 1024

# cel-go's parser stops at 250 levels, and 250 levels of two Python frames each leave half of the
# interpreter's default recursion limit to the caller.
MAX_TREE_DEPTH = 250

# In total over all macros of one evaluation, nested ones included: about 0.1 seconds of work.
MAX_ITERATIONS = 100_000

# A step's output may have 1 MiB; four of them fit.
MAX_STRING_LENGTH = 4 * 1024 * 1024

# The limit of Mantle's ``flatten``, applied to every list an expression makes.
MAX_LIST_LENGTH = 100_000

# The limit of Mantle's ``split``.
MAX_SPLIT_PARTS = 10_000

# The limit of Mantle's ``jsonDecode``, in bytes.
MAX_JSON_BYTES = 1_048_576

# Values in one result, counted on the way out: a result of references to the same list again
# and again is small in memory and huge as text.
MAX_RESULT_VALUES = 1_000_000

# Compiled texts that one process keeps: a few thousand are all the expressions of a large folder
# of workflows.
CACHED_TEXTS = 4096


def check_list_length(length: int) -> None:
    """Refuse to make a list that is too long.

    :raises BudgetError: it would be.
    """
    if length > MAX_LIST_LENGTH:
        raise BudgetError(f"a list has more than {MAX_LIST_LENGTH} values")


def check_text_length(length: int) -> None:
    """Refuse to make a string, or bytes, that is too long.

    :raises BudgetError: it would be.
    """
    if length > MAX_STRING_LENGTH:
        raise BudgetError(f"a text has more than {MAX_STRING_LENGTH} characters")
