"""The same file makes the same Dag version, whatever process reads it (user-reports K5 to K8)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from airflow.dag_processing.dagbag import DagBag

from mantle_provider.actions import ACTIONS
from mantle_provider.builder.sync import sync_stubs

ROOT = Path(__file__).parents[3]
EXAMPLES = ROOT / "dags" / "workflows"
FOLDERS = (EXAMPLES, ROOT / "tests" / "e2e" / "workflows", ROOT / "tests" / "cases" / "valid")
USER_CODE = (ROOT / "dags", ROOT / "tests" / "e2e" / "support")
PARSES = 50

LOADER = """\
import sys
from pathlib import Path
from mantle_provider import load_airflow_dags
dags = [dag for folder in sys.argv[1:] for dag in load_airflow_dags(folder).values()]
"""
BUNDLE = """\
import sys, tempfile
from pathlib import Path
from airflow.dag_processing.dagbag import DagBag
from mantle_provider.builder.sync import sync_stubs
dags = []
for folder in sys.argv[1:]:
    storage = Path(tempfile.mkdtemp())
    sync_stubs(Path(folder), storage / "stubs", storage / "index.json")
    bag = DagBag(str(storage / "stubs"), collect_dags=False)
    bag.collect_dags(str(storage / "stubs"))
    dags += bag.dags.values()
"""
PRINT = """\
from airflow.models.serialized_dag import SerializedDagModel
from airflow.serialization.serialized_objects import DagSerialization
for dag in dags:
    dag.fileloc = dag.relative_fileloc = "x"
    print("hash", dag.dag_id, SerializedDagModel.hash(DagSerialization.to_dict(dag)))
    for task in dag.tasks:
        if action := getattr(task, "mantle_step", {}).get("action"):
            print("action", action)
"""


def printed(code, word, folders, seed):
    """Run code in a process of its own and return what it has printed after a word, sorted."""
    finished = subprocess.run(
        [sys.executable, "-c", code + PRINT, *map(str, folders)],
        env={
            **os.environ,
            "PYTHONHASHSEED": seed,
            "PYTHONPATH": os.pathsep.join([str(ROOT), *map(str, USER_CODE)]),
        },
        capture_output=True,
        text=True,
        check=True,
    )
    lines = (line.partition(" ") for line in finished.stdout.splitlines())
    return sorted(text for first, _, text in lines if first == word)


@pytest.fixture(scope="module")
def first():
    return printed(LOADER, "hash", FOLDERS, "1")


def test_workflows_have_the_same_version_under_another_hash_seed(first):
    assert printed(LOADER, "hash", FOLDERS, "2") == first


def test_these_workflows_take_every_action_and_start_children():
    actions = set(printed(LOADER, "action", FOLDERS, "1"))
    assert actions == set(ACTIONS)
    assert "workflow/run" in actions


def test_comments_make_no_version(tmp_path):
    for path in EXAMPLES.glob("*.yaml"):
        text = path.read_text().replace("\nsteps:", "\n# a comment\nsteps:")
        (tmp_path / path.name).write_text(text)
    expected = printed(LOADER, "hash", [EXAMPLES], "1")
    assert len(expected) == len(list(EXAMPLES.glob("*.yaml")))
    assert printed(LOADER, "hash", [tmp_path], "1") == expected


def test_the_bundle_makes_the_same_versions_as_the_loader(tmp_path):
    folder = FOLDERS[1]
    assert printed(BUNDLE, "hash", [folder], "3") == printed(LOADER, "hash", [folder], "4")


@pytest.mark.airflow
def test_fifty_parses_make_one_version_of_each_dag(tmp_path, session):
    from airflow.models.dag_version import DagVersion
    from airflow.models.dagbundle import DagBundleModel
    from airflow.models.serialized_dag import SerializedDagModel
    from airflow.serialization.definitions.dag import SerializedDAG
    from airflow.serialization.serialized_objects import LazyDeserializedDAG
    from sqlalchemy import select

    stubs = tmp_path / "stubs"
    sync_stubs(EXAMPLES, stubs, tmp_path / "index.json")
    session.merge(DagBundleModel(name="mantle"))
    session.flush()
    for number in range(PARSES):
        bag = DagBag(str(stubs), collect_dags=False)
        bag.collect_dags(str(stubs))
        SerializedDAG.bulk_write_to_db("mantle", None, bag.dags.values(), session=session)
        for dag in bag.dags.values():
            SerializedDagModel.write_dag(
                LazyDeserializedDAG.from_dag(dag), bundle_name="mantle", session=session
            )
            session.flush()
            if number == 0:
                # Airflow replaces a version that no run has used.
                start_run(SerializedDagModel.get_dag(dag.dag_id, session=session), session)
    found = session.scalars(select(DagVersion.dag_id).where(DagVersion.bundle_name == "mantle"))
    assert sorted(found) == sorted(bag.dags)


def start_run(dag, session):
    from datetime import datetime, timezone

    from airflow.utils.state import DagRunState
    from airflow.utils.types import DagRunTriggeredByType, DagRunType

    dag.create_dagrun(
        run_id="run",
        run_after=datetime.now(timezone.utc),
        run_type=DagRunType.MANUAL,
        triggered_by=DagRunTriggeredByType.TEST,
        state=DagRunState.RUNNING,
        session=session,
    )
