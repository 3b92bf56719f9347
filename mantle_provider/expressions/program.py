"""Compile a text once, evaluate it often: the joiner of all parts of this package."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from mantle_provider.errors import ExpressionError
from mantle_provider.expressions import dotted_names
from mantle_provider.expressions.budgets import CACHED_TEXTS, MAX_EXPRESSION_LENGTH
from mantle_provider.expressions.faults import BudgetError, CompileError, EvaluationError, Span
from mantle_provider.expressions.frame import Frame
from mantle_provider.expressions.templates import Hole, is_lone, split_template
from mantle_provider.expressions.text import text_of
from mantle_provider.expressions.tokens import Source
from mantle_provider.expressions.types import STRING, WORKFLOW_TYPES
from mantle_provider.expressions.values import export

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from mantle_provider.expressions.code import Code, Names
    from mantle_provider.expressions.references import Reference

WORKFLOW_VARIABLES = tuple(WORKFLOW_TYPES)


class Program:
    """A compiled expression or template; immutable, so threads may share it.

    :ivar text: the text it was compiled from.
    :ivar references: what it reads from its context, by position.
    :ivar result_type: the name of its static type, for example ``bool``, ``list`` or
        ``timestamp``; ``dyn`` when only the context can tell. A template that is not one lone
        expression is a ``string``.
    """

    __slots__ = ("_expression", "_parts", "references", "result_type", "text")

    def __init__(self, text: str, parts: Sequence[str | _Expression], *, is_lone: bool) -> None:
        expressions = [part for part in parts if isinstance(part, _Expression)]
        lone = expressions[0] if is_lone else None
        self.text = text
        self.references = tuple(found for part in expressions for found in part.references)
        self.result_type = STRING.name if lone is None else lone.code.type.name
        self._parts = tuple(parts)
        self._expression = lone

    def __repr__(self) -> str:
        return f"<Program {self.text!r}>"

    def evaluate(self, context: Mapping[str, Any]) -> Any:  # noqa: ANN401  # what the text says
        """Return the value for a context.

        :param context: values by the name of their root; only those that are read are looked
            at, so values may be mappings that load themselves.
        :return: bool, int, float, str, bytes, list, dict, None, datetime or timedelta, at every
            depth; nothing mutable is shared with the context.
        :raises ExpressionError: with ``stage`` ``eval``; no value of the context is in its text.
        """
        if self._expression is not None:
            return self._expression.run(context, export)
        return "".join(
            part if isinstance(part, str) else part.run(context, text_of) for part in self._parts
        )

    def _evaluate_cel(self, context: Mapping[str, Any]) -> Any:  # noqa: ANN401  # any value
        """Return the value of a lone expression as CEL has it, for tests of CEL's types."""
        if self._expression is None:
            return self.evaluate(context)
        return self._expression.run(context, lambda value: value)


@dataclass(frozen=True, slots=True)
class _Expression:
    """One expression of a program, and where it stands in the program's text.

    :param origin: line and column of its first character.
    """

    text: str
    span: Span
    origin: tuple[int, int]
    code: Code

    @property
    def references(self) -> Iterator[Reference]:
        """What it reads, by its position in the program's text."""
        for found in self.code.references:
            span = _moved(Span(found.line, found.column, found.end_column), self.origin)
            yield replace(found, line=span.line, column=span.column, end_column=span.end_column)

    def run(self, context: Mapping[str, Any], finish: Callable[[Any], Any]) -> Any:  # noqa: ANN401  # any value
        """Evaluate and hand the value to ``finish``; every failure becomes our public error."""
        try:
            return finish(self.code.closure(Frame(context, self.code.slot_count)))
        except EvaluationError as error:
            message = error.message
            span = _moved(error.span, self.origin) if error.span else self.span
        except BudgetError as error:
            message, span = error.message, self.span
        except RecursionError:
            message, span = "a value is nested too deeply", self.span
        # Outside of the handlers: a chained error would keep the values of its frames alive.
        raise ExpressionError(
            message, stage="eval", expression=self.text, line=span.line, column=span.column
        )


def _moved(span: Span, origin: tuple[int, int]) -> Span:
    """Return where a span of an expression stands in the text that the expression is part of."""
    line, column = origin
    shift = column - 1 if span.line == 1 else 0
    return Span(span.line + line - 1, span.column + shift, span.end_column + shift)


def compile_expression(
    text: str,
    variables: Collection[str] | None = None,
    *,
    names: Mapping[str, Collection[str]] | None = None,
) -> Program:
    """Compile a bare CEL expression, such as the text of an ``if``.

    :param variables: names it may use, by default ``WORKFLOW_VARIABLES``.
    :param names: declared names by root, for example ``{"steps": {"fetch-data"}}``, which may
        stand after a dot although they hold hyphens.
    :raises ExpressionError: with ``stage`` ``compile``; line and column are those in ``text``.
    """
    return _compile(text, _variables(variables), _frozen(names), is_template=False)


def compile_template(
    text: str,
    variables: Collection[str] | None = None,
    *,
    names: Mapping[str, Collection[str]] | None = None,
) -> Program:
    """Compile a string that may hold ``{{ expressions }}`` (LANGUAGE, "Templates").

    A string that is one expression, but for blanks around it, yields the expression's value;
    every other one yields a string. Parameters and errors are those of
    :func:`compile_expression`; positions are those in the whole string.
    """
    return _compile(text, _variables(variables), _frozen(names), is_template=True)


def rewrite_dotted_names(text: str, names: Mapping[str, Collection[str]], *, template: bool) -> str:
    """Write declared names with hyphens in brackets: ``steps["fetch-data"].output``.

    Only ``steps.fetch-data`` without blanks around the hyphen is a name; the longest declared
    one counts. As the argument of ``has``, which takes fields only, a name is put in backquotes.

    :param names: declared names by root, for example ``{"steps": {"fetch-data"}}``.
    :param template: whether expressions stand in braces; the text around them stays as it is.
    :raises ExpressionError: the text names something after a dot, and cannot be split into tokens.
    """
    try:
        return dotted_names.rewrite(Source(text), names, template=template)
    except CompileError as error:
        raise _public(error, text) from None


def _variables(variables: Collection[str] | None) -> frozenset[str]:
    return frozenset(WORKFLOW_VARIABLES if variables is None else variables)


def _frozen(names: Mapping[str, Collection[str]] | None) -> Names:
    return tuple(sorted((root, frozenset(below)) for root, below in (names or {}).items()))


def _public(error: CompileError, expression: str) -> ExpressionError:
    return ExpressionError(
        error.message,
        stage="compile",
        expression=expression if error.expression is None else error.expression,
        line=error.span.line,
        column=error.span.column,
    )


@lru_cache(maxsize=CACHED_TEXTS)
def _compile(
    text: str,
    variables: frozenset[str],
    names: Names,
    *,
    is_template: bool,
    is_checked: bool = True,
) -> Program:
    """Compile with arguments that a cache can compare.

    :param is_checked: false leaves mistakes to run time, as CEL's conformance tests ask for.
    """
    source = Source(text)
    try:
        parts: list[str | Hole] = [Hole((), 0, len(text))]
        if is_template:
            parts = split_template(source, dict(names))
    except CompileError as error:
        raise _public(error, text) from None
    compiled = [
        part
        if isinstance(part, str)
        else _compile_hole(source, part, variables, names, is_checked=is_checked)
        for part in parts
    ]
    return Program(text, compiled, is_lone=is_lone(parts))


def _check_length(expression: str, whole: Span) -> None:
    if len(expression) > MAX_EXPRESSION_LENGTH:
        message = f"the expression has more than {MAX_EXPRESSION_LENGTH} characters"
        raise CompileError(message, whole)


def _compile_hole(
    source: Source, hole: Hole, variables: frozenset[str], names: Names, *, is_checked: bool
) -> _Expression:
    written = source.text[hole.start : hole.end]
    expression = written.strip()
    start = hole.start + len(written) - len(written.lstrip())
    origin = source.locate(start)
    whole = source.span(start, hole.end)
    try:
        _check_length(expression, whole)
    except CompileError as error:
        raise _public(error, expression) from None
    # The larger half of the package, for which a task without expressions does not wait.
    from mantle_provider.expressions.code import compile_code  # noqa: PLC0415

    try:
        code = compile_code(expression, variables, names, is_checked=is_checked)
    except CompileError as error:
        error.span = _moved(error.span, origin)
        raise _public(error, expression) from None
    return _Expression(expression, whole, origin, code)
