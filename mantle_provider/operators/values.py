"""The values that a step's expressions read (LANGUAGE, "Values in expressions").

Everything that costs a call to the supervisor is loaded when an expression touches it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from airflow.sdk import Variable
from airflow.sdk.log import mask_secret

from mantle_provider import settings
from mantle_provider.lifecycle import EXECUTION_END_FIELDS
from mantle_provider.lifecycle.verdict import KILLED_REASON
from mantle_provider.operators.inputs import input_values
from mantle_provider.operators.masking import ENV_PREFIX
from mantle_provider.operators.run_reader import run_started_at

if TYPE_CHECKING:
    from airflow.sdk.definitions.context import Context

    from mantle_provider.lifecycle import WorkflowNodeState
    from mantle_provider.operators.run_reader import RunReader

_VARIABLE_PREFIX = "mantle_env_"


class LazyMap(Mapping[str, Any]):
    """A mapping whose values are loaded when first read, and then kept."""

    def __init__(self, loaders: Mapping[str, Callable[[], Any]]) -> None:
        self._loaders = loaders
        self._loaded: dict[str, Any] = {}

    def __getitem__(self, key: str) -> Any:  # noqa: ANN401  # any JSON value
        if key not in self._loaded:
            self._loaded[key] = self._loaders[key]()
        return self._loaded[key]

    def __contains__(self, key: object) -> bool:
        return key in self._loaders

    def __iter__(self) -> Iterator[str]:
        return iter(self._loaders)

    def __len__(self) -> int:
        return len(self._loaders)


class EnvironmentValues(Mapping[str, str]):
    """``env.X``: variables ``MANTLE_ENV_X`` of the process, then what the environment's file says.

    Then, if enabled, Airflow Variables. Every value is masked in logs and rendered fields before
    it is given out.

    :param given: what the file of the named environment says.
    """

    def __init__(self, given: Mapping[str, str]) -> None:
        self._given = given

    def __getitem__(self, name: str) -> str:
        value = os.environ.get(ENV_PREFIX + name, self._given.get(name))
        if value is None and settings.env_from_variables():
            value = Variable.get(_VARIABLE_PREFIX + name, default=None)
        if value is None:
            raise KeyError(name)
        mask_secret(value)
        return str(value)

    def __iter__(self) -> Iterator[str]:
        of_process = [name for name in os.environ if name.startswith(ENV_PREFIX)]
        names = (name.removeprefix(ENV_PREFIX) for name in of_process)
        return iter(dict.fromkeys([*names, *self._given]))

    def __len__(self) -> int:
        return sum(1 for _ in self)


def expression_values(
    context: Context,
    reader: RunReader,
    step: Mapping[str, Any],
    workflow: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the roots that a step's expressions may name.

    :param step: the step's plan data; hooks see ``hooks`` and all of ``execution``.
    :param workflow: the data that all tasks of the Dag share.
    """
    is_hook = step["block"] != "steps"
    inputs = input_values(workflow["inputs"], context["dag_run"].conf)
    return {
        "inputs": inputs,
        "trigger": inputs["trigger"],
        "env": EnvironmentValues(workflow.get("env", {})),
        "artifacts": LazyMap(
            {
                name: partial(reader.artifact, task_id, name)
                for name, task_id in workflow["artifacts"].items()
            }
        ),
        "steps": LazyMap(
            {node.name: partial(_step_value, reader, node.name) for node in reader.graph.nodes}
        ),
        "hooks": _hook_values(reader, step) if is_hook else {},
        "execution": _execution(context, reader, step, workflow),
    }


def _step_value(reader: RunReader, name: str) -> LazyMap:
    return LazyMap(
        {
            "output": partial(reader.output, name),
            "error": partial(error_text, reader, name),
            "status": lambda: reader.node_state(name).status.value,
            "failure": lambda: _failure(reader.node_state(name)),
        }
    )


def error_text(reader: RunReader, task_id: str) -> str | None:
    """Return why a task failed, in words, or ``None`` unless its state is failed."""
    if reader.state(task_id) != "failed":
        return None
    record = reader.record(task_id)
    return record.message if record else KILLED_REASON


def _failure(node: WorkflowNodeState) -> dict[str, Any] | None:
    if node.effect is None:
        return None
    cause = node.failure_cause
    return {
        "name": node.node_id,
        "status": node.status.value,
        "effect": node.effect,
        "error": cause.message if cause else node.reason,
        "type": cause.type if cause else None,
        "phase": cause.phase if cause else None,
        "at": cause.at if cause else None,
    }


def _hook_values(reader: RunReader, step: Mapping[str, Any]) -> LazyMap:
    """``hooks['name']`` of the hooks before this one; of two with one name the later that ran."""
    task_ids: dict[str, str] = {}
    for block, name in step["hooks_before"]:
        task_id = f"{block}.{name}"
        if name not in task_ids or _has_run(reader, task_id):
            task_ids[name] = task_id
    return LazyMap({name: partial(_hook_value, reader, task_ids[name]) for name in task_ids})


def _has_run(reader: RunReader, task_id: str) -> bool:
    return reader.state(task_id) in {"success", "failed"} and not reader.is_outdated(task_id)


def _hook_value(reader: RunReader, task_id: str) -> Mapping[str, Any]:
    if reader.is_outdated(task_id):
        return {"output": None, "error": None}
    return LazyMap(
        {
            "output": partial(reader.output, task_id),
            "error": partial(error_text, reader, task_id),
        }
    )


def _execution(
    context: Context, reader: RunReader, step: Mapping[str, Any], workflow: Mapping[str, Any]
) -> LazyMap:
    run = context["dag_run"]
    loaders: dict[str, Callable[[], Any]] = {
        "id": lambda: run.run_id,
        "workflow_name": lambda: run.dag_id,
        "workflow_version": lambda: workflow["version"],
        "started_at": lambda: run.start_date,
    }
    if step["block"] != "steps":
        end = LazyMap({"values": partial(_execution_end, context, reader, step)})
        for name in EXECUTION_END_FIELDS:
            loaders[name] = partial(lambda key: end["values"][key], name)
    return LazyMap(loaders)


def _execution_end(context: Context, reader: RunReader, step: Mapping[str, Any]) -> dict[str, Any]:
    """How the main steps ended, and which hooks before this one failed.

    With failed main steps, ``failed_step`` and ``error`` stay theirs and ``failed_in`` names the
    latest failed block; with completed ones all three name the latest failed hook.
    """
    state = reader.workflow_state()
    failed_hooks = [
        (block, name)
        for block, name in step["hooks_before"]
        if reader.state(f"{block}.{name}") == "failed" and not reader.is_outdated(f"{block}.{name}")
    ]
    block, hook = failed_hooks[-1] if failed_hooks else (None, None)
    values: dict[str, Any] = {
        "status": state.status if state else "failed",
        "duration_ms": _duration_ms(context, reader),
        "error": state.error if state else "outcome lost",
        "failed_step": state.failed_step if state else None,
        "failed_in": block or "steps",
        "failed_steps": list(state.failed_steps) if state else [],
        "failed_hooks": [name for _, name in failed_hooks],
    }
    if state and state.is_succeeded:
        error = error_text(reader, f"{block}.{hook}") if hook else None
        values |= {"error": error, "failed_step": hook, "failed_in": block}
    return values


def _duration_ms(context: Context, reader: RunReader) -> int | None:
    """Milliseconds from the run's start to the outcome's verdict."""
    judged_at = reader.judged_at()
    if judged_at is None:
        return None
    return max(0, round((judged_at - run_started_at(context)) * 1000))
