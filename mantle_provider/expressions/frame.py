"""What one evaluation holds: the context, the budget of iterations and the loop variables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from mantle_provider.expressions.budgets import MAX_ITERATIONS
from mantle_provider.expressions.faults import BudgetError


class Frame:
    """State of one evaluation; never shared, so one program serves many threads.

    :param context: values by the name of their root; only those that are read are looked at.
    :param slot_count: how many loop variables are alive at once.
    """

    __slots__ = ("_iterations_left", "context", "slots")

    def __init__(self, context: Mapping[str, Any], slot_count: int) -> None:
        self.context = context
        self.slots: list[Any] = [None] * slot_count
        self._iterations_left = MAX_ITERATIONS

    def count_iteration(self) -> None:
        """Use up one iteration.

        :raises BudgetError: there is none left.
        """
        self._iterations_left -= 1
        if self._iterations_left < 0:
            raise BudgetError(f"more than {MAX_ITERATIONS} iterations in one evaluation")


# An expression, or a part of one, ready to run.
Closure = Callable[[Frame], Any]
