"""Parsing reads no Variable, no connection, no network and no clock, whatever a workflow uses."""

from __future__ import annotations

import shutil
import socket
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
from airflow.dag_processing.dagbag import DagBag
from airflow.models.connection import Connection
from airflow.models.variable import Variable
from airflow.sdk.definitions.context import _AIRFLOW_PARSING_CONTEXT_DAG_ID
from airflow.sdk.execution_time import context

from mantle_provider.actions import ACTIONS
from mantle_provider.builder.loader import load_airflow_dags
from mantle_provider.builder.sync import sync_stubs

ROOT = Path(__file__).parents[3]
FOLDERS = (
    ROOT / "dags" / "workflows",
    ROOT / "tests" / "e2e" / "workflows",
    ROOT / "tests" / "cases" / "valid",
)
USER_CODE = (ROOT / "dags", ROOT / "tests" / "e2e" / "support")
CLOCKS = frozenset({"monotonic", "now", "time", "time_ns", "today", "utcnow"})
OWN = """\
name: reads-env
inputs:
  limit: {type: number, default: 1}
triggers:
  - type: cron
    schedule: "0 5 * * *"
    timezone: Europe/Berlin
steps:
  - name: a
    action: bash/run
    params: {command: "echo {{ env.TOKEN }} {{ env.OTHER }} {{ inputs.limit }}"}
"""


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """The folders of all examples and cases, and one with the values of an environment."""
    for path in USER_CODE:
        monkeypatch.syspath_prepend(str(path))
    monkeypatch.setenv("AIRFLOW__MANTLE__ENVIRONMENT", "prod")
    monkeypatch.setenv("AIRFLOW__MANTLE__ENV_FROM_VARIABLES", "True")
    copies = []
    for number, folder in enumerate(FOLDERS):
        copy = tmp_path / str(number)
        shutil.copytree(folder, copy)
        (copy / "values").mkdir(exist_ok=True)
        (copy / "values" / "prod.yaml").write_text("inputs: {limit: 2}\nenv: {token: value}\n")
        copies.append(copy)
    (copies[0] / "reads-env.yaml").write_text(OWN)
    return copies


@contextmanager
def nothing_can_be_read(monkeypatch):
    """Fail on a Variable, a connection and the network; yield the reads of a clock by us."""
    clocks = []

    def refuse(*_, **__):
        pytest.fail("parsing has read a Variable, a connection or the network")

    def watch(frame, event, argument):
        caller, name = frame, getattr(argument, "__name__", "")
        if event == "call":
            caller, name = frame.f_back, frame.f_code.co_name
        if name in CLOCKS and event in ("call", "c_call") and caller is not None:
            module = caller.f_globals.get("__name__", "")
            if module.startswith("mantle_provider"):
                clocks.append(f"{module}: {name}")

    with monkeypatch.context() as patched:
        for place, names in {
            context: ("_get_connection", "_get_variable"),
            Variable: ("get", "get_variable_from_secrets"),
            Connection: ("get_connection_from_secrets",),
            socket: ("getaddrinfo", "create_connection"),
            socket.socket: ("connect",),
        }.items():
            for name in names:
                patched.setattr(place, name, refuse)
        before = sys.getprofile()
        sys.setprofile(watch)
        try:
            yield clocks
        finally:
            sys.setprofile(before)


def actions(dags):
    steps = [getattr(task, "mantle_step", {}) for dag in dags for task in dag.tasks]
    return {step["action"] for step in steps if step.get("action")}


def bundle_dags(folder, storage):
    sync_stubs(folder, storage / "stubs", storage / "index.json")
    bag = DagBag(str(storage / "stubs"), collect_dags=False)
    bag.collect_dags(str(storage / "stubs"))
    return [*bag.dags.values()]


def test_the_bundle_reads_nothing_but_files(folders, tmp_path, monkeypatch):
    dags = []
    with nothing_can_be_read(monkeypatch) as clocks:
        for number, folder in enumerate(folders):
            dags += bundle_dags(folder, tmp_path / f"storage-{number}")
    assert clocks == []
    assert actions(dags) == ACTIONS.keys()
    assert "reads-env" in {dag.dag_id for dag in dags}


def test_the_loader_reads_nothing_but_files(folders, monkeypatch):
    dags = []
    with nothing_can_be_read(monkeypatch) as clocks:
        for folder in folders:
            dags += load_airflow_dags(folder).values()
    assert clocks == []
    assert actions(dags) == ACTIONS.keys()
    assert "reads-env" in {dag.dag_id for dag in dags}


def test_a_task_process_reads_nothing_but_files(folders, tmp_path, monkeypatch):
    bundle_dags(folders[0], tmp_path / "storage")
    monkeypatch.setenv(_AIRFLOW_PARSING_CONTEXT_DAG_ID, "reads-env")
    with nothing_can_be_read(monkeypatch) as clocks:
        loaded = load_airflow_dags(folders[0])
        dags = bundle_dags(folders[0], tmp_path / "storage")
    assert clocks == []
    assert list(loaded) == ["reads-env"]
    assert "reads-env" in {dag.dag_id for dag in dags}


def test_the_watch_would_notice(monkeypatch):
    code = compile("import time\ntime.time()\n", "x", "exec")
    with nothing_can_be_read(monkeypatch) as clocks:
        exec(code, {"__name__": "mantle_provider.x"})
    assert clocks == ["mantle_provider.x: time"]
