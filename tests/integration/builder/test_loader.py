"""Loading a folder from one Python file: placeholders for broken files, one Dag in a task."""

from __future__ import annotations

import os
import sys

import pytest
from airflow.sdk.definitions.context import _AIRFLOW_PARSING_CONTEXT_DAG_ID
from airflow.sdk.exceptions import AirflowFailException

from mantle_provider import load_airflow_dags

GOOD = """\
name: {name}
steps:
  - name: a
    action: bash/run
    params: {{ command: "true" }}
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "good.yaml").write_text(GOOD.format(name="good"))
    (tmp_path / "broken.yaml").write_text("name: broken\nsteps: []\n")
    (tmp_path / "other.yaml").write_text("a: 1\n")
    return tmp_path


def test_a_broken_file_becomes_a_placeholder_beside_the_good_ones(folder):
    dags = load_airflow_dags(folder)
    assert sorted(dags) == ["broken-workflow.broken.yaml", "good"]
    placeholder = dags["broken-workflow.broken.yaml"]
    assert "broken.yaml:2:8: error: " in placeholder.doc_md
    assert placeholder.tags == {"broken-workflow"}


def test_each_broken_file_has_a_placeholder_of_its_own(tmp_path, monkeypatch):
    names = ("team/flow.yaml", "team-flow.yaml", "team flow.yaml", "team!flow.yaml")
    for name in (*names, f"{'long' * 50}/{'name' * 50}.yaml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("steps: [\n")
    dags = load_airflow_dags(tmp_path)
    assert len(dags) == 5
    assert {"broken-workflow.team--flow.yaml", "broken-workflow.team-flow.yaml"} < dags.keys()
    for dag_id in dags:
        monkeypatch.setenv(_AIRFLOW_PARSING_CONTEXT_DAG_ID, dag_id)
        assert list(load_airflow_dags(tmp_path)) == [dag_id]


def test_a_placeholder_cannot_run_green(folder):
    task = load_airflow_dags(folder)["broken-workflow.broken.yaml"].get_task("invalid_workflow")
    assert task.retries == 0
    with pytest.raises(AirflowFailException) as caught:
        task.execute({})
    assert str(caught.value).startswith(
        "this workflow file is not valid:\nbroken.yaml:2:8: error: "
    )


def test_an_operator_that_cannot_be_a_step_makes_a_placeholder(tmp_path):
    text = GOOD.format(name="a").replace("bash/run", "airflow/operator")
    (tmp_path / "a.yaml").write_text(text.replace("command:", "operator: no.such.Operator #"))
    (tmp_path / "a.yaml").write_text(
        "name: a\nsteps:\n  - name: s\n    action: airflow/operator\n"
        "    params: { operator: no.such.Operator }\n"
    )
    assert list(load_airflow_dags(tmp_path)) == ["broken-workflow.a.yaml"]


def test_the_second_file_of_a_name_becomes_a_placeholder(tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.yaml").write_text(GOOD.format(name="same"))
    dags = load_airflow_dags(tmp_path)
    assert sorted(dags) == ["broken-workflow.b.yaml", "same"]
    assert "note: a.yaml:1:7: first used here" in dags["broken-workflow.b.yaml"].doc_md


def test_a_task_process_builds_only_the_dag_it_asks_for(folder, monkeypatch):
    (folder / "more.yaml").write_text(GOOD.format(name="more"))
    monkeypatch.setenv(_AIRFLOW_PARSING_CONTEXT_DAG_ID, "more")
    assert list(load_airflow_dags(folder)) == ["more"]


def test_a_task_process_leaves_alone_who_only_mentions_its_dag(folder, monkeypatch):
    text = GOOD.format(name="caller").replace('"true"', "run good !include x")
    (folder / "caller.yaml").write_text(text)
    (folder / "mention.yaml").write_text(text.replace("name: caller", '"name": "mention"'))
    monkeypatch.setenv(_AIRFLOW_PARSING_CONTEXT_DAG_ID, "good")
    assert list(load_airflow_dags(folder)) == ["good"]


def test_a_task_process_finds_its_dag_however_its_name_is_written(folder, monkeypatch):
    (folder / "escaped.yaml").write_text(GOOD.format(name=r'"esc\x61ped"'))
    monkeypatch.setenv(_AIRFLOW_PARSING_CONTEXT_DAG_ID, "escaped")
    assert list(load_airflow_dags(folder)) == ["escaped"]


def test_a_task_process_finds_the_placeholder_of_the_second_file_of_a_name(tmp_path, monkeypatch):
    for name in ("a", "b"):
        (tmp_path / f"{name}.yaml").write_text(GOOD.format(name="same"))
    monkeypatch.setenv(_AIRFLOW_PARSING_CONTEXT_DAG_ID, "broken-workflow.b.yaml")
    assert list(load_airflow_dags(tmp_path)) == ["broken-workflow.b.yaml"]


def test_a_task_process_waits_for_no_pipe(folder, monkeypatch):
    os.mkfifo(folder / "pipe.yaml")
    monkeypatch.setenv(_AIRFLOW_PARSING_CONTEXT_DAG_ID, "good")
    assert list(load_airflow_dags(folder)) == ["good"]


def test_a_task_process_finds_the_placeholder_it_asks_for(folder, monkeypatch):
    monkeypatch.setenv(_AIRFLOW_PARSING_CONTEXT_DAG_ID, "broken-workflow.broken.yaml")
    assert list(load_airflow_dags(folder)) == ["broken-workflow.broken.yaml"]


def test_workflows_can_name_python_code_beside_them(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", sys.path[:])
    (tmp_path / "own_operators.py").write_text(
        "from airflow.sdk import BaseOperator\nclass Own(BaseOperator): pass\n"
    )
    (tmp_path / "a.yaml").write_text(
        "name: a\nsteps:\n  - name: s\n    action: airflow/operator\n"
        "    params: { operator: own_operators.Own }\n"
    )
    assert list(load_airflow_dags(tmp_path)) == ["a"]


def test_a_folder_that_does_not_exist_is_an_error(tmp_path):
    with pytest.raises(NotADirectoryError) as caught:
        load_airflow_dags(tmp_path / "nothing")
    assert str(caught.value) == f'"{tmp_path / "nothing"}" is no folder of workflows'
