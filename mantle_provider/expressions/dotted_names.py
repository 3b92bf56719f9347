"""Hyphenated names after a dot, ``steps.fetch-data.output`` (LANGUAGE, "Templates").

CEL reads a hyphen as minus. Where a step, hook or artifact of that name is declared, the name is
meant; only the scanner decides where one stands.
"""

from __future__ import annotations

import json
import re
from functools import cache
from typing import TYPE_CHECKING

from mantle_provider.expressions.templates import Hole, split_template
from mantle_provider.expressions.tokens import Scanner, Source, Token

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence


def rewrite(source: Source, names: Mapping[str, Collection[str]], *, template: bool) -> str:
    """Return the text with every declared name in a form that needs no declaration.

    :raises CompileError: the text names something after a dot, and cannot be split into tokens.
    """
    # Most texts name nothing after a dot, and splitting every text again takes its time.
    if not any(_after_root(root).search(source.text) for root, below in names.items() if below):
        return source.text
    if template:
        holes = [part for part in split_template(source, names) if isinstance(part, Hole)]
        token_lists: list[Sequence[Token]] = [hole.tokens for hole in holes]
    else:
        token_lists = [Scanner(source, names).scan()[0]]
    pieces = []
    position = 0
    for tokens in token_lists:
        for index, token in enumerate(tokens):
            if token.is_declared_name:
                dot = tokens[index - 1]
                pieces += [source.text[position : dot.start], _plain_form(tokens, index)]
                position = token.end
    return "".join([*pieces, source.text[position:]])


@cache
def _after_root(root: str) -> re.Pattern[str]:
    """Return what finds a root with a field behind it."""
    return re.compile(rf"\b{re.escape(root)}\s*\.")


def _plain_form(tokens: Sequence[Token], index: int) -> str:
    """Return ``["name"]``, or in ``has(steps.name)``, which wants a field, the quoted field."""
    name = tokens[index].text
    around = [
        token.text
        for token in (*tokens[max(index - 4, 0) : index - 2], *tokens[index + 1 : index + 2])
    ]
    if around == ["has", "(", ")"]:
        return f".`{name}`"
    return f"[{json.dumps(name, ensure_ascii=False)}]"
