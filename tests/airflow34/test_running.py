"""Workflows in the plain Dags folder of a real Airflow 3.4: no Python file, no bundle of ours."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

pytest.importorskip("airflow.sdk.importers", reason="needs Airflow 3.4")
sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))

from local_airflow import LocalAirflow

pytestmark = pytest.mark.e2e

SECONDS = 180
WORKFLOW = """\
name: greeting
steps:
  - name: greet
    action: bash/run
    params: { command: echo "hello" }
hooks:
  on_finish:
    - name: tell
      action: bash/run
      params: { command: 'echo "{{ execution.status }}"' }
"""
IMPORTERS = [{"classpath": "mantle_provider.builder.importer.MantleDagImporter"}]


@pytest.fixture(scope="module")
def airflow(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dags")
    (folder / "greeting.yaml").write_text(WORKFLOW)
    (folder / "broken.yaml").write_text(WORKFLOW.replace("action", "acton", 1))
    bundle = {
        "name": "dags-folder",
        "classpath": "airflow.dag_processing.bundles.local.LocalDagBundle",
        "kwargs": {"path": str(folder)},
    }
    settings = {"AIRFLOW__DAG_PROCESSOR__DAG_IMPORTER_CONFIGS": json.dumps(IMPORTERS)}
    home = tmp_path_factory.mktemp("airflow") / "home"
    with LocalAirflow(home, bundles=[bundle], settings=settings) as airflow:
        yield airflow


def test_a_workflow_of_the_dags_folder_runs_with_its_hook(airflow):
    client = airflow.client
    airflow.wait(
        client.dag_ids, "the Dag", seconds=SECONDS, is_good=lambda dag_ids: "greeting" in dag_ids
    )
    client.unpause("greeting")
    run_id = client.trigger("greeting")
    state = airflow.wait(
        lambda: client.run_state("greeting", run_id),
        "the run to end",
        seconds=SECONDS,
        is_good={"success", "failed"}.__contains__,
    )
    assert state == "success"
    output = client.xcoms("greeting", run_id, "on_finish.tell")["return_value"]
    assert output == {"result": "completed"}


def test_the_code_tab_shows_the_yaml(airflow):
    airflow.wait(
        airflow.client.dag_ids,
        "the Dag",
        seconds=SECONDS,
        is_good=lambda dag_ids: "greeting" in dag_ids,
    )
    assert airflow.client.call("/api/v2/dagSources/greeting")["content"] == WORKFLOW


def test_a_broken_workflow_is_an_import_error_of_its_own(airflow):
    errors = airflow.wait(airflow.client.import_errors, "the import error", seconds=SECONDS)
    assert list(errors) == ["broken.yaml"]
    first_line = errors["broken.yaml"].partition("\n")[0]
    assert first_line == (
        'broken.yaml:4:5: error: unknown key "acton" in step; did you mean "action"? '
        "(steps[0].acton) [unknown-key]"
    )
