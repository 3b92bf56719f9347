"""How a report is shown: as text, line by line, as JSON, as annotations for GitHub."""

from __future__ import annotations

import json
import unicodedata
from typing import TYPE_CHECKING, Any

from mantle_provider.source.span import format_path

if TYPE_CHECKING:
    from mantle_provider.diagnostics.diagnostic import Diagnostic
    from mantle_provider.diagnostics.report import Place, Report
    from mantle_provider.source.span import Span

_MAX_LINE = 160
_CONTEXT = 60


def render_text(report: Report) -> str:
    """Return every diagnostic with its source line, a caret below it, and the other places.

    The first line of each has the form of Mantle's own ``validate``. Empty without diagnostics,
    else with a final line feed.
    """
    return "".join(_render_block(report, item) for item in report.diagnostics)


def render_line(report: Report, item: Diagnostic) -> str:
    """Return one diagnostic as ``file:line:column: severity: message (path) [code]``."""
    path = f" ({format_path(item.path)})" if item.path else ""
    place = report.place(item)
    return f"{_place(place)}: {item.severity}: {item.message}{path} [{item.code}]"


def render_json(reports: list[Report]) -> str:
    """Return the diagnostics of all reports as one JSON list of objects."""
    found = [_to_data(report, item) for report in reports for item in report.diagnostics]
    return json.dumps(found, indent=2, ensure_ascii=False) + "\n"


def render_github(report: Report) -> str:
    """Return workflow commands of GitHub Actions, which it shows beside the changed lines.

    https://docs.github.com/actions/reference/workflow-commands-for-github-actions
    """
    return "".join(_github_command(report, item) for item in report.diagnostics)


def _render_block(report: Report, item: Diagnostic) -> str:
    lines = [render_line(report, item)]
    place = report.place(item)
    if place.document is not None and place.span is not None and not place.document.is_private:
        lines += _excerpt(place.document.lines, place.span)
    lines += [f"  note: {_place(other)}: {message}" for other, message in report.notes(item)]
    if item.hint:
        lines.append(f"  hint: {item.hint}")
    return "\n".join(lines) + "\n"


def _place(place: Place) -> str:
    span = place.span
    return place.name if span is None else f"{place.name}:{span.line}:{span.column}"


def _excerpt(lines: list[str], span: Span) -> list[str]:
    line = lines[span.line - 1] if span.line <= len(lines) else ""
    if not line.strip():
        return []
    start = span.column - 1
    end = span.end_column - 1 if span.end_line == span.line else len(line.rstrip())
    end = min(max(end, start + 1), max(len(line), start + 1))
    if len(line) > _MAX_LINE:
        cut = max(start - _CONTEXT, 0)
        ending = "…" if cut + _MAX_LINE < len(line) else ""
        line = ("…" if cut else "") + line[cut : cut + _MAX_LINE] + ending
        shift = cut - (1 if cut else 0)
        start, end = start - shift, min(end - shift, len(line))
    line = "".join(_printable(character) for character in line)
    margin = " " * len(str(span.line))
    caret = "".join(map(_blank, line[:start])) + "^" * max(_width(line[start:end]), 1)
    return [f" {span.line} | {line}", f" {margin} | {caret}"]


def _printable(character: str) -> str:
    return (
        character if character.isprintable() or character == "\t" else "\N{REPLACEMENT CHARACTER}"
    )


def _blank(character: str) -> str:
    return "\t" if character == "\t" else " " * _width(character)


def _width(text: str) -> int:
    """Return how many columns a terminal gives to ``text``."""
    return sum(
        0
        if unicodedata.combining(character)
        else 2
        if unicodedata.east_asian_width(character) in "WF"
        else 1
        for character in text
    )


def _to_data(report: Report, item: Diagnostic) -> dict[str, Any]:
    data: dict[str, Any] = {
        **_place_data(report.place(item)),
        "severity": item.severity,
        "code": item.code,
        "message": item.message,
        "path": format_path(item.path),
        "hint": item.hint,
        "related": [
            {**_place_data(place), "message": message} for place, message in report.notes(item)
        ],
    }
    return data


def _place_data(place: Place) -> dict[str, Any]:
    return {"file": place.name, **_position_data(place.span)}


def _position_data(span: Span | None) -> dict[str, int | None]:
    if span is None:
        return dict.fromkeys(("line", "column", "end_line", "end_column"))
    return {
        "line": span.line,
        "column": span.column,
        "end_line": span.end_line,
        "end_column": span.end_column,
    }


def _github_command(report: Report, item: Diagnostic) -> str:
    place = report.place(item)
    properties = {"file": place.name, "title": item.code}
    span = place.span
    if span is not None:
        properties |= {"line": str(span.line), "col": str(span.column)}
        if span.end_line == span.line:
            properties["endColumn"] = str(span.end_column)
    listed = ",".join(f"{key}={_escape_property(value)}" for key, value in properties.items())
    message = f"{item.message}\n{item.hint}" if item.hint else item.message
    return f"::{item.severity} {listed}::{_escape_message(message)}\n"


def _escape_message(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escape_property(text: str) -> str:
    return _escape_message(text).replace(":", "%3A").replace(",", "%2C")
