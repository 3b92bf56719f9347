"""Measure what the documentation claims, and print it as the table that stands there.

    python benchmarks/run.py [--quick] [name ...]

Names are those of the benchmarks; without any, all run, which takes half an hour. Every figure is
a ratio within one run, since the machine's own speed is nobody's promise. Needs the dependency
groups ``bench`` and ``test``.
"""

from __future__ import annotations

import argparse
import compileall
from pathlib import Path
from typing import TYPE_CHECKING

import cel
import load
import run_time
import scale
import task_start
import validate
from measuring import table

import mantle_provider

if TYPE_CHECKING:
    from collections.abc import Callable

    from measuring import Figure

BENCHMARKS: dict[str, Callable[..., list[Figure]]] = {
    "load": load.figures,
    "task_start": task_start.figures,
    "validate": validate.figures,
    "scale": scale.figures,
    "cel": cel.figures,
    "run_time": run_time.figures,
}


def main() -> None:
    """Run what was asked for and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[[], *BENCHMARKS], help="which to run")
    parser.add_argument("--quick", action="store_true", help="small sizes, one round: a smoke test")
    options = parser.parse_args()
    # As pip does when it installs: without, every process would compile the package again where
    # Python may not write (PYTHONDONTWRITEBYTECODE).
    compileall.compile_dir(Path(mantle_provider.__file__).parent, quiet=1)
    found = []
    for name in options.names or BENCHMARKS:
        found += BENCHMARKS[name](is_quick=options.quick)
    print(table(found))


if __name__ == "__main__":
    main()
