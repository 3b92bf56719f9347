"""The list that a reading or checking stage fills. Has state: its diagnostics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mantle_provider.diagnostics.diagnostic import Diagnostic

if TYPE_CHECKING:
    from mantle_provider.source.span import Path


class Findings:
    """Collects diagnostics instead of raising them."""

    def __init__(self) -> None:
        self.diagnostics: list[Diagnostic] = []

    def error(self, code: str, message: str, path: Path = (), **details: Any) -> None:  # noqa: ANN401  # Diagnostic types them
        """Add an error; ``details`` are the other fields of :class:`Diagnostic`."""
        self.diagnostics.append(Diagnostic(code, message, path, **details))

    def warning(self, code: str, message: str, path: Path = (), **details: Any) -> None:  # noqa: ANN401  # Diagnostic types them
        """Add a warning; ``details`` are the other fields of :class:`Diagnostic`."""
        self.diagnostics.append(Diagnostic(code, message, path, "warning", **details))
