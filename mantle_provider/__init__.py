"""Mantle workflow YAML as Airflow Dags.

Imports nothing from Airflow when it is imported itself: Airflow reads this package while it is
still starting, and ``mantle validate`` runs without Airflow. Public names load when first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mantle_provider.builder.bundle import MantleDagBundle as MantleDagBundle
    from mantle_provider.builder.loader import load_airflow_dags as load_airflow_dags
    from mantle_provider.check import check_file as check_file
    from mantle_provider.check import check_text as check_text

__version__ = "0.1.0"

_LAZY_NAMES = {
    "MantleDagBundle": "mantle_provider.builder.bundle",
    "check_file": "mantle_provider.check",
    "check_text": "mantle_provider.check",
    "load_airflow_dags": "mantle_provider.builder.loader",
}

__all__ = ["MantleDagBundle", "__version__", "check_file", "check_text", "load_airflow_dags"]


def __getattr__(name: str) -> Any:  # noqa: ANN401  # each public name has its own type
    if name in _LAZY_NAMES:
        return getattr(import_module(_LAZY_NAMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY_NAMES})
