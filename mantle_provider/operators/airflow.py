"""Any Airflow operator as a step: its own class with the step runtime mixed in."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from mantle_provider.operators.base import StepMixin

if TYPE_CHECKING:
    from collections.abc import Mapping

    from airflow.sdk import BaseOperator
    from airflow.sdk.definitions.context import Context


class ForeignStepMixin(StepMixin):
    """The step runtime over an operator that is not ours.

    Fields that the workflow gives are resolved as CEL; the others keep what their operator put
    there, Jinja included.

    :param mantle_step: as for :class:`StepMixin`; ``arguments`` names what the workflow gives.
    """

    # Airflow: a step that starts in the triggerer would pass by its gate, `if` and record.
    start_from_trigger = False

    def __init__(self, *, mantle_step: Mapping[str, Any], **kwargs: Any) -> None:  # noqa: ANN401  # the operator's own arguments
        super().__init__(mantle_step=mantle_step, **kwargs)
        self.start_from_trigger = False

    def render_template_fields(self, context: Context, jinja_env: Any = None) -> None:  # noqa: ANN401  # Airflow's signature
        """Resolve the workflow's expressions, then let Jinja have the operator's own fields."""
        super().render_template_fields(context, jinja_env)
        own = [name for name in self.template_fields if name not in self.mantle_step["arguments"]]
        if own:
            environment = jinja_env or self.get_template_env()
            self._do_render_template_fields(self, own, context, environment, set())

    def _resolve_fields(self, context: Context) -> None:  # noqa: ARG002  # the attempt has it
        for name in self.mantle_step["arguments"]:
            if name in self.template_fields:
                setattr(self, name, self._attempt.resolve(getattr(self, name), name))

    def _act(self, context: Context) -> Any:  # noqa: ANN401  # the operator decides
        return super(StepMixin, self).execute(context)


@cache
def step_class(operator_class: type[BaseOperator]) -> type[BaseOperator]:
    """Return the operator's class with the step runtime mixed in, under its own name."""

    class Step(ForeignStepMixin, operator_class):  # type: ignore[misc, valid-type]  # made at run time
        # Airflow prepares the constructor of a class only where the class has its own.
        def __init__(self, **kwargs: Any) -> None:  # noqa: ANN401  # the operator's own arguments
            super().__init__(**kwargs)

    for name in ("__name__", "__qualname__", "__module__", "__doc__"):
        setattr(Step, name, getattr(operator_class, name))
    return Step
