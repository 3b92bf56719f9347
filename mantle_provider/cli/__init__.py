"""The command ``mantle``: checks, plans and schemas, without Airflow."""

from __future__ import annotations

from mantle_provider.cli.main import main

__all__ = ["main"]
