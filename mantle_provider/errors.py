"""Every exception this package raises.

::

    MantleError
    ├── InvalidWorkflowError     an invalid workflow where a valid one is required
    ├── WorkflowError            a step failed while it ran, with the phase it failed in
    ├── ExpressionError          an expression could not be compiled or evaluated
    ├── ActionError              an action failed; may carry what it had produced
    ├── ResultNotCompletedError  a workflow's result was asked for, but its step did not complete
    └── ConfigurationError       a wrong setting, or a missing package or connection

A mistake in a user's file is never raised while it is being checked: it is a
:class:`~mantle_provider.diagnostics.Diagnostic` in a report.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


class MantleError(Exception):
    """Base of every exception this package raises."""


class InvalidWorkflowError(MantleError):
    """An invalid workflow was given where a valid one is required.

    :param text: the rendered diagnostics, as ``mantle validate`` prints them.
    """

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


class WorkflowError(MantleError):
    """A step failed while it ran; ``str()`` is the message alone.

    What does not apply is ``None``.

    :param phase: the phase of the attempt that failed, a
        :class:`~mantle_provider.lifecycle.Phase` value.
    :param node_id: the step.
    :param edge_id: the edge, for failures of routing.
    :param field: dotted path of the parameter that failed, for example ``body.items[0]``.
    :param expression: the expression that failed, as written.
    :param type: what kind of failure it is, for example ``StepTimeout``; by default the class.
    :param retryable: false when another attempt cannot succeed.
    :ivar suppressed: the failure that was being answered when this one came in its place, as when
        an error handler fails itself.
    """

    def __init__(  # noqa: PLR0913  # one argument for each field of an error record
        self,
        message: str,
        *,
        phase: str,
        node_id: str | None = None,
        edge_id: str | None = None,
        field: str | None = None,
        expression: str | None = None,
        type: str | None = None,  # noqa: A002  # the record's own name for it
        retryable: bool = True,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.phase = phase
        self.type = type
        self.retryable = retryable
        self.node_id = node_id
        self.edge_id = edge_id
        self.field = field
        self.expression = expression
        self.suppressed: BaseException | None = None

    def diagnostic(self) -> str:
        """Return all that is known of the failure as one line, for people; its form may change.

        The phase, the coordinates that apply, the message, and every distinct cause. Texts stand
        in it as they are: mask them before they leave the process.
        """
        places = {
            "step": self.node_id,
            "edge": self.edge_id,
            "field": self.field,
            "expression": self.expression,
        }
        known = [f"{name} {_one_line(text)}" for name, text in places.items() if text is not None]
        text = f"{self.phase}{' at ' if known else ''}{', '.join(known)}: {_line_of(self)}"
        causes = (f"{type(cause).__name__}: {_line_of(cause)}" for cause in causes_of(self))
        return "; ".join([text, *(f"caused by {cause}" for cause in dict.fromkeys(causes))])


class ExpressionError(MantleError):
    """An expression could not be compiled, or failed while it was evaluated.

    The message never holds a value from the context, since that may be a secret.

    :param message: what is wrong, without position.
    :param stage: ``compile`` (the text alone is wrong) or ``eval`` (this context does not fit).
    :param expression: the expression's text, without template braces.
    :param line: line in the compiled text, from 1.
    :param column: column in that line, in code points, from 1.
    """

    def __init__(
        self,
        message: str,
        *,
        stage: Literal["compile", "eval"],
        expression: str,
        line: int = 1,
        column: int = 1,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.stage = stage
        self.expression = expression
        self.line = line
        self.column = column


class ActionError(MantleError):
    """An action says that it failed; a user's function may raise it as well.

    Any other exception is one that the action did not foresee, and error handlers see it as such.

    :param action: ``family/verb``, where the one who raises knows it.
    :param result: what the action had produced before it failed, a JSON object; readable by later
        steps as the step's output.
    :param retryable: false when another attempt cannot succeed; ``retry`` then grants none, but
        an ``on_error`` rule or an error handler still may.
    """

    def __init__(
        self,
        message: str,
        *,
        action: str | None = None,
        result: Mapping[str, Any] | None = None,
        retryable: bool = True,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.action = action
        self.result = result
        self.retryable = retryable


class ResultNotCompletedError(MantleError):
    """A workflow's result was asked for, but the step that gives it did not complete.

    :param step: the step named by the workflow's ``result``, ``None`` when it names none.
    :param status: that step's :class:`~mantle_provider.lifecycle.NodeStatus` value.
    :param reason: why there is none, where it is not for the step.
    """

    def __init__(self, step: str | None, status: str | None, *, reason: str | None = None) -> None:
        if reason is not None:
            message = f"the workflow has no result: {reason}"
        elif step is None:
            message = 'the workflow has no result: it has no key "result"'
        else:
            message = f'the workflow has no result: step "{step}" is {status or "unknown"}'
        super().__init__(message)
        self.step = step
        self.status = status


class ConfigurationError(MantleError):
    """A setting is wrong, or a package or connection that a step needs is missing."""


def text_of(error: BaseException) -> str:
    """Return an exception's own text, also where its class is not able to give one."""
    try:
        return str(error)
    except Exception as broken:  # noqa: BLE001  # a user's class may raise anything
        return f"no text can be had ({type(broken).__name__})"


def causes_of(error: BaseException) -> Iterator[BaseException]:
    """Walk what is behind an exception, nearest first, each once.

    First its own chain of causes, then what it suppresses, with the chain of that. A chain may be
    long, or closed into a ring.
    """
    seen = {id(error)}
    suppressed = error.suppressed if isinstance(error, WorkflowError) else None
    for start in (_cause(error), suppressed):
        cause = start
        while cause is not None and id(cause) not in seen:
            seen.add(id(cause))
            yield cause
            cause = _cause(cause)


def _cause(error: BaseException) -> BaseException | None:
    return error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def _line_of(error: BaseException) -> str:
    return _one_line(text_of(error))


def _one_line(text: str) -> str:
    return " ".join(text.split())
