"""Make the virtual environment that a script runs in, once, and again when its needs change.

Runs before anything is installed: standard library only, on any Python that may be there.
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CONSTRAINTS = ROOT / "constraints.txt"
OLDEST_PYTHON = (3, 10)


def ensure_environment(folder: Path, *, groups: list[str], unpinned: tuple[str, ...] = ()) -> None:
    """Install this checkout, editable, with all extras and ``groups``, into ``folder``.

    Nothing is done when the same needs were met by the same Python before.

    :param unpinned: how the names of packages begin whose versions the groups decide.

    :raises subprocess.CalledProcessError: when pip fails; its output is in ``install.log``.
    """
    marker = folder / "installed"
    needs = _needs(groups)
    if marker.is_file() and marker.read_text() == needs:
        return
    print(f"Installing into {folder} (once, about a minute) ...", flush=True)
    _make(folder)
    group_options = [part for group in groups for part in ("--group", group)]
    # Dependency groups need a newer pip than some Pythons bring.
    _pip(folder, "--upgrade", "pip")
    constraints = folder / CONSTRAINTS.name
    pins = CONSTRAINTS.read_text().splitlines(keepends=True)
    constraints.write_text("".join(pin for pin in pins if not pin.startswith(unpinned)))
    _pip(folder, "-c", str(constraints.resolve()), "-e", ".[slack,smtp]", *group_options)
    marker.write_text(needs)


def _make(folder: Path) -> None:
    try:
        venv.EnvBuilder(clear=True, with_pip=True).create(folder)
    except subprocess.CalledProcessError:
        # Debian keeps Python's bundled pip in a package of its own; the pip at hand does as well.
        venv.EnvBuilder(clear=True).create(folder)
        python = folder / "bin" / "python"
        subprocess.run(
            [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "pip"],
            check=True,
        )


def _needs(groups: list[str]) -> str:
    digest = hashlib.sha256()
    for part in (ROOT / "pyproject.toml", CONSTRAINTS):
        digest.update(part.read_bytes())
    return f"{sys.version}\n{' '.join(groups)}\n{digest.hexdigest()}\n"


def _pip(folder: Path, *arguments: str) -> None:
    folder = folder.resolve()
    with (folder / "install.log").open("a") as log:
        subprocess.run(
            [folder / "bin" / "python", "-m", "pip", "install", *arguments],
            cwd=ROOT,
            check=True,
            stdout=log,
            stderr=subprocess.STDOUT,
        )


def main() -> int:
    """Read the command line; 0 when the environment is ready, 1 when it could not be made."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--group", action="append", default=[], help="a dependency group")
    parser.add_argument(
        "--unpin", action="append", default=[], help="the start of package names to leave unpinned"
    )
    arguments = parser.parse_args()
    if sys.version_info < OLDEST_PYTHON:
        print(f"Python 3.10 or newer is needed, this is {sys.version.split()[0]}")
        return 1
    try:
        ensure_environment(
            arguments.folder, groups=arguments.group, unpinned=tuple(arguments.unpin)
        )
    except subprocess.CalledProcessError:
        log = arguments.folder / "install.log"
        where = f"see {log}" if log.is_file() else "does this Python have pip or venv?"
        print(f"Could not make {arguments.folder}; {where}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
