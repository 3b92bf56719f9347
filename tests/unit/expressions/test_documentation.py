"""The reference page: every function is there, and its examples hold."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mantle_provider.expressions import budgets, compile_expression
from mantle_provider.expressions.functions import FUNCTIONS
from mantle_provider.expressions.lowering import MACROS

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "expressions.md"
TEXT = PAGE.read_text(encoding="utf-8")
# Examples that need no context: comparisons and predicates that begin with a literal or a call.
CLAIMS = re.findall(r"`((?:'[^`|]*|[a-z]+\([^`|]*) == [^`|]+|'[^`|]*\('[^`|]*'\))`", TEXT)


@pytest.mark.parametrize("name", sorted([*FUNCTIONS, *MACROS, "has", "default"]))
def test_function_is_documented(name):
    assert re.search(rf"`[^`\n]*\b{name}\([^`\n]*`", TEXT)


@pytest.mark.parametrize("claim", [claim for claim in CLAIMS if "inputs." not in claim])
def test_example_holds(claim):
    assert compile_expression(claim).evaluate({}) is True


@pytest.mark.parametrize(
    "limit",
    [
        budgets.MAX_EXPRESSION_LENGTH,
        budgets.MAX_TREE_DEPTH,
        budgets.MAX_ITERATIONS,
        budgets.MAX_LIST_LENGTH,
        budgets.MAX_STRING_LENGTH,
        budgets.MAX_RESULT_VALUES,
        budgets.MAX_SPLIT_PARTS,
    ],
)
def test_budget_is_documented(limit):
    assert f"{limit:,}" in TEXT
