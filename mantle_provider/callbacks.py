"""What an operator of the user's may want to know of its step and its workflow.

Imports nothing from Airflow. See ``docs/reference/state.md`` for when each method is called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mantle_provider.lifecycle import WorkflowState


class StepCallbacks:
    """Put before an operator's base class to be called when its step and its workflow have ended.

    For operators that are run by the action ``airflow/operator``::

        class TakeLock(StepCallbacks, BaseOperator):
            def execute(self, context): ...

            def on_workflow_finish(self, state): ...

    What a method raises is logged and changes nothing. It may be called more than once, since its
    process may be killed before Airflow learns that it was, so that it must do no harm again.
    """

    def on_finish(self, succeeded: bool) -> None:  # noqa: FBT001  # passed by keyword, as CDAP names it
        """Take note that the step has ended, after its last attempt.

        The fields of the operator are those of that attempt where it ended by itself. For a step
        that was killed this is called by another process, with fields as the file has them:
        expressions are not resolved there.

        :param succeeded: whether the step completed.
        """

    def on_workflow_finish(self, state: WorkflowState) -> None:
        """Take note that the workflow has ended, after its hooks and in a process of its own.

        The operator's fields are as the file has them: expressions are not resolved.
        """


def overrides(operator_class: type, method: str) -> bool:
    """Return whether an operator's class wants a call.

    Only a subclass does: an operator of somebody else's may have a method of the same name.

    :param method: a method of :class:`StepCallbacks`.
    """
    is_ours = issubclass(operator_class, StepCallbacks)
    return is_ours and getattr(operator_class, method) is not getattr(StepCallbacks, method)
