"""How long ``mantle validate`` takes, against PyYAML's C loader alone over the same files."""

from __future__ import annotations

import tempfile
from pathlib import Path

from measuring import Figure, median_ratio, run_python
from workloads import write_workflows

COUNT = 1000
ROUNDS = 5

_PLAIN = """\
import json, sys, time
from pathlib import Path
import yaml
files = sorted(Path(sys.argv[1]).glob("*.yaml"))
began = time.perf_counter()
for file in files:
    yaml.load(file.read_bytes(), Loader=yaml.CSafeLoader)
print(json.dumps(time.perf_counter() - began))
"""
_VALIDATE = """\
import io, json, sys, time
from contextlib import redirect_stderr, redirect_stdout
from mantle_provider.cli.main import main
began = time.perf_counter()
with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
    code = main(["validate", sys.argv[1]])
assert code == 0, code
print(json.dumps(time.perf_counter() - began))
"""
_START = """\
import json, subprocess, sys, time
began = time.perf_counter()
subprocess.run([sys.executable, "-c", sys.argv[1]], check=True)
print(json.dumps(time.perf_counter() - began))
"""
_BARE_CELPY = "import celpy; celpy.Environment()"
_HELP = "from mantle_provider.cli.main import main; main(['validate', '--help'])"


def figures(*, is_quick: bool) -> list[Figure]:
    """Return the ratio for a folder, and that of the start."""
    count, rounds = (100, 1) if is_quick else (COUNT, ROUNDS)
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        folder = write_workflows(root / "flows", count)
        times: dict[str, list[float]] = {}
        for _ in range(rounds):
            for name, code, argument in (
                ("plain", _PLAIN, folder),
                ("validate", _VALIDATE, folder),
                ("celpy", _START, _BARE_CELPY),
                ("start", _START, _HELP),
            ):
                times.setdefault(name, []).append(run_python(code, argument, home=root))
    whole = median_ratio(times["validate"], times["plain"])
    start = median_ratio(times["start"], times["celpy"])
    return [
        Figure(
            f"`mantle validate` of {count} workflows",
            f"{whole:.1f} times `yaml.CSafeLoader`",
            "8",
        ),
        Figure(
            "start of `mantle validate`",
            f"{start:.2f} times a bare `celpy.Environment()`",
        ),
    ]
