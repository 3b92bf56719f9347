"""The same file makes the same Dag version, whatever process reads it (user-reports K5 to K8)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
EXAMPLES = ROOT / "dags" / "workflows"

HASHES = """\
import sys
from airflow.models.serialized_dag import SerializedDagModel
from airflow.serialization.serialized_objects import DagSerialization
from mantle_provider import load_airflow_dags
for name, dag in sorted(load_airflow_dags(sys.argv[1]).items()):
    dag.fileloc = dag.relative_fileloc = "x"
    print("hash", name, SerializedDagModel.hash(DagSerialization.to_dict(dag)))
"""


def hashes(folder, seed):
    finished = subprocess.run(
        [sys.executable, "-c", HASHES, str(folder)],
        env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT / "dags")},
        capture_output=True,
        text=True,
        check=True,
    )
    return [line for line in finished.stdout.splitlines() if line.startswith("hash ")]


@pytest.fixture(scope="module")
def first():
    return hashes(EXAMPLES, "1")


def test_examples_have_the_same_version_under_another_hash_seed(first):
    assert len(first) == len(list(EXAMPLES.glob("*.yaml")))
    assert hashes(EXAMPLES, "2") == first


def test_comments_and_the_order_of_keys_make_no_version(first, tmp_path):
    for path in EXAMPLES.glob("*.yaml"):
        text = path.read_text().replace("\nsteps:", "\n# a comment\nsteps:")
        (tmp_path / path.name).write_text(text)
    assert hashes(tmp_path, "1") == first
