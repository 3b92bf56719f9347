"""How long 300 five-step workflows take to load, against the same Dags in plain Python and YAML.

Prints ratios of one run. Each figure is the median over rounds; the ways take turns in every
round, each in a process of its own, and what is timed is loading alone, after Airflow is imported.

    python benchmarks/load.py [--workflows 300] [--rounds 5]
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

STEPS = 5

WORKFLOW = """\
name: flow-{number}
description: Workflow {number}
inputs:
  day: {{ type: string, default: monday }}
steps:
  - name: step-0
    action: bash/run
    params: {{ command: "echo start {{{{ inputs.day }}}}" }}
"""
STEP = """\
  - name: step-{index}
    action: bash/run
    depends_on: [step-{before}]
    retry: {{ max_attempts: 3 }}
    params: {{ command: "echo {{{{ steps['step-{before}'].output.result }}}}" }}
"""
PYTHON = """\
from datetime import datetime, timedelta
from airflow.sdk import DAG
from airflow.providers.standard.operators.bash import BashOperator

with DAG("flow-{number}", description="Workflow {number}", schedule=None,
         start_date=datetime(2024, 1, 1), params={{"day": "monday"}}) as dag:
    previous = BashOperator(task_id="step-0", bash_command="echo start {{{{ params.day }}}}")
    for index in range(1, {steps}):
        command = f"echo {{{{{{{{ ti.xcom_pull('step-{{index - 1}}') }}}}}}}}"
        task = BashOperator(task_id=f"step-{{index}}", bash_command=command,
                            retries=2, retry_delay=timedelta(seconds=1))
        previous >> task
        previous = task
"""
DAG_FACTORY = """\
flow-{number}:
  description: Workflow {number}
  default_args: {{ owner: airflow, start_date: 2024-01-01 }}
  schedule: null
  params: {{ day: monday }}
  tasks:
    - task_id: step-0
      operator: airflow.providers.standard.operators.bash.BashOperator
      bash_command: "echo start {{{{ params.day }}}}"
"""
DAG_FACTORY_STEP = """\
    - task_id: step-{index}
      operator: airflow.providers.standard.operators.bash.BashOperator
      bash_command: "echo {{{{ ti.xcom_pull('step-{before}') }}}}"
      retries: 2
      dependencies: [step-{before}]
"""
DAG_FACTORY_LOADER = """\
from pathlib import Path
from airflow.sdk import DAG
from dagfactory import load_yaml_dags

load_yaml_dags(globals(), dags_folder=str(Path(__file__).parent))
"""
MANTLE_LOADER = """\
from pathlib import Path
from mantle_provider import load_airflow_dags  # an airflow dag file

globals().update(load_airflow_dags(Path(__file__).parent))
"""

TIMED = """\
import json, sys, time, logging
from pathlib import Path
logging.disable(logging.ERROR)
from airflow.dag_processing.dagbag import DagBag
way, folder, storage = sys.argv[1:]
import airflow.providers.standard.operators.bash, airflow.sdk
folder = Path(folder)
began = time.perf_counter()
if way in ("bundle", "bundle, first time"):
    from mantle_provider.builder.sync import sync_stubs
    sync_stubs(folder, Path(storage), Path(storage).parent / "index.json")
    folder = Path(storage)
bag = DagBag(dag_folder=str(folder), collect_dags=False)
bag.collect_dags(dag_folder=str(folder))
seconds = time.perf_counter() - began
print(json.dumps([seconds, len(bag.dags), list(bag.import_errors.values())]))
"""

WAYS = ("plain Python", "bundle", "bundle, first time", "load_airflow_dags", "dag-factory")


def write_folders(root: Path, count: int) -> dict[str, Path]:
    """Write the same Dags in every way; return way -> folder."""
    folders = {name: root / name for name in ("python", "mantle", "loader", "factory")}
    for folder in folders.values():
        folder.mkdir()
    later = range(1, STEPS)
    for number in range(count):
        workflow = WORKFLOW.format(number=number) + "".join(
            STEP.format(index=index, before=index - 1) for index in later
        )
        factory = DAG_FACTORY.format(number=number) + "".join(
            DAG_FACTORY_STEP.format(index=index, before=index - 1) for index in later
        )
        (folders["python"] / f"flow_{number}.py").write_text(
            PYTHON.format(number=number, steps=STEPS)
        )
        (folders["mantle"] / f"flow-{number}.yaml").write_text(workflow)
        (folders["loader"] / f"flow-{number}.yaml").write_text(workflow)
        (folders["factory"] / f"flow-{number}.yaml").write_text(factory)
    (folders["loader"] / "loader.py").write_text(MANTLE_LOADER)
    (folders["factory"] / "loader.py").write_text(DAG_FACTORY_LOADER)
    return {
        "plain Python": folders["python"],
        "bundle": folders["mantle"],
        "bundle, first time": folders["mantle"],
        "load_airflow_dags": folders["loader"],
        "dag-factory": folders["factory"],
    }


def time_loading(way: str, folder: Path, storage: Path, count: int, home: Path) -> float:
    """Load a folder in a new process and return the seconds it took."""
    environment = {
        **os.environ,
        "AIRFLOW_HOME": str(home),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__CORE__DAGBAG_IMPORT_TIMEOUT": "600",
    }
    finished = subprocess.run(
        [sys.executable, "-c", TIMED, way, str(folder), str(storage)],
        env=environment,
        check=False,
        capture_output=True,
        text=True,
    )
    if finished.returncode != 0:
        raise SystemExit(f"{way} failed:\n{finished.stderr}")
    seconds, dags, errors = json.loads(finished.stdout.splitlines()[-1])
    if dags != count or errors:
        raise SystemExit(f"{way}: {dags} Dags instead of {count}; import errors: {errors[:1]}")
    return float(seconds)


def main() -> None:
    """Time every way in turn and print medians and ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workflows", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        folders = write_folders(root, options.workflows)
        times: dict[str, list[float]] = {way: [] for way in WAYS}
        for number in range(options.rounds):
            for way in reversed(WAYS) if number % 2 else WAYS:
                fresh = root / f"storage-{number}-{way}"
                storage = root / "warm" / "stubs" if way == "bundle" else fresh / "stubs"
                storage.mkdir(parents=True, exist_ok=True)
                if way == "bundle" and number == 0:
                    time_loading(way, folders[way], storage, options.workflows, root)
                times[way].append(time_loading(way, folders[way], storage, options.workflows, root))
    medians = {way: statistics.median(seconds) for way, seconds in times.items()}
    plain = medians["plain Python"]
    factory = medians["dag-factory"]
    print(f"{options.workflows} workflows of {STEPS} steps, median of {options.rounds} rounds")
    for way, seconds in medians.items():
        each = seconds / options.workflows * 1000
        print(
            f"{way:20} {each:6.2f} ms each   {seconds / plain:5.2f} x plain Python   "
            f"{factory / seconds:5.2f} x as fast as dag-factory"
        )


if __name__ == "__main__":
    main()
