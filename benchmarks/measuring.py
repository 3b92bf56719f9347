"""What every benchmark shares: a figure, and a process of its own to measure in."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Figure:
    """One row of the table.

    :param bound: what the project promises, empty where it promises nothing.
    """

    what: str
    value: str
    bound: str = ""


def run_python(code: str, *arguments: object, home: Path) -> float:
    """Run code in a new process with an Airflow home of its own; it prints seconds as JSON."""
    environment = {
        **os.environ,
        "AIRFLOW_HOME": str(home),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__CORE__DAGBAG_IMPORT_TIMEOUT": "600",
    }
    finished = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        env=environment,
        check=False,
        capture_output=True,
        text=True,
    )
    if finished.returncode != 0:
        raise SystemExit(f"a benchmark failed:\n{finished.stderr}")
    return float(json.loads(finished.stdout.splitlines()[-1]))


def median_ratio(seconds: Iterable[float], base: Iterable[float]) -> float:
    """Return the median over all rounds of how many times the base one way took.

    Each ratio is of one round, since a shared machine's speed drifts from round to round.
    """
    return statistics.median(one / other for one, other in zip(seconds, base, strict=True))


def table(figures: list[Figure]) -> str:
    """Return the figures as a Markdown table."""
    rows = [("What", "Measured", "At most"), ("---",) * 3]
    rows += [(figure.what, figure.value, figure.bound) for figure in figures]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)
