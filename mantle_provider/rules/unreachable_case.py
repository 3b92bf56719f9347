"""A case or rule stands after one that always holds, so that it is never asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mantle_provider.diagnostics.diagnostic import Diagnostic, Related

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mantle_provider.rules.subject import Subject


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Look for what follows an ``else``, or an error rule without ``when`` that ends the matter."""
    for placed, step in subject.decoded:
        conditions = [case.when for case in step.switch]
        rules = [rule.when if rule.retry is None else "" for rule in step.on_error]
        for key, found in (("switch", conditions), ("on_error", rules)):
            if None not in found[:-1]:
                continue
            index = found.index(None)
            related = Related("this always holds", (*placed.path, key, index))
            yield Diagnostic(
                "unreachable-case",
                "nothing reaches this entry, since the one before it always holds",
                (*placed.path, key, index + 1),
                related=(related,),
            )
