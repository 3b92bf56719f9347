"""Asking an expression for a yes or a no."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mantle_provider.errors import ExpressionError, WorkflowError
from mantle_provider.expressions import compile_expression
from mantle_provider.operators.parameters import type_name

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping


def holds(
    condition: str,
    values: Mapping[str, Any],
    subject: str,
    *,
    variables: Collection[str] | None = None,
    **place: Any,  # noqa: ANN401  # arguments of WorkflowError
) -> bool:
    """Return whether a condition is true.

    :param subject: how the error names it, for example ``"`if`"``.
    :param variables: the names it may use, by default those of a workflow.
    :param place: what the error says of phase and place.
    :raises WorkflowError: it cannot be evaluated, or yields neither true nor false.
    """
    try:
        answer = compile_expression(condition, variables).evaluate(values)
    except ExpressionError as error:
        raise WorkflowError(
            f"cannot evaluate {subject}: {error.message}", type=type(error).__name__, **place
        ) from error
    if not isinstance(answer, bool):
        raise WorkflowError(
            f"{subject} must yield true or false, but yields a {type_name(answer)}", **place
        )
    return answer
