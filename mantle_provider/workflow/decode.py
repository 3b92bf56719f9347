"""Plain values to the model, collecting what is wrong on the way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from mantle_provider.workflow.decoding import Decoding
from mantle_provider.workflow.keys import WORKFLOW
from mantle_provider.workflow.model import (
    HOOK_BLOCKS,
    AirflowOptions,
    Artifact,
    CronTrigger,
    EmailTrigger,
    ErrorHandler,
    ErrorRule,
    HookBlock,
    Input,
    LifecycleHooks,
    Outputs,
    Retry,
    Step,
    StepAirflowOptions,
    SwitchCase,
    WebhookTrigger,
    Workflow,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from mantle_provider.diagnostics.diagnostic import Diagnostic
    from mantle_provider.source.span import Path

StepList: TypeAlias = HookBlock | Literal["before_start", "steps"]


@dataclass(frozen=True, slots=True)
class PlacedStep:
    """A step with its place in the file.

    :param step: ``None`` when the step could not be decoded.
    :param name: also known for most steps that could not be decoded, and then counts as defined.
    :param section: the list that the step stands in.
    """

    step: Step | None
    name: str | None
    path: Path
    section: StepList

    @property
    def is_hook(self) -> bool:
        """Whether the step belongs to a lifecycle block."""
        return self.section in HOOK_BLOCKS


@dataclass(frozen=True, slots=True)
class Draft:
    """What decoding gave, whether or not the file is valid.

    :param workflow: what could be decoded; absent keys and wrong values are defaults.
    :param steps: every step of the file: ``before_start``, main steps, hooks by block.
    :param value: the root mapping as it was read.
    :param planned: paths of the keys that this version does not support yet.
    :param built: every block that could be decoded, by its path.
    """

    workflow: Workflow
    steps: tuple[PlacedStep, ...]
    value: dict[str, Any]
    diagnostics: tuple[Diagnostic, ...]
    planned: tuple[Path, ...]
    built: dict[Path, Any]


def decode_workflow(value: dict[str, Any]) -> Draft:
    """Decode the root mapping of a document; every mistake becomes a diagnostic."""
    decoding = Decoding(_BUILDERS)
    values = decoding.read_keys(WORKFLOW, value, ())
    steps = tuple(
        PlacedStep(decoding.built.get((*path, index)), _name_of(item), (*path, index), section)
        for section, path, items in _step_lists(value)
        for index, item in enumerate(items)
    )
    return Draft(
        Workflow(**_renamed({"name": "", "steps": (), **values})),
        steps,
        value,
        tuple(decoding.diagnostics),
        tuple(decoding.planned),
        decoding.built,
    )


def _step_lists(value: dict[str, Any]) -> list[tuple[StepList, Path, list[Any]]]:
    hooks = value.get("hooks")
    lists: list[tuple[StepList, Path, Any]] = [
        ("before_start", ("before_start",), value.get("before_start")),
        ("steps", ("steps",), value.get("steps")),
    ]
    if isinstance(hooks, dict):
        lists += [(block, ("hooks", block), hooks.get(block)) for block in HOOK_BLOCKS]
    return [(section, path, items) for section, path, items in lists if isinstance(items, list)]


def _name_of(item: object) -> str | None:
    name = item.get("name") if isinstance(item, dict) else None
    return name if isinstance(name, str) else None


_FIELDS = {
    "callbacks": "on_finish_callback",
    "class": "class_path",
    "if": "condition",
}
"""Keys whose field in the model has another name."""


def _renamed(values: dict[str, Any]) -> dict[str, Any]:
    if "inputs" in values:
        values["inputs"] = tuple(values["inputs"].values())
    return {_FIELDS.get(key, key): value for key, value in values.items()}


def _plain(model: type) -> Callable[[dict[str, Any], Path], Any]:
    """Return a builder for a class whose fields are the block's keys."""
    return lambda values, _: model(**_renamed(values))


def _start_event(model: type) -> Callable[[dict[str, Any], Path], Any]:
    def build(values: dict[str, Any], _: Path) -> Any:  # noqa: ANN401  # one of the start events
        return model(**{key: value for key, value in values.items() if key != "type"})

    return build


def _build_input(values: dict[str, Any], path: Path) -> Input:
    return Input(name=str(path[-1]), **values)


def _build_retry(values: dict[str, Any], _: Path) -> Retry:
    if "retries" in values:
        values = {**values, "max_attempts": values["retries"] + 1}
        del values["retries"]
    return Retry(**values)


def _build_case(values: dict[str, Any], _: Path) -> SwitchCase:
    return SwitchCase(to=values.get("to") or values["else"], when=values.get("when"))


_BUILDERS: dict[str, Callable[[dict[str, Any], Path], Any]] = {
    "airflow options": _plain(AirflowOptions),
    "airflow options of a step": _plain(StepAirflowOptions),
    "artifact": _plain(Artifact),
    "callbacks": lambda values, _: values.get("on_finish"),
    "cron trigger": _start_event(CronTrigger),
    "else case": _build_case,
    "email trigger": _start_event(EmailTrigger),
    "error handler": _plain(ErrorHandler),
    "error retry": _build_retry,
    "error rule": _plain(ErrorRule),
    "hooks": _plain(LifecycleHooks),
    "input": _build_input,
    "outputs": _plain(Outputs),
    "retry": _build_retry,
    "step": _plain(Step),
    "switch case": _build_case,
    "webhook trigger": _start_event(WebhookTrigger),
}
