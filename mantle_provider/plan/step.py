"""One step as a task: what it does, its attempts, and what the step runtime must know."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from mantle_provider.actions import ACTIONS
from mantle_provider.actions.airflow import AIRFLOW_OPERATOR
from mantle_provider.actions.switch import SWITCH
from mantle_provider.expressions import rewrite_dotted_names
from mantle_provider.lifecycle import MAX_HANDLER_RETRIES
from mantle_provider.plan.model import EMPTY_OPERATOR, Rule, TaskPlan

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from datetime import timedelta

    from mantle_provider.workflow.model import (
        AirflowOptions,
        ErrorRule,
        HookBlock,
        Retry,
        Step,
        StepAirflowOptions,
    )

Block: TypeAlias = "Literal['steps'] | HookBlock"

BACKSTOP_SECONDS = 60.0
"""How long after a step's ``timeout`` Airflow's own ``execution_timeout`` strikes.

The step runtime keeps the exact time; Airflow's signal may interrupt a supervisor call and shift
its channel (AIRFLOW.md 22e), so it is a backstop only.
"""


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a task stands in the Dag and when it may run, whatever it does.

    :param upstream: task ids, in the order of the plan.
    :param step: ``None`` for a task without work of its own.
    :param is_gated: whether the step decides at its start, by the graph, if it may run.
    :param hooks_before: hook steps that can have run before, as (block, name) in their order.
    """

    task_id: str
    upstream: tuple[str, ...]
    trigger_rule: Rule
    block: Block
    step: Step | None = None
    is_gated: bool = False
    hooks_before: tuple[tuple[HookBlock, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Scope:
    """What every task of a workflow shares.

    :param names: root -> the declared names below it, for the dotted form of expressions.
    :param airflow: BaseOperator arguments that a step may override.
    :param has_handler: whether an error handler may ask for more attempts.
    """

    names: Mapping[str, Collection[str]]
    airflow: Mapping[str, Any] = field(default_factory=dict)
    has_handler: bool = False


def plan_task(place: Placement, scope: Scope) -> TaskPlan:
    """Return the task that stands at ``place``."""
    step = place.step
    if step is None:
        return TaskPlan(
            task_id=place.task_id,
            operator=EMPTY_OPERATOR,
            upstream=place.upstream,
            trigger_rule=place.trigger_rule,
            group=place.block,
            airflow=scope.airflow,
        )
    operator, arguments = _work(step, scope)
    return TaskPlan(
        task_id=place.task_id,
        operator=operator,
        upstream=place.upstream,
        trigger_rule=place.trigger_rule,
        group=place.block,
        arguments=arguments,
        step=step_data(place, step, scope),
        retries=_retries(step, scope),
        retry_delay_seconds=step.retry.delay.total_seconds() if step.retry else 1.0,
        execution_timeout_seconds=(
            step.timeout.total_seconds() + BACKSTOP_SECONDS if step.timeout else None
        ),
        airflow={**scope.airflow, **_airflow_arguments(step)},
    )


def step_data(place: Placement, step: Step, scope: Scope) -> dict[str, Any]:
    """Return what the step runtime needs beyond the operator's own arguments, as JSON data.

    Always ``name``, ``block`` (``steps`` or a hook block), ``action`` (null for a router),
    ``condition`` (CEL or null), ``is_gated``, ``credential``, ``timeout_seconds``, ``retry`` (null
    or a map of ``max_attempts``, ``backoff``, ``delay_seconds``, ``max_delay_seconds``) and
    ``continue_on_error``; for hook steps also ``hooks_before``, a list of ``[block, name]``.

    Where the step has it: ``on_error``, a list of maps of ``when`` (CEL or null) and one of
    ``fail``, ``retry`` and ``transition_to``; ``outputs``, a map of ``required`` and ``map``;
    ``switch``, a list of maps of ``when`` (null for the last way out) and ``to``; ``artifacts``, a
    list of maps of ``path``, ``name`` and ``keep``; ``on_finish``, a dotted path.
    """
    data: dict[str, Any] = {
        "name": step.name,
        "block": place.block,
        "action": step.action,
        "condition": _bare(step.condition, scope),
        "is_gated": place.is_gated,
        "credential": step.credential,
        "timeout_seconds": seconds(step.timeout),
        "retry": _retry_data(step.retry),
        "continue_on_error": step.continue_on_error,
    }
    if place.block != "steps":
        data["hooks_before"] = [[block, name] for block, name in place.hooks_before]
    if step.on_error:
        data["on_error"] = [_rule_data(rule, scope) for rule in step.on_error]
    if step.outputs and (step.outputs.required or step.outputs.map):
        data["outputs"] = {
            "required": list(step.outputs.required),
            "map": {name: _bare(text, scope) for name, text in step.outputs.map.items()},
        }
    if step.switch:
        data["switch"] = [{"when": _bare(case.when, scope), "to": case.to} for case in step.switch]
    if step.artifacts:
        data["artifacts"] = [asdict(artifact) for artifact in step.artifacts]
    if step.on_finish_callback:
        data["on_finish"] = step.on_finish_callback
    return data


def _retries(step: Step, scope: Scope) -> int:
    """Return how often Airflow may repeat the step at most; the step runtime grants each one.

    Mantle counts the first attempt, Airflow only those after it.
    """
    granted = [step.retry, *(rule.retry for rule in step.on_error)]
    repeats = sum(retry.max_attempts - 1 for retry in granted if retry)
    return repeats + (MAX_HANDLER_RETRIES if scope.has_handler else 0)


def _retry_data(retry: Retry | None) -> dict[str, Any] | None:
    if retry is None:
        return None
    return {
        "max_attempts": retry.max_attempts,
        "backoff": retry.backoff,
        "delay_seconds": retry.delay.total_seconds(),
        "max_delay_seconds": seconds(retry.max_delay),
    }


def _rule_data(rule: ErrorRule, scope: Scope) -> dict[str, Any]:
    data: dict[str, Any] = {"when": _bare(rule.when, scope)}
    if rule.retry:
        data["retry"] = _retry_data(rule.retry)
    elif rule.transition_to:
        data["transition_to"] = rule.transition_to
    else:
        data["fail"] = True
    return data


def seconds(duration: timedelta | None) -> float | None:
    """Return a duration in seconds, ``None`` for none."""
    return None if duration is None else duration.total_seconds()


def _work(step: Step, scope: Scope) -> tuple[str, dict[str, Any]]:
    """Return the operator's dotted path and its arguments."""
    if step.action is None:
        return SWITCH.operator, {"parameters": {}}
    parameters = {key: _rewritten(value, scope) for key, value in step.params.items()}
    if step.action == AIRFLOW_OPERATOR.name:
        return parameters.pop("operator"), parameters
    return ACTIONS[step.action].operator, {"parameters": parameters}


def shared_arguments(options: AirflowOptions | StepAirflowOptions) -> dict[str, Any]:
    """Return the BaseOperator arguments that a workflow and a step can both ask for."""
    names = ("pool", "queue", "priority_weight", "executor")
    return {name: value for name in names if (value := getattr(options, name)) is not None}


def _airflow_arguments(step: Step) -> dict[str, Any]:
    arguments = shared_arguments(step.airflow)
    if step.airflow.executor_config:
        arguments["executor_config"] = dict(step.airflow.executor_config)
    if step.max_parallel is not None:
        arguments["max_active_tis_per_dag"] = step.max_parallel
    return arguments


def _bare(text: str | None, scope: Scope) -> str | None:
    """Return bare CEL in the form that needs no step names at run time."""
    return None if text is None else rewrite_dotted_names(text, scope.names, template=False)


def _rewritten(value: Any, scope: Scope) -> Any:  # noqa: ANN401  # any JSON value
    """Return a copy of a parameter's value with its expressions rewritten."""
    if isinstance(value, str):
        return rewrite_dotted_names(value, scope.names, template=True) if "{{" in value else value
    if isinstance(value, dict):
        return {key: _rewritten(item, scope) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_rewritten(item, scope) for item in value]
    return value
