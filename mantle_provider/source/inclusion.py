"""What ``!include`` stands for: a whole file of the folder, or a fragment of one.

Pure: :class:`Files` does the reading.
"""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, Protocol

from mantle_provider.diagnostics.diagnostic import Related
from mantle_provider.diagnostics.wording import quote, suggest
from mantle_provider.source.files import is_yaml
from mantle_provider.source.reader import read_document

if TYPE_CHECKING:
    from mantle_provider.diagnostics.diagnostic import Diagnostic
    from mantle_provider.diagnostics.findings import Findings
    from mantle_provider.source.document import Node, SourceDocument, Use
    from mantle_provider.source.reader import ReadResult
    from mantle_provider.source.span import Path

MAX_DEPTH = 20
"""How many files may include one another in a row; each takes a piece of Python's stack."""

MAX_INCLUDES = 2000
"""How often one workflow may include a file: a few small ones can include each other very often."""


@dataclass(frozen=True, slots=True)
class Unread:
    """Why a file was not read.

    :param reason: ``outside``: a symbolic link leads out of the folder.
    :param detail: what the operating system says, for ``unreadable``.
    """

    reason: Literal["missing", "outside", "unreadable"]
    detail: str = ""


class Files(Protocol):
    """The files of a folder of workflows, named by their paths below it with forward slashes."""

    @property
    def max_file_bytes(self) -> int:
        """The largest file that is read."""

    def read(self, path: str) -> bytes | Unread:
        """Return a file's content, at most one byte more than the largest file has."""

    def names(self, folder: str) -> list[str]:
        """Return the names of what is in a folder, sorted; none when there is no such folder."""

    def shown(self, path: str) -> str:
        """Return how messages call a file."""

    def is_private(self, path: str) -> bool:
        """Whether a file may hold secrets, which nothing can include."""


@dataclass(slots=True)
class _Total:
    """What all files that one workflow includes come to.

    :param is_exceeded: once they are too many or too large, which is said once.
    """

    count: int = 0
    included_bytes: int = 0
    is_exceeded: bool = False
    sources: dict[str, None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Link:
    """One file of those that include one another.

    :param name: the file, and the fragment of it that is wanted.
    :param use: where it is included; ``None`` for the first.
    """

    name: str
    use: Use | None


class IncludeError(Exception):
    """Nothing can be included; the arguments are a diagnostic's."""

    def __init__(self, code: str, message: str, related: tuple[Related, ...] = ()) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.related = related


class Inclusion:
    """Reads what one file includes. Has state: what was read for the whole workflow.

    :param path: the file that includes, below the folder.
    :param fragment: the keys that lead to the part of that file that is wanted.
    :param chain: the files that include this one, and this one, from the first on.
    """

    def __init__(
        self,
        files: Files,
        path: str,
        fragment: tuple[str, ...] = (),
        chain: tuple[_Link, ...] = (),
        total: _Total | None = None,
    ) -> None:
        self._files = files
        self._path = path
        self._fragment = fragment
        self._chain = chain or (_Link(path, None),)
        self._total = total or _Total()

    @property
    def sources(self) -> tuple[str, ...]:
        """The files that were read or looked for, each once."""
        return tuple(self._total.sources)

    def is_wanted(self, path: Path) -> bool:
        """Whether a value of this file belongs to the fragment, or the fragment to it."""
        return all(str(item) == wanted for item, wanted in zip(path, self._fragment, strict=False))

    def include(
        self, target: str, use: Use, path: Path, level: int, findings: Findings
    ) -> Node | None:
        """Return the value that ``target`` names, ``None`` once it is reported why not.

        :param target: the path of a file from this file's folder, and with ``#`` the keys that
            lead to a part of it, with dots between.
        :param use: where the target stands.
        :param path: where its value comes to stand.
        :param level: how deep that is, from 1.
        """
        if self._total.is_exceeded:
            return None
        try:
            file, fragment = self._target(target)
            link = _Link(f"{file}#{'.'.join(fragment)}" if fragment else file, use)
            self._refuse_circle(link)
            read = self._read(file, fragment, link, level)
            root = read.document.root
            findings.diagnostics += [
                _moved(item, read.document, fragment, path)
                for item in read.diagnostics
                if root is None or not item.path or _is_below(item.path, fragment)
            ]
            return None if root is None else _part(root, read.document, fragment)
        except IncludeError as error:
            details = {"span": use.span, "related": error.related}
            findings.error(error.code, error.message, path, **details)
            return None

    def _target(self, target: str) -> tuple[str, tuple[str, ...]]:
        """Return the file, below the folder, and the keys that lead to the fragment."""
        name, hash_sign, keys = target.partition("#")
        fragment = tuple(keys.split(".")) if hash_sign else ()
        file = posixpath.normpath(posixpath.join(posixpath.dirname(self._path), name))
        if not name or "" in fragment:
            problem = 'write the path of a file, as in "shared.yaml" or "shared.yaml#steps.fetch"'
        elif name.startswith("/") or any(item in name for item in "\\:") or not name.isprintable():
            problem = "write the path from this file's folder, with forward slashes"
        elif file == ".." or file.startswith("../"):
            problem = "the path leads out of the folder of workflows"
        elif not is_yaml(file):
            problem = "only YAML files, whose names end in .yaml or .yml, can be included"
        else:
            return file, fragment
        raise IncludeError("invalid-include", f"cannot include {quote(target)}: {problem}")

    def _refuse_circle(self, link: _Link) -> None:
        if len(self._chain) > MAX_DEPTH:
            message = f"more than {MAX_DEPTH} files include one another in a row"
            raise IncludeError("include-limit", message)
        names = [earlier.name for earlier in self._chain]
        if link.name not in names:
            return
        first = names.index(link.name)
        circle = " -> ".join(map(quote, [*names[first:], link.name]))
        uses = [earlier.use for earlier in self._chain[first + 1 :]]
        related = tuple(
            Related("included here", (), span=use.span, file=use.document.name)
            for use in uses
            if use is not None
        )
        raise IncludeError(
            "include-cycle", f"files include each other in a circle: {circle}", related
        )

    def _read(self, file: str, fragment: tuple[str, ...], link: _Link, level: int) -> ReadResult:
        total, limit = self._total, self._files.max_file_bytes
        if self._files.is_private(file):
            message = f"cannot include {quote(self._files.shown(file))}: it may hold secrets;"
            raise IncludeError("invalid-include", f'{message} read its values as "env.X"')
        total.sources[file] = None
        source = self._files.read(file)
        if isinstance(source, Unread):
            raise self._unread(file, source)
        total.count += 1
        total.included_bytes += len(source)
        total.is_exceeded = total.count > MAX_INCLUDES or total.included_bytes > limit
        if total.count > MAX_INCLUDES:
            message = f"more than {MAX_INCLUDES} times a file is included"
            raise IncludeError("include-limit", message)
        if total.is_exceeded:
            message = f"the included files are together larger than {limit} bytes"
            raise IncludeError("include-limit", f"{message}, the most that is read")
        return read_document(
            source,
            self._files.shown(file),
            max_file_bytes=limit,
            role="part",
            inclusion=Inclusion(self._files, file, fragment, (*self._chain, link), total),
            use=link.use,
            level=level,
        )

    def _unread(self, file: str, unread: Unread) -> IncludeError:
        shown = quote(self._files.shown(file))
        if unread.reason == "outside":
            message = f"cannot include {shown}: a symbolic link leads out of the folder"
            return IncludeError("invalid-include", message)
        if unread.reason == "unreadable":
            return IncludeError("invalid-include", f"cannot include {shown}: {unread.detail}")
        folder, _, name = file.rpartition("/")
        siblings = [item for item in self._files.names(folder) if is_yaml(item)]
        ending = suggest(name, siblings, none="there is no YAML file in that folder")
        return IncludeError("missing-include", f"there is no file {shown}{ending}")


def _is_below(path: Path, fragment: tuple[str, ...]) -> bool:
    return tuple(map(str, path[: len(fragment)])) == fragment


def _part(root: Node, document: SourceDocument, fragment: tuple[str, ...]) -> Node:
    """Return the value of a fragment, which knows the document that it stands in."""
    node, source = root, root.source or document
    for number, item in enumerate(fragment):
        child = {str(key): child for key, child in node.children.items()}.get(item)
        if child is None:
            before = ".".join(fragment[:number])
            where = f'{quote(before)} of "{document.name}"' if before else f'"{document.name}"'
            keys = list(node.value) if isinstance(node.value, dict) else []
            ending = suggest(item, keys, none="there are no keys")
            related = Related("looked for here", (), span=node.span, file=source.name)
            message = f"there is no key {quote(item)} in {where}{ending}"
            raise IncludeError("missing-include", message, (related,))
        node, source = child, child.source or source
    return replace(node, source=source)


def _moved(
    item: Diagnostic, document: SourceDocument, fragment: tuple[str, ...], path: Path
) -> Diagnostic:
    """Return a diagnostic of an included file as one of the file that includes it."""
    name = document.name
    below = item.path[len(fragment) :]
    related = tuple(
        other if other.file else replace(other, file=name, span=other.span or item.span)
        for other in item.related
    )
    return replace(item, path=(*path, *below), related=related, document=item.document or document)
