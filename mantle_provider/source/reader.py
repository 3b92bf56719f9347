"""Text or bytes to a document: the only place that calls the YAML parser."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

import yaml

from mantle_provider.diagnostics.findings import Findings
from mantle_provider.source.composer import Composer, LimitError
from mantle_provider.source.document import LINE_BREAK, SourceDocument
from mantle_provider.source.span import Span
from mantle_provider.source.syntax import report_syntax_error

if TYPE_CHECKING:
    from mantle_provider.diagnostics.diagnostic import Diagnostic
    from mantle_provider.source.document import Node, Use
    from mantle_provider.source.inclusion import Inclusion

FileRole: TypeAlias = Literal["workflow", "part", "settings"]
"""What a file is: a workflow, something that another file includes, or defaults or values."""

DEFAULT_MAX_FILE_BYTES = 1_048_576

# libyaml is eight times as fast; the positions are the same.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_NOT_YAML = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that may not stand in YAML (YAML 1.1, section 5.1)."""


@dataclass(frozen=True, slots=True)
class ReadResult:
    """What reading gave.

    :param document: its ``root`` is ``None`` when the text is not one YAML document.
    :param root_values: the value of every document in the text; ``None`` when it does not parse.
    """

    document: SourceDocument
    diagnostics: tuple[Diagnostic, ...] = ()
    root_values: tuple[object, ...] | None = None


def read_document(  # noqa: PLR0913  # each has a default; only included files need the last ones
    source: str | bytes,
    name: str,
    *,
    max_file_bytes: int = DEFAULT_MAX_FILE_BYTES,
    role: FileRole = "workflow",
    inclusion: Inclusion | None = None,
    use: Use | None = None,
    level: int = 1,
) -> ReadResult:
    """Read one YAML document and note where everything stands; what is wrong is reported.

    :param role: decides what an empty file means: only settings may be empty.
    :param inclusion: reads the files that this one includes; ``None`` when it may not.
    :param use: why the file is read, for notes beside its diagnostics.
    :param level: the level of its root in the whole workflow, from 1.
    """
    findings = Findings()
    document = SourceDocument(name, "", use=use)
    size = len(source) if isinstance(source, bytes) else len(source.encode(errors="replace"))
    if size > max_file_bytes:
        message = f"the file is larger than {max_file_bytes} bytes, the most that is read"
        findings.error("file-too-large", message)
        return ReadResult(document, tuple(findings.diagnostics))
    document = replace(document, text=_decode(source, findings))
    if findings.diagnostics:
        return ReadResult(document, tuple(findings.diagnostics))
    events = yaml.parse(document.text, Loader=_LOADER)
    composer = Composer(events, document, findings, inclusion, level)
    roots = _compose(composer, document.text, findings, role)
    root_values = None if roots is None else tuple(root.value for root in roots)
    root = roots[0] if roots and len(roots) == 1 else None
    document = replace(document, root=root)
    return ReadResult(document, tuple(findings.diagnostics), root_values)


def _decode(source: str | bytes, findings: Findings) -> str:
    """Return the text without byte order mark; what cannot be YAML is reported."""
    if isinstance(source, str):
        text = source
    else:
        try:
            text = source.decode("utf-8")
        except UnicodeDecodeError as error:
            before = source[: error.start].decode("utf-8").removeprefix("\ufeff")
            byte = f"0x{source[error.start]:02X}"
            findings.error(
                "invalid-encoding",
                f"byte {byte} is not valid UTF-8; save the file as UTF-8",
                span=_point(before, len(before)),
            )
            return source.decode("utf-8", errors="replace").removeprefix("\ufeff")
    text = text.removeprefix("\ufeff")
    if bad := _NOT_YAML.search(text):
        code_point = f"U+{ord(bad.group()):04X}"
        message = f"character {code_point} may not stand in YAML; remove it"
        hint = 'in a string in double quotes it can be written as an escape, for example "\\u001b"'
        span = _point(text, bad.start())
        findings.error("control-character", message, span=span, hint=hint)
    return text


def _point(text: str, index: int) -> Span:
    """Return the span of the one character at ``index``."""
    breaks = list(LINE_BREAK.finditer(text, 0, index))
    line = len(breaks) + 1
    column = index - (breaks[-1].end() if breaks else 0) + 1
    return Span(line, column, line, column + 1)


_EMPTY: dict[FileRole, str] = {
    "workflow": "the file is empty; a workflow needs at least a name and steps",
    "part": "the file is empty; there is nothing to include",
}
_SEVERAL: dict[FileRole, str] = {
    "workflow": "a file holds one workflow, but a second document begins here; split the file",
    "part": "a file to include holds one document, but a second one begins here",
    "settings": "the file holds one document, but a second one begins here",
}


def _compose(
    composer: Composer, text: str, findings: Findings, role: FileRole
) -> list[Node] | None:
    """Return the roots of all documents, ``None`` when the text does not parse."""
    try:
        roots = composer.compose()
    except yaml.YAMLError as error:
        report_syntax_error(error, text, findings)
        return None
    except LimitError as error:
        findings.error(error.code, error.message, error.path, span=error.span)
        return None
    is_empty = not roots or (len(roots) == 1 and roots[0].value is None)
    if is_empty and role in _EMPTY and not findings.diagnostics:
        findings.error("empty-document", _EMPTY[role], span=Span(1, 1, 1, 1))
        return []
    if len(roots) > 1:
        findings.error("several-documents", _SEVERAL[role], span=composer.starts[1])
    return roots
