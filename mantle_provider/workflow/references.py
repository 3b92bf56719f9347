"""Where a workflow holds expressions, and which steps they make a step depend on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from mantle_provider.expressions import (
    WORKFLOW_VARIABLES,
    compile_expression,
    compile_template,
    has_template,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from mantle_provider.expressions import Program
    from mantle_provider.source.span import Path
    from mantle_provider.workflow.model import Step, Workflow

Role: TypeAlias = Literal["params", "if", "for_each", "when", "on_error", "outputs"]
"""The part of a step that an expression belongs to; it decides which names are in scope."""

Names: TypeAlias = "dict[str, frozenset[str]]"
"""Variable -> the names below it that may stand after a dot although they hold hyphens."""

_VARIABLES = frozenset(WORKFLOW_VARIABLES)
_VARIABLES_OF_ROLE: dict[Role, frozenset[str]] = {
    "on_error": _VARIABLES | {"error"},
    "outputs": _VARIABLES | {"output"},
}


@dataclass(frozen=True, slots=True)
class ExpressionSite:
    """One string of a step that holds CEL.

    :param path: from the step on.
    :param is_template: text with ``{{ CEL }}`` in it; else bare CEL.
    """

    path: Path
    text: str
    role: Role
    is_template: bool = False


def iterate_expressions(step: Step) -> Iterator[ExpressionSite]:
    """Yield every expression of a step, in the order of the reference."""
    yield from _templates(step.params, ("params",))
    for index, case in enumerate(step.switch):
        if case.when is not None:
            yield ExpressionSite(("switch", index, "when"), case.when, "when")
    if step.for_each is not None:
        yield ExpressionSite(("for_each",), step.for_each, "for_each")
    if step.condition is not None:
        yield ExpressionSite(("if",), step.condition, "if")
    for index, rule in enumerate(step.on_error):
        if rule.when is not None:
            yield ExpressionSite(("on_error", index, "when"), rule.when, "on_error")
    if step.outputs is not None:
        for name, text in step.outputs.map.items():
            yield ExpressionSite(("outputs", "map", name), text, "outputs")


def _templates(value: Any, path: Path) -> Iterator[ExpressionSite]:  # noqa: ANN401  # any JSON value
    if isinstance(value, str):
        if has_template(value):
            yield ExpressionSite(path, value, "params", is_template=True)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _templates(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _templates(item, (*path, index))


def compile_site(site: ExpressionSite, step: Step, names: Names) -> Program:
    """Compile an expression with the variables that its place has.

    :param names: from :func:`declared_names`.
    :raises ExpressionError: the expression is wrong.
    """
    variables = _VARIABLES_OF_ROLE.get(site.role, _VARIABLES)
    if step.for_each is not None and site.role != "for_each":
        variables |= {"item", "index"}
    compile_text = compile_template if site.is_template else compile_expression
    return compile_text(site.text, variables, names=names)


def declared_names(workflow: Workflow) -> Names:
    """Return the names that expressions may write with a dot although they hold hyphens."""
    main_steps = (*workflow.before_start, *workflow.steps)
    hook_steps = _hook_steps(workflow)
    artifacts = [artifact for step in (*main_steps, *hook_steps) for artifact in step.artifacts]
    return hyphenated(
        steps=(step.name for step in main_steps),
        hooks=(step.name for step in hook_steps),
        artifacts=(artifact.name for artifact in artifacts),
    )


def _hook_steps(workflow: Workflow) -> tuple[Step, ...]:
    hooks = workflow.hooks
    return (*hooks.on_success, *hooks.on_failure, *hooks.on_finish)


def read_environment(workflow: Workflow) -> dict[str, str]:
    """Return those values of the named environment that the workflow's expressions may read.

    All of them where an expression computes a name, as in ``env[inputs.which]``.
    """
    if not workflow.env:
        return {}
    names = declared_names(workflow)
    read: set[str] = set()
    for step in (*workflow.before_start, *workflow.steps, *_hook_steps(workflow)):
        for site in iterate_expressions(step):
            for reference in compile_site(site, step, names).references:
                if reference.root != "env":
                    continue
                name = reference.path[0] if reference.path else None
                if not isinstance(name, str):
                    return dict(workflow.env)
                read.add(name)
    return {name: value for name, value in workflow.env.items() if name in read}


def hyphenated(**names: Iterable[str]) -> Names:
    """Return the names with hyphens; the others need no declaration, and would split a cache."""
    return {root: frozenset(name for name in below if "-" in name) for root, below in names.items()}


def step_dependencies(workflow: Workflow) -> dict[str, tuple[str, ...]]:
    """Return what each main step waits for: ``depends_on`` first, then what expressions read.

    In the order of the file, each once; an artifact is read of the step that leaves it behind. A
    computed name, as in ``steps[inputs.which]``, adds nothing: such an expression reads what the
    declared dependencies cover.

    :param workflow: a valid one; in another, names that do not exist are left out.
    """
    names = declared_names(workflow)
    known = {step.name for step in workflow.steps}
    makers = {artifact.name: step.name for step in workflow.steps for artifact in step.artifacts}
    result = {}
    for step in workflow.steps:
        found = [*step.depends_on]
        for site in iterate_expressions(step):
            found += _steps_read(compile_site(site, step, names), makers)
        wanted = [name for name in found if name in known and name != step.name]
        result[step.name] = tuple(dict.fromkeys(wanted))
    return result


def _steps_read(program: Program, makers: Mapping[str, str]) -> Iterator[str]:
    for reference in program.references:
        name = reference.path[0] if reference.path else None
        if not isinstance(name, str):
            continue
        if reference.root == "steps":
            yield name
        elif reference.root == "artifacts" and name in makers:
            yield makers[name]
