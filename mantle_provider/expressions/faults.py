"""How the parts of this package tell each other what is wrong.

None of these leaves the package: ``program`` turns each into an
:class:`~mantle_provider.errors.ExpressionError`, which also carries the expression's text.
"""

from __future__ import annotations

from typing import NamedTuple

from mantle_provider.errors import MantleError


class Span(NamedTuple):
    """Where something stands: lines and columns count from 1, the end is exclusive.

    The end column belongs to the same line; what goes on over more lines ends where its first
    word ends.
    """

    line: int
    column: int
    end_column: int


class CompileError(MantleError):
    """The text of an expression is wrong.

    :param expression: the expression's own text, where it is not known to whom this is raised.
    """

    def __init__(self, message: str, span: Span, expression: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.span = span
        self.expression = expression


class EvaluationError(MantleError):
    """An expression does not fit its context; ``||``, ``&&`` and ``default`` may absorb it.

    Raised without a span by operators and functions; the node that called them adds its own.
    The message must not hold a value of the context, since that may be a secret.
    """

    def __init__(self, message: str, span: Span | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.span = span


class BudgetError(MantleError):
    """An evaluation used up one of its budgets; nothing absorbs it."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message
