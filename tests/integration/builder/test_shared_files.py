"""What workflows share, through the bundle's stubs and the loader: renewed, and never shown."""

from __future__ import annotations

import json
import os

import pytest
from airflow.dag_processing.dagbag import DagBag
from airflow.sdk.definitions.context import _AIRFLOW_PARSING_CONTEXT_DAG_ID
from airflow.serialization.serialized_objects import DagSerialization

from mantle_provider.builder.loader import load_airflow_dags
from mantle_provider.builder.sync import is_in_line, sync_stubs
from mantle_provider.folder import WorkflowFolder

WORKFLOW = """\
name: flow
steps:
  - <<: !include shared/step.yaml
    name: a
"""
STEP = """\
action: bash/run
params: {command: "echo {{ env.TOKEN }}"}
"""
SECRET = "hidden-value-77"


@pytest.fixture
def folder(tmp_path):
    return Folder(tmp_path)


class Folder:
    def __init__(self, root):
        self.workflows = root / "workflows"
        self.stubs = root / "storage" / "stubs"
        self.index = root / "storage" / "index.json"
        self.write("flow.yaml", WORKFLOW)
        self.write("shared/step.yaml", STEP)

    def write(self, name, text):
        path = self.workflows / name
        path.parent.mkdir(parents=True, exist_ok=True)
        before = path.stat().st_mtime_ns if path.exists() else 0
        path.write_text(text)
        # Two writes may fall into one tick of the file system's clock.
        os.utime(path, ns=(before + 10**9, before + 10**9))

    def sync(self):
        return sync_stubs(self.workflows, self.stubs, self.index).digests

    def load(self):
        self.sync()
        bag = DagBag(dag_folder=str(self.stubs), collect_dags=False)
        bag.collect_dags(dag_folder=str(self.stubs))
        return bag.dags, [*bag.import_errors.values()]


def step_of(dags):
    return dags["flow"].get_task("a").mantle_step


def test_a_stub_needs_no_other_file_of_the_folder(folder):
    folder.sync()
    (folder.workflows / "shared/step.yaml").unlink()
    bag = DagBag(dag_folder=str(folder.stubs), collect_dags=False)
    bag.collect_dags(dag_folder=str(folder.stubs))
    assert (list(bag.dags), bag.import_errors) == (["flow"], {})


def test_a_changed_include_renews_the_stub(folder):
    assert step_of(folder.load()[0])["timeout_seconds"] is None
    folder.write("shared/step.yaml", f"{STEP}timeout: 5s\n")
    assert not is_in_line("flow", folder.workflows, folder.stubs, folder.index)
    assert step_of(folder.load()[0])["timeout_seconds"] == 5
    assert is_in_line("flow", folder.workflows, folder.stubs, folder.index)


def test_a_change_while_the_folder_is_read_is_found_the_next_time(folder, monkeypatch):
    folder.write("defaults.yaml", "step: {timeout: 5s}\n")
    read = WorkflowFolder.read

    def read_and_change(self, path):
        found = read(self, path)
        if path == "defaults.yaml":
            folder.write("defaults.yaml", "step: {timeout: 6s}\n")
        return found

    with monkeypatch.context() as patched:
        patched.setattr(WorkflowFolder, "read", read_and_change)
        assert step_of(folder.load()[0])["timeout_seconds"] == 5
    assert step_of(folder.load()[0])["timeout_seconds"] == 6


def test_an_include_that_goes_is_an_import_error_and_one_that_comes_mends_it(folder):
    (folder.workflows / "shared/step.yaml").unlink()
    dags, [error] = folder.load()
    assert dags == {}
    assert error == (
        "InvalidWorkflowError: \n"
        'flow.yaml:3:18: error: there is no file "shared/step.yaml"; there is no YAML file in '
        "that folder (steps[0]) [missing-include]\n"
        " 3 |   - <<: !include shared/step.yaml\n"
        "   |                  ^^^^^^^^^^^^^^^^"
    )
    folder.write("shared/step.yaml", STEP)
    assert list(folder.load()[0]) == ["flow"]


def test_defaults_that_come_change_and_go_renew_the_stub(folder):
    digests = [folder.sync()]
    for text in ("step: {timeout: 5s}\n", "step: {timeout: 6s}\n"):
        folder.write("defaults.yaml", text)
        digests.append(folder.sync())
    (folder.workflows / "defaults.yaml").unlink()
    digests.append(folder.sync())
    assert [list(item) for item in digests] == [["flow.dag.py"]] * 4
    assert len({item["flow.dag.py"] for item in digests}) == 3
    assert digests[0] == digests[3]


def test_broken_defaults_are_the_import_error_of_each_workflow(folder):
    folder.write("other.yaml", WORKFLOW.replace("flow", "other"))
    folder.write("defaults.yaml", "step: {timeout: soon}\n")
    dags, errors = folder.load()
    assert dags == {}
    assert [error.partition(": error")[0] for error in sorted(errors)] == [
        "InvalidWorkflowError: \ndefaults.yaml:1:17"
    ] * 2


def test_another_environment_renews_the_stubs(folder, monkeypatch):
    folder.write("values/test.yaml", "env: {token: of-the-test}\n")
    folder.write("values/prod.yaml", "env: {token: of-production}\n")
    versions = set()
    for name, value in (("test", "of-the-test"), ("prod", "of-production")):
        monkeypatch.setenv("AIRFLOW__MANTLE__ENVIRONMENT", name)
        [dag] = folder.load()[0].values()
        assert dag.get_task("a").mantle_workflow["env"] == {"TOKEN": value}
        versions.add(dag.get_task("a").mantle_workflow["version"])
    assert len(versions) == 2
    monkeypatch.delenv("AIRFLOW__MANTLE__ENVIRONMENT")
    assert list(folder.sync()) == ["flow.dag.py"]
    assert [path.name for path in folder.stubs.iterdir()] == ["flow.dag.py"]


def test_an_environment_without_a_file_is_an_import_error_that_names_it(folder, monkeypatch):
    monkeypatch.setenv("AIRFLOW__MANTLE__ENVIRONMENT", "prod")
    dags, [error] = folder.load()
    assert dags == {}
    assert error.splitlines()[1] == (
        'flow.yaml:1:1: error: environment "prod" has no values file "values/prod.yaml" '
        "[missing-environment]"
    )
    folder.write("values/prod.yaml", "")
    assert list(folder.load()[0]) == ["flow"]


def test_values_of_an_environment_stand_in_no_code_and_no_serialised_dag(folder, monkeypatch):
    monkeypatch.setenv("AIRFLOW__MANTLE__ENVIRONMENT", "prod")
    folder.write("values/prod.yaml", f"env: {{token: {SECRET}}}\n")
    dags, errors = folder.load()
    assert errors == []
    assert SECRET not in (folder.stubs / "flow.dag.py").read_text()
    assert SECRET not in json.dumps(DagSerialization.to_dict(dags["flow"]))
    assert SECRET not in folder.index.read_text()
    folder.write("values/prod.yaml", f"env: {{token: [{SECRET}]}}\n")
    _, [error] = folder.load()
    assert SECRET not in error


@pytest.mark.parametrize("damage", ["steps: [\n", "steps: []\n"])
def test_values_that_cannot_be_told_from_a_workflow_are_not_shown(folder, damage):
    folder.write("values/prod.yaml", f"env: {{token: {SECRET}}}\n{damage}")
    _, [error] = folder.load()
    assert "values/prod.yaml:" in error
    assert SECRET not in error
    assert SECRET not in (folder.stubs / "broken/values/prod.yaml.py").read_text()


def test_operators_from_other_files_are_looked_at_and_mistakes_shown_there(folder):
    folder.write(
        "shared/step.yaml", "action: airflow/operator\nparams:\n  operator: no.such.Thing\n"
    )
    dags, [error] = folder.load()
    assert dags == {}
    assert error.startswith("InvalidWorkflowError: \nshared/step.yaml:3:13: error: ")
    path = "airflow.providers.standard.operators.bash.BashOperator"
    folder.write(
        "shared/step.yaml",
        f"action: airflow/operator\nparams:\n  operator: {path}\n  bash_command: 'true'\n",
    )
    assert list(folder.load()[0]) == ["flow"]


def test_the_loader_shares_too(folder, monkeypatch):
    monkeypatch.setenv("AIRFLOW__MANTLE__ENVIRONMENT", "prod")
    folder.write("values/prod.yaml", "env: {token: x}\n")
    folder.write("defaults.yaml", "step: {timeout: 5s}\n")
    dags = load_airflow_dags(folder.workflows)
    assert list(dags) == ["flow"]
    assert step_of(dags)["timeout_seconds"] == 5
    assert dags["flow"].get_task("a").mantle_workflow["env"] == {"TOKEN": "x"}


def test_a_task_process_finds_a_dag_whose_name_another_file_gives(folder, monkeypatch):
    folder.write("shared/name.yaml", "from-elsewhere\n")
    folder.write("other.yaml", WORKFLOW.replace("name: flow", "name: !include shared/name.yaml"))
    monkeypatch.setenv(_AIRFLOW_PARSING_CONTEXT_DAG_ID, "from-elsewhere")
    assert "from-elsewhere" in load_airflow_dags(folder.workflows)
