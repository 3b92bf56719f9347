"""What is wrong with a user's file, as data, and how it is shown. Pure.

Below every other part of the checking side: it knows places in a file, and nothing of the
language.
"""

from __future__ import annotations

from mantle_provider.diagnostics.catalogue import CATALOGUE, CodeEntry
from mantle_provider.diagnostics.diagnostic import Diagnostic, Related, Severity
from mantle_provider.diagnostics.findings import Findings
from mantle_provider.diagnostics.render import (
    render_github,
    render_json,
    render_line,
    render_text,
)
from mantle_provider.diagnostics.report import Report

__all__ = [
    "CATALOGUE",
    "CodeEntry",
    "Diagnostic",
    "Findings",
    "Related",
    "Report",
    "Severity",
    "render_github",
    "render_json",
    "render_line",
    "render_text",
]
