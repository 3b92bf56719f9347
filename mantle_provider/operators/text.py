"""Actions on text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mantle_provider.errors import ActionError
from mantle_provider.operators.base import StepOperator

if TYPE_CHECKING:
    from collections.abc import Mapping

    from airflow.sdk.definitions.context import Context

_SEPARATORS = ("\n\n", "\n", ". ", " ")


class TextChunkOperator(StepOperator):
    """``text/chunk``: cut a text into overlapping pieces."""

    def act(self, context: Context, parameters: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ARG002  # nothing of the run is needed
        """Return ``{"chunks": [...], "count": n}``."""
        size = int(parameters.get("chunk_size", 1000))
        overlap = int(parameters.get("chunk_overlap", 0))
        if size < 1:
            raise _refused(f"chunk_size must be positive, got {size}")
        if overlap < 0:
            raise _refused(f"chunk_overlap must be >= 0, got {overlap}")
        if overlap >= size:
            raise _refused(f"chunk_overlap ({overlap}) must be less than chunk_size ({size})")
        chunks = chunk_text(parameters["text"], size, overlap, parameters.get("unit", "chars"))
        return {"chunks": chunks, "count": len(chunks)}


def chunk_text(text: str, size: int, overlap: int, unit: str) -> list[str]:
    """Cut a text as Mantle's ``text/chunk`` does.

    :param size: length of a piece in units; under ``recursive`` a piece may reach
        ``size + overlap``.
    :param overlap: units that neighbours share; less than ``size``.
    :param unit: ``chars`` and ``words`` are windows that step by ``size - overlap``;
        ``recursive`` cuts at paragraphs, lines, sentences and blanks, in that order, and counts
        characters.
    """
    if unit == "words":
        return [" ".join(window) for window in _windows(text.split(), size, overlap)]
    if unit == "recursive":
        return _merged(_pieces(text, size, _SEPARATORS), size, overlap)
    return ["".join(window) for window in _windows(list(text), size, overlap)]


def _windows(items: list[str], size: int, overlap: int) -> list[list[str]]:
    """Return windows over ``items``, the last one being the first that reaches the end."""
    windows = []
    for start in range(0, len(items), size - overlap):
        windows.append(items[start : start + size])
        if start + size >= len(items):
            break
    return windows


def _pieces(text: str, size: int, separators: tuple[str, ...]) -> list[str]:
    """Cut at the coarsest separator that makes pieces fit; each stays with the piece before it."""
    if len(text) <= size:
        return [text] if text else []
    if not separators:
        return [text[start : start + size] for start in range(0, len(text), size)]
    separator, *finer = separators
    parts = text.split(separator)
    attached = [part + separator for part in parts[:-1]] + parts[-1:]
    return [piece for part in attached for piece in _pieces(part, size, tuple(finer))]


def _merged(pieces: list[str], size: int, overlap: int) -> list[str]:
    """Join pieces up to the size, carrying at most ``overlap`` characters into the next chunk."""
    chunks: list[str] = []
    carried: list[str] = []
    length = 0
    for piece in pieces:
        if carried and length + len(piece) > size:
            chunks.append("".join(carried).strip())
            while carried and length > overlap:
                length -= len(carried.pop(0))
        carried.append(piece)
        length += len(piece)
    chunks.append("".join(carried).strip())
    return [chunk for chunk in chunks if chunk]


def _refused(message: str) -> ActionError:
    return ActionError(f"text/chunk: {message}", action="text/chunk", retryable=False)
