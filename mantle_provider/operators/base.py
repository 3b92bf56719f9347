"""The step runtime as a mixin: over our own operators, and over any Airflow operator.

The phases of an attempt stand in :mod:`mantle_provider.operators.attempt`; here they are hung
into Airflow's life of a task.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from airflow.sdk import BaseOperator

from mantle_provider.callbacks import StepCallbacks
from mantle_provider.operators.attempt import Attempt
from mantle_provider.operators.grants import is_counted
from mantle_provider.operators.retry import GrantedRetryPolicy, StepRetryPolicy

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from airflow.sdk.definitions.context import Context

    _OperatorBelow = BaseOperator
else:
    # The operator that the mixin stands over comes after it in the order of the classes.
    _OperatorBelow = object


class StepMixin(_OperatorBelow):
    """Makes an operator a step: condition, parameters, timeout, output check, error record.

    Fields that hold values of the workflow are resolved as CEL in place of Jinja. Expressions
    are never scanned again, whatever they yield.

    :param mantle_step: what the plan says about this step.
    :param mantle_workflow: what the plan says about the whole workflow; one object shared by all
        tasks of the Dag.
    """

    # Airflow: with extensions, a value such as "x.sh" is looked up as a template file.
    template_ext: Sequence[str] = ()
    # Airflow: a step derived from EmptyOperator would never reach a worker, nor its `if`.
    inherits_from_empty_operator = False

    def __init__(
        self,
        *,
        mantle_step: Mapping[str, Any],
        mantle_workflow: Mapping[str, Any],
        **kwargs: Any,  # noqa: ANN401  # the operator's own arguments
    ) -> None:
        if is_counted(mantle_step, mantle_workflow):
            kwargs["retry_policy"] = GrantedRetryPolicy()
        elif mantle_step["retry"] is not None:
            kwargs["retry_policy"] = StepRetryPolicy(mantle_step["retry"])
        super().__init__(**kwargs)
        self.mantle_step = mantle_step
        self.mantle_workflow = mantle_workflow

    def render_template_fields(self, context: Context, jinja_env: Any = None) -> None:  # noqa: ANN401, ARG002  # Airflow's signature
        """Decide whether the step runs, then resolve its expressions.

        Airflow calls this inside the attempt, so that a skip or a failure raised here is handled
        as one raised in ``execute``, and the UI shows what was resolved.
        """
        # `airflow tasks render` has no run to read values from; the text stays as it is.
        if not hasattr(context["ti"], "get_task_states"):
            return
        self._attempt = Attempt(context, self.mantle_step, self.mantle_workflow)
        self._attempt.check_granted()
        with self._attempt.failures_recorded():
            self._attempt.enter()
            self._resolve_fields(context)

    def _resolve_fields(self, context: Context) -> None:
        """Put resolved values into the fields that hold values of the workflow."""
        raise NotImplementedError

    def _act(self, context: Context) -> Any:  # noqa: ANN401  # any result
        """Carry out the action."""
        raise NotImplementedError

    def execute(self, context: Context) -> dict[str, Any]:
        """Carry out the action and return its checked output."""
        return self._attempt.run(partial(self._act, context), on_cut=self._stop)

    def resume_execution(
        self, next_method: str, next_kwargs: dict[str, Any] | None, context: Context
    ) -> dict[str, Any]:
        """Go on after a deferral, under the same checks as the first part."""
        resume = super().resume_execution
        return self._attempt.resume(
            lambda: resume(next_method, next_kwargs, context), next_kwargs, on_cut=self._stop
        )

    def on_kill(self) -> None:
        """Stop the action because Airflow ends the task: it was marked, or its worker goes away."""
        attempt: Attempt | None = getattr(self, "_attempt", None)
        if attempt is not None:
            attempt.is_killed = True
        self._stop()

    def _stop(self) -> None:
        """Stop what the action has started outside this process."""
        super().on_kill()


class StepOperator(StepMixin, StepCallbacks, BaseOperator):
    """Base of our own actions.

    :param parameters: the step's ``params``; strings may hold CEL. Not named ``params``, which
        are the Dag's in Airflow.
    """

    template_fields: Sequence[str] = ("parameters",)
    template_fields_renderers: ClassVar[dict[str, str]] = {"parameters": "json"}

    def __init__(self, *, parameters: dict[str, Any], **kwargs: Any) -> None:  # noqa: ANN401  # BaseOperator's arguments
        super().__init__(**kwargs)
        self.parameters = parameters

    def _resolve_fields(self, context: Context) -> None:  # noqa: ARG002  # the attempt has it
        self.parameters = self._attempt.resolve(self.parameters, "")
        self._attempt.check_parameters(self.parameters)

    def _act(self, context: Context) -> Any:  # noqa: ANN401  # any result
        return self.act(context, self.parameters)

    def act(self, context: Context, parameters: Mapping[str, Any]) -> Any:  # noqa: ANN401  # any result
        """Carry out the action.

        :param parameters: resolved and of the types that the action's spec declares.
        :return: the output, a JSON object; any JSON value where the spec wraps results.
        :raises ActionError: with what the action had produced.
        """
        raise NotImplementedError
