"""The command ``mantle``: checks, plans, schemas and runs, without importing Airflow."""

from __future__ import annotations

from mantle_provider.cli.main import main

__all__ = ["main"]
