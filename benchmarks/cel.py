"""Our evaluation of CEL against stock cel-python, as ratios measured in one run.

Both sides compile once and then answer the same question again and again. They take turns, and
the median of the turns' ratios counts, so that a busy machine slows both. Stock cel-python must
convert its context to its own types for every evaluation; that belongs to its price.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import celpy  # noqa: TID253  # the other side of the comparison
from measuring import Figure, median_ratio

from mantle_provider.expressions import compile_expression

if TYPE_CHECKING:
    from collections.abc import Callable

ROUNDS = 15
SMALL = {"inputs": {"count": 3, "name": "daily"}, "steps": {"fetch": {"output": {"status": 200}}}}
LARGE = {
    "steps": {"fetch": {"output": {"rows": [{"id": n, "text": "x" * 80} for n in range(9_500)]}}}
}
CASES = (
    ("small evaluation", "steps.fetch.output.status == 200 && inputs.count > 2", SMALL, 20, 2_000),
    ("one field of 1 MB", "steps.fetch.output.rows[7].id", LARGE, 1, 2_000),
)


def stock(expression: str, context: dict[str, Any]) -> Callable[[], Any]:
    """Return stock cel-python's evaluation of a plain context."""
    environment = celpy.Environment()
    program = environment.program(environment.compile(expression))
    return lambda: program.evaluate(
        {name: celpy.json_to_cel(value) for name, value in context.items()}
    )


def ours(expression: str, context: dict[str, Any]) -> Callable[[], Any]:
    """Return our evaluation of the same."""
    program = compile_expression(expression)
    return lambda: program.evaluate(context)


def seconds_per_call(call: Callable[[], Any], count: int) -> float:
    """Return the mean of ``count`` calls."""
    start = time.perf_counter()
    for _ in range(count):
        call()
    return (time.perf_counter() - start) / count


def figures(*, is_quick: bool) -> list[Figure]:
    """Return how much faster each case is."""
    found = []
    for title, expression, context, stock_count, our_count in CASES:
        theirs, mine = stock(expression, context), ours(expression, context)
        if theirs() != mine():
            raise AssertionError(f"different answers to {expression}")
        turns = [
            (seconds_per_call(theirs, stock_count), seconds_per_call(mine, our_count))
            for _ in range(1 if is_quick else ROUNDS)
        ]
        faster = median_ratio(*zip(*turns, strict=True))
        found.append(Figure(f"CEL, {title}", f"{faster:,.0f} times as fast as cel-python"))
    return found
