"""How long a run takes, against the same graph written by hand in Python on the same Airflow.

Six steps that take two seconds each, in four levels; the two Dags take turns, run by run.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from datetime import datetime
from pathlib import Path

from measuring import Figure

sys.path.append(str(Path(__file__).resolve().parent.parent / "scripts"))

from local_airflow import LocalAirflow

RUNS = 10
STEP_SECONDS = 2
EDGES = {
    "extract": [],
    "clean": ["extract"],
    "enrich": ["extract"],
    "count": ["extract"],
    "join": ["clean", "enrich", "count"],
    "load": ["join"],
}
WORKFLOW, PYTHON = "yaml-flow", "python-flow"
IDLE_SECONDS = (1.0, 0.05)
"""How long an idle scheduler sleeps: Airflow's default, and one that hides nothing.

It notices an ended task when it wakes, which rounds the time of each level up: a tenth of a second
more costs nothing at all, or the whole of its sleep.
"""


def figures(*, is_quick: bool) -> list[Figure]:
    """Return the ratios of the wall times, and how many tasks reach a worker."""
    found = []
    for idle_seconds in IDLE_SECONDS:
        times, started = _measure(1 if is_quick else RUNS, idle_seconds)
        medians = {dag_id: statistics.median(seconds) for dag_id, seconds in times.items()}
        found.append(
            Figure(
                f"wall time of a run of six steps, scheduler sleeping {idle_seconds:g} s",
                f"{medians[WORKFLOW] / medians[PYTHON]:.3f} times hand-written Python",
                "1.05",
            )
        )
    found.append(
        Figure(
            "tasks of that run that reach a worker",
            f"{started[WORKFLOW]} (hand-written: {started[PYTHON]})",
            str(len(EDGES)),
        )
    )
    return found


def _measure(runs: int, idle_seconds: float) -> tuple[dict[str, list[float]], dict[str, int]]:
    """Return the seconds of each Dag's runs, and how many tasks of one of them were started."""
    settings = {"AIRFLOW__SCHEDULER__SCHEDULER_IDLE_SLEEP_TIME": str(idle_seconds)}
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        with LocalAirflow(root / "home", bundles=_bundles(root), settings=settings) as airflow:
            airflow.wait(
                lambda: {WORKFLOW, PYTHON} <= airflow.client.dag_ids(), "two Dags", seconds=120
            )
            for dag_id in (WORKFLOW, PYTHON):
                airflow.client.unpause(dag_id)
                _seconds(airflow, dag_id)  # the first run of a Dag warms what all others use
            times: dict[str, list[float]] = {WORKFLOW: [], PYTHON: []}
            for _ in range(runs):
                for dag_id, seconds in times.items():
                    seconds.append(_seconds(airflow, dag_id))
            return times, {dag_id: _started(airflow, dag_id) for dag_id in times}


def _bundles(root: Path) -> list[dict[str, object]]:
    """Write both Dags, and return the bundles that hold them."""
    workflows, python = root / "workflows", root / "python"
    for folder in (workflows, python):
        folder.mkdir()
    steps = "".join(
        f"  - name: {name}\n    action: bash/run\n"
        f"    depends_on: [{', '.join(above)}]\n"
        f"    params: {{ command: sleep {STEP_SECONDS} }}\n"
        for name, above in EDGES.items()
    )
    (workflows / "flow.yaml").write_text(f"name: {WORKFLOW}\nsteps:\n{steps}")
    (python / "flow.py").write_text(
        "from airflow.sdk import DAG\n"
        "from airflow.providers.standard.operators.bash import BashOperator\n\n"
        f"with DAG({PYTHON!r}, schedule=None):\n"
        "    tasks = {}\n"
        f"    for name, above in {EDGES!r}.items():\n"
        f"        tasks[name] = BashOperator(task_id=name, bash_command='sleep {STEP_SECONDS}')\n"
        "        tasks[name].set_upstream([tasks[other] for other in above])\n"
    )
    return [
        {
            "name": "mantle",
            "classpath": "mantle_provider.builder.bundle.MantleDagBundle",
            "kwargs": {"path": str(workflows)},
        },
        {
            "name": "python",
            "classpath": "airflow.dag_processing.bundles.local.LocalDagBundle",
            "kwargs": {"path": str(python)},
        },
    ]


def _seconds(airflow: LocalAirflow, dag_id: str) -> float:
    """Run a Dag and return the seconds from its start to its end, as Airflow has them."""
    run_id = airflow.client.trigger(dag_id)
    airflow.wait(
        lambda: airflow.client.run_state(dag_id, run_id) in {"success", "failed"},
        f"a run of {dag_id}",
        seconds=120,
    )
    run = airflow.client.run(dag_id, run_id)
    if run["state"] != "success":
        raise SystemExit(f"{dag_id} {run['state']}: {airflow.client.task_states(dag_id, run_id)}")
    begin, end = (datetime.fromisoformat(run[name]) for name in ("start_date", "end_date"))
    return (end - begin).total_seconds()


def _started(airflow: LocalAirflow, dag_id: str) -> int:
    """Return how many tasks of a run had a process of their own."""
    run_id = airflow.client.trigger(dag_id)
    airflow.wait(
        lambda: airflow.client.run_state(dag_id, run_id) == "success", "a run", seconds=120
    )
    tasks = airflow.client.task_instances(dag_id, run_id)
    return sum(task["pid"] is not None for task in tasks)
