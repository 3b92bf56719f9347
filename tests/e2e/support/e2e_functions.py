"""Functions that the suite's workflows call."""

from __future__ import annotations

from typing import NoReturn


def fail_with(text: str) -> NoReturn:
    """Fail with a message that holds ``text``."""
    raise RuntimeError(f"no luck with {text}")
