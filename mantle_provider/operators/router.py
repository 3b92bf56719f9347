"""A step that chooses which of several steps runs next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mantle_provider.errors import WorkflowError
from mantle_provider.lifecycle import Phase
from mantle_provider.operators.base import StepOperator
from mantle_provider.operators.run_reader import ROUTE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from airflow.sdk.definitions.context import Context


class RouterOperator(StepOperator):
    """The key ``switch``: the first case that holds names the step that runs.

    Cases are bare CEL; the XCom value is ``{"to": name}``. An attempt that follows another asks
    all cases anew. See ``docs/how-to/recover-from-failures.md``.
    """

    def act(self, context: Context, parameters: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ARG002  # the attempt has the values
        """Return ``{"to": ...}``.

        :raises WorkflowError: in phase ``EDGE_CONDITION`` when a case cannot say yes or no; those
            after it are not asked. In phase ``EDGE_SELECTION`` when none holds.
        """
        for index, case in enumerate(self.mantle_step["switch"]):
            when, target = case["when"], case["to"]
            if when is None or self._attempt.holds(
                when,
                f'the case for step "{target}"',
                phase=Phase.EDGE_CONDITION.value,
                edge_id=target,
                field=f"switch[{index}].when",
                expression=when,
            ):
                return {ROUTE: target}
        raise WorkflowError(
            "no case of `switch` holds, and there is no `else`",
            phase=Phase.EDGE_SELECTION.value,
        )
