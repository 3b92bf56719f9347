"""An expression is not valid CEL, or uses a name or function that does not exist."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mantle_provider.diagnostics.diagnostic import Diagnostic
from mantle_provider.rules.subject import index_at
from mantle_provider.source.span import Fragment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mantle_provider.errors import ExpressionError
    from mantle_provider.rules.subject import Subject

_TOKEN = re.compile(r"\w+|\{\{|\S")

_SCOPES = {
    "error": '"error" is known under "on_error" only; a step\'s error is steps[\'name\'].error',
    "index": '"index" is known in steps with "for_each" only',
    "item": '"item" is known in steps with "for_each" only',
    "output": '"output" is known under "outputs.map" only; others read steps[\'name\'].output',
}
"""Names that are unknown where they stand, and where they are known."""


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Report what the compiler found, at the token it found it at."""
    for item in subject.expressions:
        if item.error is None or (not item.site.is_template and "{{" in item.site.text):
            continue
        if item.misspelt and item.misspelt.root == "steps":
            continue
        fragment = _token_at(item.site.text, item.error)
        message = f"invalid expression: {item.error.message}"
        hint = _SCOPES.get(fragment.text) if "unknown name" in message else None
        yield Diagnostic("invalid-expression", message, item.path, fragment=fragment, hint=hint)


def _token_at(text: str, error: ExpressionError) -> Fragment:
    index = index_at(text, error.line, error.column)
    token = _TOKEN.match(text, index)
    if token:
        return Fragment.at(text, *token.span())
    # Something is missing at the end: show what is there.
    expression = error.expression.strip()
    start = text.rfind(expression, 0, max(index, len(expression)))
    return Fragment.at(text, max(start, 0), max(start, 0) + len(expression))
