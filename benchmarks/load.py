"""How long ten-step workflows take to load, against the same Dags in plain Python and YAML.

The ways take turns in every round, each in a process of its own; what is timed is loading alone,
after all that a process imports once.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from measuring import Figure, median_ratio, run_python
from workloads import write_dag_factory, write_loader, write_python, write_workflows

COUNTS = (100, 500, 1000)
ROUNDS = 9

_TIMED = """\
import json, sys, time, logging
from pathlib import Path
logging.disable(logging.ERROR)
from airflow.dag_processing.dagbag import DagBag
way, folder, storage, count = sys.argv[1:]
import airflow.providers.standard.operators.bash, airflow.sdk
# Neither what a process imports once nor its parser of expressions belongs to a workflow.
import mantle_provider.builder.loader, mantle_provider.builder.sync, mantle_provider.rules
import mantle_provider.operators.bash
from mantle_provider.expressions import compile_expression
compile_expression("true")
if way.startswith("dag-factory"):
    import dagfactory
folder = Path(folder)
began = time.perf_counter()
if way.startswith("bundle"):
    from mantle_provider.builder.sync import sync_stubs
    sync_stubs(folder, Path(storage), Path(storage).parent / "index.json")
    folder = Path(storage)
bag = DagBag(dag_folder=str(folder), collect_dags=False)
bag.collect_dags(dag_folder=str(folder))
seconds = time.perf_counter() - began
assert len(bag.dags) == int(count), (len(bag.dags), list(bag.import_errors.values())[:1])
print(json.dumps(seconds))
"""

_WRITERS = {
    "plain Python": write_python,
    "bundle": write_workflows,
    "bundle, first time": write_workflows,
    "load_airflow_dags": write_loader,
    "dag-factory 1.1": write_dag_factory,
}


def figures(*, is_quick: bool) -> list[Figure]:
    """Return how each way compares with plain Python and with dag-factory."""
    found = []
    for count in COUNTS[:1] if is_quick else COUNTS:
        times = _times(count, 1 if is_quick else ROUNDS)
        plain, factory = times["plain Python"], times["dag-factory 1.1"]
        for way, seconds in times.items():
            found.append(
                Figure(
                    f"load {count} workflows: {way}",
                    f"{median_ratio(seconds, plain):.2f} times plain Python, "
                    f"{median_ratio(factory, seconds):.1f} times as fast as dag-factory",
                    {"bundle": "1.3", "bundle, first time": "2.0"}.get(way, ""),
                )
            )
    return found


def _times(count: int, rounds: int) -> dict[str, list[float]]:
    """Return the seconds of each way in each round."""
    times: dict[str, list[float]] = {way: [] for way in _WRITERS}
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        folders = {way: write(root / way, count) for way, write in _WRITERS.items()}

        def load(way: str, storage: Path) -> float:
            storage.mkdir(parents=True, exist_ok=True)
            return run_python(_TIMED, way, folders[way], storage, count, home=root)

        load("bundle", root / "kept" / "stubs")
        for number in range(rounds):
            for way in reversed(_WRITERS) if number % 2 else _WRITERS:
                fresh = root / f"fresh-{number}" / way
                storage = root / "kept" if way == "bundle" else fresh
                times[way].append(load(way, storage / "stubs"))
    return times
