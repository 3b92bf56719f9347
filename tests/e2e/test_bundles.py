"""Bundles of many files and of several versions, in an Airflow of their own.

Each test leaves the files as it found them.
"""

from __future__ import annotations

import subprocess

import pytest

pytestmark = pytest.mark.e2e

SECONDS = 240
FILES = 200
BROKEN = (17, 80, 163)
QUIET = """\
name: quiet-{number}
steps:
  - name: greet
    action: bash/run
    params: {{ command: echo "hello" }}
"""
EDITED = """\
name: {name}
steps:
  - name: wait
    action: bash/run
    params: {{ command: "until [ -e {signal} ]; do sleep 0.2; done" }}
hooks:
  on_finish:
    - name: {hook}
      action: bash/run
      params: {{ command: "echo {hook}" }}
"""


REFUSED = """\
name: refused
steps:
  - name: wait
    action: bash/run
    params: {{ command: "touch {signal}.at-work; until [ -e {signal} ]; do sleep 0.2; done" }}
  - name: after
    action: bash/run
    depends_on: [wait]
    params: {{ command: "echo {text}" }}
hooks:
  on_failure:
    - name: tell
      action: bash/run
      params: {{ command: "echo '{{{{ steps.after.failure.type }}}}'" }}
"""


class Folder:
    """A folder whose files are in the bundle as soon as they are written."""

    classpath = "mantle_provider.builder.bundle.MantleDagBundle"
    bundle_options = property(lambda self: {"path": str(self.path)})

    def __init__(self, name, path):
        self.name = name
        self.path = path
        path.mkdir()

    def write(self, name, text):
        (self.path / name).write_text(text)

    def remove(self, name):
        (self.path / name).unlink()


class Repository(Folder):
    """A bare git repository with a clone from which each change is pushed at once."""

    def __init__(self, name, path):
        super().__init__(name, path)
        self.bare = path.with_suffix(".git")
        self._git("init", "--quiet", "--bare", "--initial-branch=main", str(self.bare))
        self._git("init", "--quiet", "--initial-branch=main")

    @property
    def bundle_options(self):
        inner = {
            "classpath": "airflow.providers.git.bundles.git.GitDagBundle",
            "kwargs": {"repo_url": str(self.bare), "tracking_ref": "main"},
        }
        return {"inner": inner}

    def write(self, name, text):
        super().write(name, text)
        self._git("add", "--all")
        self._git("commit", "--quiet", "--message=change")
        self._git("push", "--quiet", str(self.bare), "main")

    def _git(self, *arguments):
        identity = ("-c", "user.name=test", "-c", "user.email=test@example.com")
        subprocess.run(["git", *identity, *arguments], cwd=self.path, check=True)


class Loaded(Folder):
    """A folder without versions: a Python file in it loads what stands beside it."""

    classpath = "airflow.dag_processing.bundles.local.LocalDagBundle"

    def __init__(self, name, path):
        super().__init__(name, path)
        self.write(
            "load.py",
            "from mantle_provider import load_airflow_dags\n\n"
            f"globals().update(load_airflow_dags({str(path)!r}))\n",
        )


class Bundles:
    """The running Airflow and the folders that its bundles read."""

    def __init__(self, airflow, folders):
        self.airflow = airflow
        self.client = airflow.client
        self.folders = {folder.name: folder for folder in folders}
        self.many = self.folders["many"]

    def until(self, ask, what, is_good):
        return self.airflow.wait(ask, what, seconds=SECONDS, is_good=is_good)

    def until_quiet(self, numbers, broken):
        """Wait until those Dags, and those import errors, are all that the many files make."""
        dag_ids = {f"quiet-{number}" for number in numbers}
        expected = dag_ids, {f"broken/w{number}.yaml.py" for number in broken}
        self.until(self.quiet, f"{len(dag_ids)} Dags", lambda seen: seen == expected)

    def quiet(self):
        dag_ids = {dag_id for dag_id in self.client.dag_ids() if dag_id.startswith("quiet-")}
        return dag_ids, set(self.client.import_errors())

    def until_ended(self, dag_id, run_id):
        """Wait until a run has ended, and return its state."""
        return self.until(
            lambda: self.client.run_state(dag_id, run_id),
            f"a run of {dag_id}",
            {"success", "failed"}.__contains__,
        )

    def versions(self, dag_id):
        answer = self.client.call(f"/api/v2/dags/{dag_id}/dagVersions")
        return [version["version_number"] for version in answer["dag_versions"]]

    def tasks(self, dag_id):
        """Return the task ids of a Dag as Airflow has stored it last."""
        answer = self.client.call(f"/api/v2/dags/{dag_id}/tasks")
        return {task["task_id"] for task in answer["tasks"]}


@pytest.fixture(scope="module")
def bundles(tmp_path_factory, airflow_class):
    root = tmp_path_factory.mktemp("bundles")
    folders = [
        Folder("many", root / "many"),
        Folder("content", root / "content"),
        Repository("git", root / "git"),
        Loaded("loaded", root / "loaded"),
    ]
    for number in range(FILES):
        folders[0].write(f"w{number}.yaml", text(number, is_broken=number in BROKEN))
    for folder in folders[1:]:
        folder.write("quiet.yaml", QUIET.format(number=folder.name))
    configuration = [
        {
            "name": folder.name,
            "classpath": folder.classpath,
            "kwargs": folder.bundle_options,
        }
        for folder in folders
    ]
    home = tmp_path_factory.mktemp("airflow") / "home"
    # A bundle with versions never changes the version of a run, so this refuses nothing there.
    settings = {"AIRFLOW__MANTLE__ON_VERSION_CHANGE": "fail"}
    with airflow_class(home, bundles=configuration, settings=settings) as airflow:
        yield Bundles(airflow, folders)


def text(number, *, is_broken=False):
    good = QUIET.format(number=number)
    return good.replace("action", "acton") if is_broken else good


GOOD = [number for number in range(FILES) if number not in BROKEN] + ["content", "git", "loaded"]


def test_each_broken_file_of_many_is_an_import_error_that_names_its_line(bundles):
    bundles.until_quiet(GOOD, BROKEN)
    errors = bundles.client.import_errors()
    lines = {name: error.partition("\n")[2].partition("\n")[0] for name, error in errors.items()}
    assert lines == {
        f"broken/w{number}.yaml.py": f'w{number}.yaml:4:5: error: unknown key "acton" in step; '
        'did you mean "action"? (steps[0].acton) [unknown-key]'
        for number in BROKEN
    }


def test_a_broken_edit_keeps_the_others_and_a_fix_clears_it(bundles):
    bundles.until_quiet(GOOD, BROKEN)
    bundles.many.write("w5.yaml", text(5, is_broken=True))
    bundles.until_quiet([number for number in GOOD if number != 5], [*BROKEN, 5])
    bundles.many.write("w5.yaml", text(5))
    bundles.until_quiet(GOOD, BROKEN)


def test_a_deleted_file_takes_its_dag_or_its_import_error_with_it(bundles):
    bundles.until_quiet(GOOD, BROKEN)
    for number in (6, 17):
        bundles.many.remove(f"w{number}.yaml")
    bundles.until_quiet([number for number in GOOD if number != 6], BROKEN[1:])
    for number in (6, 17):
        bundles.many.write(f"w{number}.yaml", text(number, is_broken=number in BROKEN))
    bundles.until_quiet(GOOD, BROKEN)


@pytest.mark.parametrize("kind", ["content", "git"])
def test_a_run_keeps_its_hooks_when_its_file_is_edited(bundles, kind, tmp_path):
    folder, name, signal = bundles.folders[kind], f"edited-{kind}", tmp_path / "signal"
    run_id = start(bundles, folder, name, EDITED.format(name=name, signal=signal, hook="first"))
    until_state(bundles, name, run_id, "wait", "running")
    folder.write("edited.yaml", EDITED.format(name=name, signal=signal, hook="second"))
    bundles.until(
        lambda: bundles.tasks(name), "the edit", lambda tasks: "on_finish.second" in tasks
    )
    signal.touch()
    assert hooks_of_ended_run(bundles, name, run_id) == {"on_finish.first": "success"}
    output = bundles.client.xcoms(name, run_id, "on_finish.first")["return_value"]
    assert output == {"result": "first"}
    second_run_id = bundles.client.trigger(name)
    assert hooks_of_ended_run(bundles, name, second_run_id) == {"on_finish.second": "success"}
    assert sorted(bundles.versions(name)) == [1, 2]


@pytest.mark.parametrize("harm", ["broken", "deleted"])
def test_a_run_waits_while_its_file_is_lost_and_goes_on_once_it_is_mended(bundles, harm, tmp_path):
    folder, name, signal = bundles.folders["content"], f"lost-{harm}", tmp_path / "signal"
    text = EDITED.format(name=name, signal=signal, hook="first")
    run_id = start(bundles, folder, name, text)
    until_state(bundles, name, run_id, "wait", "running")
    if harm == "broken":
        folder.write("edited.yaml", text.replace("action", "acton"))
    else:
        folder.remove("edited.yaml")
    bundles.until(bundles.client.dag_ids, "the loss", lambda dag_ids: name not in dag_ids)
    signal.touch()
    until_state(bundles, name, run_id, "wait", "success")
    folder.write("edited.yaml", text)
    assert hooks_of_ended_run(bundles, name, run_id) == {"on_finish.first": "success"}


@pytest.mark.parametrize("kind", ["content", "git"])
def test_a_run_outlives_that_its_file_moves(bundles, kind, tmp_path):
    folder, name, signal = bundles.folders[kind], f"moved-{kind}", tmp_path / "signal"
    run_id = start(bundles, folder, name, EDITED.format(name=name, signal=signal, hook="first"))
    until_state(bundles, name, run_id, "wait", "running")
    folder.remove("edited.yaml")
    folder.write("moved.yaml", EDITED.format(name=name, signal=signal, hook="second"))
    bundles.until(
        lambda: bundles.tasks(name), "the edit", lambda tasks: "on_finish.second" in tasks
    )
    signal.touch()
    assert hooks_of_ended_run(bundles, name, run_id) == {"on_finish.first": "success"}
    folder.remove("moved.yaml")


def test_without_versions_a_run_is_refused_to_go_on_under_another(bundles, tmp_path):
    folder, signal = bundles.folders["loaded"], tmp_path / "signal"
    run_id = start(bundles, folder, "refused", REFUSED.format(signal=signal, text="old"))
    # A running task has not always read its file yet.
    at_work = tmp_path / "signal.at-work"
    bundles.until(at_work.exists, "the first step to be at work", bool)
    folder.write("edited.yaml", REFUSED.format(signal=signal, text="new"))
    signal.touch()
    assert bundles.until_ended("refused", run_id) == "failed"
    states = bundles.client.task_states("refused", run_id)
    assert (states["wait"], states["after"]) == ("success", "failed")
    output = bundles.client.xcoms("refused", run_id, "on_failure.tell")["return_value"]
    assert output == {"result": "VersionChanged"}


def test_parsing_again_in_new_processes_makes_no_version(bundles, tmp_path):
    folder, name, signal = bundles.folders["content"], "parsed-often", tmp_path / "signal"
    signal.touch()
    text = EDITED.format(name=name, signal=signal, hook="first")
    run_id = start(bundles, folder, name, text)
    hooks_of_ended_run(bundles, name, run_id)
    for number in range(2):
        # A comment makes a version of the bundle, none of the Dag.
        folder.write("edited.yaml", f"{text}# edit {number}\n")
        bundles.until(
            lambda: bundles.client.call(f"/api/v2/dagSources/{name}")["content"],
            f"edit {number}",
            lambda source, number=number: f"# edit {number}\n" in source,
        )
        bundles.airflow.run_once("dags", "reserialize")
        bundles.airflow.kill_component("dag-processor")
        bundles.airflow.start_component("dag-processor")
    assert bundles.versions(name) == [1]


def start(bundles, folder, name, text):
    """Write a workflow, wait until it is a Dag, and start a run of it."""
    folder.write("edited.yaml", text)
    bundles.until(bundles.client.dag_ids, f"the Dag {name}", lambda dag_ids: name in dag_ids)
    bundles.client.unpause(name)
    return bundles.client.trigger(name)


def until_state(bundles, name, run_id, task_id, state):
    bundles.until(
        lambda: bundles.client.task_states(name, run_id)[task_id],
        f"{task_id} to be {state}",
        lambda seen: seen == state,
    )


def hooks_of_ended_run(bundles, name, run_id):
    """Return hook -> state of a run that has succeeded, or is about to."""
    assert bundles.until_ended(name, run_id) == "success"
    states = bundles.client.task_states(name, run_id)
    return {task: state for task, state in states.items() if task.startswith("on_finish.")}
