"""Where the values of a workflow stand, which may be in several files: ``plan --explain``."""

from __future__ import annotations

from json import dumps
from typing import TYPE_CHECKING

from mantle_provider.source.span import format_path
from mantle_provider.workflow.decoding import FREE_PREFIX

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mantle_provider.diagnostics.report import Report
    from mantle_provider.source.document import Node, SourceDocument
    from mantle_provider.source.span import Path

_MAX_VALUE = 60


def render_origins(report: Report, env: Iterable[str], environment: str | None) -> str:
    """Return a line for each value of the workflow: path, value, file, line and column.

    :param env: names that the file of the environment gives values for, which are not shown.
    """
    document = report.document
    if document is None or document.root is None:
        return ""
    lines = ["values", *_lines(document.root, (), document)]
    lines += [f"  env.{name}  (of the environment {environment})" for name in sorted(env)]
    return "\n".join(lines) + "\n"


def _lines(node: Node, path: Path, document: SourceDocument) -> Iterator[str]:
    document = node.source or document
    if node.children:
        for item, child in node.children.items():
            if not path and str(item).startswith(FREE_PREFIX):
                # No value of the workflow, but a place for anchors.
                continue
            yield from _lines(child, (*path, item), document)
        return
    value = dumps(node.value, ensure_ascii=False)
    if len(value) > _MAX_VALUE:
        value = value[: _MAX_VALUE - 1] + "…"
    place = f"{document.name}:{node.span.line}:{node.span.column}"
    yield f"  {format_path(path)}: {value}  ({place})"
