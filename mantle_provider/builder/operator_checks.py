"""Checks of ``airflow/operator`` steps, which need the operator's class and so Airflow.

Everything else about a file is checked without Airflow by :mod:`mantle_provider.rules`.
"""

from __future__ import annotations

import inspect
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypedDict

from airflow.sdk import BaseOperator
from airflow.sdk.bases.skipmixin import SkipMixin

from mantle_provider.actions.airflow import AIRFLOW_OPERATOR
from mantle_provider.check import check_text
from mantle_provider.diagnostics import Diagnostic, Report, render_text
from mantle_provider.diagnostics.wording import suggest
from mantle_provider.errors import ConfigurationError
from mantle_provider.expressions import has_template
from mantle_provider.operators.imports import import_name
from mantle_provider.source.document import SourceDocument
from mantle_provider.source.span import Span
from mantle_provider.workflow.decode import decode_workflow
from mantle_provider.workflow.model import HOOK_BLOCKS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mantle_provider.source.span import Part, Path
    from mantle_provider.workflow.model import JSONValue, Step, Workflow

_TRIGGER_DAG_RUN = "TriggerDagRunOperator"


class MergedWorkflow(TypedDict):
    """A workflow that other files add to, for a stub, which has none of them.

    :param value: the root mapping, whole.
    :param places: for each value below a step's ``params``, its path as JSON -> file, line, column
        and end, as in a :class:`~mantle_provider.source.span.Span`.
    """

    value: dict[str, Any]
    places: dict[str, tuple[str, list[int]]]


def operator_problems(name: str, text: str) -> str:
    """Return what is wrong with a valid workflow's operators as text, empty when nothing is.

    :param name: how diagnostics call the file.
    """
    result = check_text(text, name)
    found = check_operators(result.workflow) if result.workflow else []
    report = result.report.with_diagnostics(found)
    return render_text(report) if report.errors else ""


def merge_for_check(document: SourceDocument, workflow: Workflow) -> MergedWorkflow:
    """Return what :func:`merged_operator_problems` needs to know of a workflow."""
    places = {}
    for path, step in _steps(workflow):
        if step.action != AIRFLOW_OPERATOR.name:
            continue
        paths = [(*path, "params"), *((*path, "params", name) for name in step.params)]
        for place in paths:
            where, span = document.find(place)
            places[json.dumps(place)] = (where.name, [*span])
    return {"value": document.value, "places": places}


def merged_operator_problems(name: str, merged: MergedWorkflow) -> str:
    """Return the same as :func:`operator_problems`, without lines of the files."""
    workflow = decode_workflow(merged["value"]).workflow
    found = [_placed(item, merged) for item in check_operators(workflow)]
    report = Report(name).with_diagnostics(found)
    return render_text(report) if report.errors else ""


def _placed(item: Diagnostic, merged: MergedWorkflow) -> Diagnostic:
    path = item.path
    while path and json.dumps(path) not in merged["places"]:
        path = path[:-1]
    if not path:
        return item
    name, span = merged["places"][json.dumps(path)]
    return replace(item, span=Span(*span), document=SourceDocument(name, ""))


def check_operators(workflow: Workflow) -> list[Diagnostic]:
    """Return what is wrong with the steps of action ``airflow/operator``.

    Codes: ``unknown-operator``, ``refused-operator``, ``unknown-param``, ``missing-param`` and
    ``template-not-allowed``.
    """
    return [
        diagnostic
        for path, step in _steps(workflow)
        if step.action == AIRFLOW_OPERATOR.name
        for diagnostic in _check_step(step, (*path, "params"))
    ]


def _steps(workflow: Workflow) -> Iterator[tuple[Path, Step]]:
    for index, step in enumerate(workflow.before_start):
        yield ("before_start", index), step
    for index, step in enumerate(workflow.steps):
        yield ("steps", index), step
    for block in HOOK_BLOCKS:
        for index, step in enumerate(workflow.hooks.block(block)):
            yield ("hooks", block, index), step


def _check_step(step: Step, path: Path) -> Iterator[Diagnostic]:
    place = (*path, "operator")
    dotted = step.params["operator"]
    try:
        operator = import_name(dotted)
    except Exception as error:  # noqa: BLE001  # a user's module may raise anything when imported
        reason = (
            str(error)
            if isinstance(error, ConfigurationError)
            else (f'importing "{dotted}" failed with {type(error).__name__}: {error}')
        )
        yield _error("unknown-operator", reason, place)
        return
    if not (isinstance(operator, type) and issubclass(operator, BaseOperator)):
        yield _error("unknown-operator", f'"{dotted}" is no Airflow operator', place)
        return
    refusal = _refusal(operator, step)
    if refusal:
        message, hint = refusal
        yield _error("refused-operator", message, place, hint)
        return
    arguments = {name: value for name, value in step.params.items() if name != "operator"}
    yield from _check_arguments(operator, arguments, path)
    yield from _check_templates(operator, arguments, path)


def _refusal(operator: type[BaseOperator], step: Step) -> tuple[str, str] | None:
    """Return why an operator cannot be a step and what to use instead (DESIGN 2, AIRFLOW 22d)."""
    name = operator.__name__
    if issubclass(operator, SkipMixin) or getattr(operator, "_can_skip_downstream", False):
        return (
            f'operator "{name}" skips the tasks after it, which would skip hooks and turn failed '
            "runs green",
            "use the step key `if`",
        )
    if any(base.__name__ == _TRIGGER_DAG_RUN for base in operator.__mro__):
        return (
            f'operator "{name}" waits outside of its step, so that no timeout would hold',
            "use the action `workflow/run`",
        )
    if step.params.get("end_from_trigger"):
        return (
            f'operator "{name}" with `end_from_trigger` ends in the triggerer, where its output '
            "is not checked",
            "remove `end_from_trigger`",
        )
    return None


def _check_arguments(
    operator: type[BaseOperator], arguments: dict[str, Any], path: Path
) -> Iterator[Diagnostic]:
    """Compare the arguments with the operator's constructors, as far as these name theirs."""
    known, required = constructor_arguments(operator)
    for name in arguments:
        if name not in known:
            yield _error(
                "unknown-param",
                f'operator "{operator.__name__}" has no argument "{name}"'
                + suggest(name, sorted(known)),
                (*path, name),
                part="key",
            )
    for name in sorted(required - arguments.keys()):
        yield _error(
            "missing-param",
            f'operator "{operator.__name__}" requires the argument "{name}"',
            path,
        )


def constructor_arguments(operator: type[BaseOperator]) -> tuple[set[str], set[str]]:
    """Return the arguments an operator takes beyond BaseOperator's, and those it requires.

    A constructor with ``**kwargs`` passes the rest to the next class, up to BaseOperator.
    """
    known: set[str] = set()
    required: set[str] = set()
    for base in operator.__mro__:
        if base is BaseOperator:
            break
        constructor = base.__dict__.get("__init__")
        if constructor is None:
            continue
        parameters = inspect.signature(inspect.unwrap(constructor)).parameters.values()
        for parameter in list(parameters)[1:]:
            if parameter.kind in {parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL}:
                continue
            if parameter.default is parameter.empty and parameter.name not in known:
                required.add(parameter.name)
            known.add(parameter.name)
        if all(parameter.kind is not parameter.VAR_KEYWORD for parameter in parameters):
            break
    own = set(inspect.signature(inspect.unwrap(BaseOperator.__init__)).parameters)
    return known - own, required - own


def _check_templates(
    operator: type[BaseOperator], arguments: dict[str, Any], path: Path
) -> Iterator[Diagnostic]:
    """Expressions are resolved in template fields alone, as Airflow resolves Jinja."""
    fields = set(operator.template_fields)
    for name, value in arguments.items():
        if name in fields:
            continue
        for place in _templates(value, (*path, name)):
            allowed = ", ".join(f'"{field}"' for field in sorted(fields)) or "none"
            yield _error(
                "template-not-allowed",
                f'argument "{name}" of operator "{operator.__name__}" is no template field and '
                "cannot hold an expression",
                place,
                f"its template fields: {allowed}",
            )


def _templates(value: JSONValue, path: Path) -> Iterator[Path]:
    if isinstance(value, str) and has_template(value):
        yield path
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from _templates(item, (*path, index))
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _templates(item, (*path, key))


def _error(
    code: str, message: str, path: Path, hint: str | None = None, *, part: Part = "value"
) -> Diagnostic:
    return Diagnostic(code, message, path, part=part, hint=hint)
