"""What the number of workflows in the folder costs each task before it does its work.

Timed is what a task's process does from reading its Dag to having its operator, in a process that
has imported all it needs, since those imports are the same for one file and for a thousand.
"""

from __future__ import annotations

import statistics
import tempfile
from pathlib import Path

from measuring import Figure, run_python
from workloads import write_loader, write_workflows

COUNT = 1000
ROUNDS = 9
WAYS = ("bundle", "load_airflow_dags")

_TIMED = """\
import json, logging, sys, time
from pathlib import Path
logging.disable(logging.ERROR)
way, folder, warm_folder = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
from airflow.dag_processing.dagbag import BundleDagBag
from airflow.sdk.definitions._internal.dag_parsing_context import (
    _airflow_parsing_context_manager,
)
import airflow.providers.standard.operators.bash
from mantle_provider import MantleDagBundle

versions = {}

def start(folder):
    if way != "bundle":
        path, file = folder, folder / "loader.py"
    else:
        # A task is told the version that its run is pinned to.
        bundle = MantleDagBundle(name="flows", path=str(folder), version=versions[folder])
        bundle.initialize()
        path, file = bundle.path, bundle.path / "flow-0.dag.py"
    with _airflow_parsing_context_manager(dag_id="flow-0", task_id="step-1"):
        bag = BundleDagBag(dag_folder=str(file), bundle_path=path, bundle_name="flows")
    return bag.dags["flow-0"].get_task("step-1")

def seconds(folder):
    began = time.perf_counter()
    start(folder)
    return time.perf_counter() - began

if way == "bundle":
    for each in (folder, warm_folder):
        processor = MantleDagBundle(name="flows", path=str(each))
        processor.initialize()
        versions[each] = processor.get_current_version().version
start(warm_folder)
print(json.dumps(seconds(folder)))
"""


def figures(*, is_quick: bool) -> list[Figure]:
    """Return the milliseconds more that a task takes with many files than with one."""
    found = []
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        count = 100 if is_quick else COUNT
        for way in WAYS:
            write = write_workflows if way == "bundle" else write_loader
            one, many = write(root / way / "one", 1), write(root / way / "many", count)
            warm = write(root / way / "warm", 1)
            differences = [
                run_python(_TIMED, way, many, warm, home=root)
                - run_python(_TIMED, way, one, warm, home=root)
                for _ in range(1 if is_quick else ROUNDS)
            ]
            more = max(statistics.median(differences) * 1000, 0)
            found.append(
                Figure(
                    f"start of a task, {count} files against 1: {way}",
                    f"{more:.0f} ms more",
                    "20 ms",
                )
            )
    return found
