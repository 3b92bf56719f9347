"""The same Dags as Mantle YAML, as plain Python and for dag-factory, in folders of their own.

Each Dag is a chain of steps. Every step has two expressions, or in Python two Jinja templates:
one that reads an input, one that reads the step before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

STEPS = 10

_WORKFLOW = """\
name: flow-{number}
description: Workflow {number}
inputs:
  day: {{ type: string, default: monday }}
steps:
  - name: step-0
    action: bash/run
    if: inputs.day != 'sunday'
    params: {{ command: "echo start {{{{ inputs.day }}}}" }}
"""
_STEP = """\
  - name: step-{index}
    action: bash/run
    depends_on: [step-{before}]
    if: inputs.day != 'sunday'
    retry: {{ max_attempts: 3 }}
    params: {{ command: "echo {{{{ default(steps['step-{before}'].output.result, '') }}}}" }}
"""
_PYTHON = """\
from datetime import datetime, timedelta
from airflow.sdk import DAG
from airflow.providers.standard.operators.bash import BashOperator

with DAG("flow-{number}", description="Workflow {number}", schedule=None,
         start_date=datetime(2024, 1, 1), params={{"day": "monday"}}) as dag:
    previous = BashOperator(task_id="step-0", bash_command="echo start {{{{ params.day }}}}")
    for index in range(1, {steps}):
        command = f"echo {{{{{{{{ ti.xcom_pull('step-{{index - 1}}') }}}}}}}}"
        task = BashOperator(task_id=f"step-{{index}}", bash_command=command,
                            env={{"DAY": "{{{{ params.day }}}}"}}, append_env=True,
                            retries=2, retry_delay=timedelta(seconds=1))
        previous >> task
        previous = task
"""
_DAG_FACTORY = """\
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
_DAG_FACTORY_STEP = """\
    - task_id: step-{index}
      operator: airflow.providers.standard.operators.bash.BashOperator
      bash_command: "echo {{{{ ti.xcom_pull('step-{before}') }}}}"
      env: {{ DAY: "{{{{ params.day }}}}" }}
      append_env: true
      retries: 2
      dependencies: [step-{before}]
"""
_DAG_FACTORY_LOADER = """\
from pathlib import Path
from airflow.sdk import DAG
from dagfactory import load_yaml_dags

load_yaml_dags(globals(), dags_folder=str(Path(__file__).parent))
"""
_MANTLE_LOADER = """\
from pathlib import Path
from mantle_provider import load_airflow_dags  # an airflow dag file

globals().update(load_airflow_dags(Path(__file__).parent))
"""


def workflow_text(number: int, steps: int = STEPS) -> str:
    """Return one workflow as YAML."""
    later = (_STEP.format(index=index, before=index - 1) for index in range(1, steps))
    return _WORKFLOW.format(number=number) + "".join(later)


def write_workflows(folder: Path, count: int, steps: int = STEPS) -> Path:
    """Write ``count`` workflow files and return their folder."""
    folder.mkdir(parents=True)
    for number in range(count):
        (folder / f"flow-{number}.yaml").write_text(workflow_text(number, steps))
    return folder


def write_loader(folder: Path, count: int) -> Path:
    """Write the workflows with a Python file that loads them all."""
    write_workflows(folder, count)
    (folder / "loader.py").write_text(_MANTLE_LOADER)
    return folder


def write_python(folder: Path, count: int) -> Path:
    """Write one Python file for each Dag."""
    folder.mkdir(parents=True)
    for number in range(count):
        (folder / f"flow_{number}.py").write_text(_PYTHON.format(number=number, steps=STEPS))
    return folder


def write_dag_factory(folder: Path, count: int) -> Path:
    """Write one YAML file of dag-factory's for each Dag, with the Python file that loads them."""
    folder.mkdir(parents=True)
    for number in range(count):
        text = _DAG_FACTORY.format(number=number) + "".join(
            _DAG_FACTORY_STEP.format(index=index, before=index - 1) for index in range(1, STEPS)
        )
        (folder / f"flow-{number}.yaml").write_text(text)
    (folder / "loader.py").write_text(_DAG_FACTORY_LOADER)
    return folder
