"""A condition, which is bare CEL, is written in braces as if it were a parameter."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mantle_provider.diagnostics.diagnostic import Diagnostic
from mantle_provider.diagnostics.wording import quote

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mantle_provider.rules.subject import Subject

_BRACES = re.compile(r"\{\{\s*|\s*\}\}")


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Find braces in bare CEL that does not compile; inside a string they are fine."""
    for item in subject.expressions:
        if item.error is None or item.site.is_template or "{{" not in item.site.text:
            continue
        bare = _BRACES.sub("", item.site.text).strip()
        key = item.site.path[-1] if item.site.role != "outputs" else "map"
        message = f'{quote(str(key))} is bare CEL, without "{{{{" and "}}}}"; write {quote(bare)}'
        yield Diagnostic("template-in-condition", message, item.path)
