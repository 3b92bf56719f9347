"""The bundle's versions: a run keeps the graph it started with."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest
from airflow.dag_processing.bundles.base import (
    BundleUsageTrackingManager,
    BundleVersion,
    TrackedBundleVersionInfo,
)
from airflow.sdk.definitions.context import _AIRFLOW_PARSING_CONTEXT_DAG_ID

from mantle_provider.builder.bundle import MantleDagBundle
from mantle_provider.errors import ConfigurationError

WORKFLOW = """\
name: {name}
steps:
  - name: a
    action: bash/run
    params: {{ command: "echo {text}" }}
"""
DAY_SECONDS = 86_400


class Machine:
    """One machine's folder of workflows and storage of bundles."""

    def __init__(self, root, monkeypatch):
        self.workflows = root / "workflows"
        self.workflows.mkdir(parents=True)
        self.storage = root / "storage"
        self._monkeypatch = monkeypatch

    def write(self, name, text="first"):
        (self.workflows / f"{name}.yaml").write_text(WORKFLOW.format(name=name, text=text))

    def bundle(self, version=None, **kwargs):
        option = "AIRFLOW__DAG_PROCESSOR__DAG_BUNDLE_STORAGE_PATH"
        self._monkeypatch.setenv(option, str(self.storage))
        source = kwargs or {"path": str(self.workflows)}
        bundle = MantleDagBundle(name="mantle", version=version, **source)
        bundle.initialize()
        return bundle

    def version(self):
        return self.bundle().get_current_version().version


@pytest.fixture(autouse=True)
def import_path(monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))


@pytest.fixture
def machine(tmp_path, monkeypatch):
    return Machine(tmp_path / "machine", monkeypatch)


def commands(bundle):
    """Return name of each stub -> what its step prints."""
    return {
        path.relative_to(bundle.path).as_posix(): path.read_text()
        .partition("echo ")[2]
        .split('"')[0]
        for path in bundle.path.rglob("*.py")
    }


def test_a_version_keeps_its_stubs_when_files_change_and_go(machine):
    machine.write("a")
    machine.write("b")
    first = machine.version()
    machine.write("a", "second")
    (machine.workflows / "b.yaml").unlink()
    second = machine.version()
    assert commands(machine.bundle(first)) == {"a.dag.py": "first", "b.dag.py": "first"}
    assert commands(machine.bundle(second)) == {"a.dag.py": "second"}
    assert commands(machine.bundle()) == {"a.dag.py": "second"}


def test_the_version_of_a_bundle_follows_from_what_its_files_say(machine, tmp_path, monkeypatch):
    other = Machine(tmp_path / "other", monkeypatch)
    for place in (machine, other):
        place.write("a")
    first = machine.version()
    assert first == other.version()
    machine.write("a", "other")
    assert machine.version() != first
    machine.write("a")
    assert machine.version() == first
    assert machine.bundle(first).get_current_version() == BundleVersion(first)


def test_stubs_that_versions_have_in_common_are_stored_once(machine):
    machine.write("a")
    machine.write("b")
    first = machine.bundle(machine.version()).path
    machine.write("b", "second")
    second = machine.bundle(machine.version()).path
    assert (first / "a.dag.py").samefile(second / "a.dag.py")
    assert not (first / "b.dag.py").samefile(second / "b.dag.py")


def test_a_machine_finds_versions_of_another_one_in_a_shared_storage(
    machine, tmp_path, monkeypatch
):
    monkeypatch.setenv("AIRFLOW__MANTLE__BUNDLE_STORAGE", str(tmp_path / "shared"))
    machine.write("a")
    version = machine.version()
    other = Machine(tmp_path / "other", monkeypatch)
    assert commands(other.bundle(version)) == {"a.dag.py": "first"}


def test_a_machine_without_the_storage_makes_a_version_from_the_same_files(
    machine, tmp_path, monkeypatch, caplog
):
    machine.write("a")
    version = machine.version()
    other = Machine(tmp_path / "other", monkeypatch)
    other.write("a")
    bundle = other.bundle(version)
    assert commands(bundle) == {"a.dag.py": "first"}
    assert bundle.path.name == version
    assert caplog.messages == []


def test_a_lost_version_is_replaced_by_the_files_of_now_with_a_warning(machine, caplog):
    machine.write("a", "now")
    now = machine.version()
    bundle = machine.bundle("lost")
    assert commands(bundle) == {"a.dag.py": "now"}
    assert caplog.messages == [
        "The workflows of bundle mantle at version lost are not in [mantle] bundle_storage; "
        f"taking those that are there now, version {now}"
    ]


def test_versions_not_used_for_long_are_removed(machine):
    machine.write("a")
    machine.version()
    machine.write("a", "second")
    used = machine.bundle(machine.version())
    long_ago = time.time() - 31 * DAY_SECONDS
    for folder in used.path.parents[2].glob("*/versions/*"):
        os.utime(folder, (long_ago, long_ago))
    machine.bundle(used.version)
    machine.write("a", "third")
    current = machine.bundle(machine.version())
    assert sorted(path.name for path in current.path.parent.iterdir()) == sorted(
        [used.version, current.version]
    )
    stored = [path.read_text() for path in (current.path.parents[2] / "files").iterdir()]
    # A stub of each, and the workflow that it follows from.
    assert sorted(text.partition("echo ")[2].split('"')[0] for text in stored) == [
        "second",
        "second",
        "third",
        "third",
    ]


def test_days_to_keep_versions_are_a_setting(machine, monkeypatch):
    monkeypatch.setenv("AIRFLOW__MANTLE__BUNDLE_STORAGE_DAYS", "90")
    machine.write("a")
    first = machine.bundle(machine.version())
    long_ago = time.time() - 31 * DAY_SECONDS
    os.utime(first.path, (long_ago, long_ago))
    machine.write("a", "second")
    machine.bundle()
    assert first.path.is_dir()


def test_another_version_of_the_package_makes_the_stubs_of_old_versions_anew(machine, monkeypatch):
    (machine.workflows / "shared.yaml").write_text("echo first")
    workflow = WORKFLOW.format(name="a", text="").replace('"echo "', "!include shared.yaml")
    (machine.workflows / "a.yaml").write_text(workflow)
    version = machine.version()
    (machine.workflows / "shared.yaml").write_text("echo second")
    before = machine.bundle(version).path
    for module in ("sync", "versions"):
        monkeypatch.setattr(f"mantle_provider.builder.{module}.__version__", "99")
    after = machine.bundle(version).path
    assert after != before
    assert commands(machine.bundle(version)) == {"a.dag.py": "first"}
    assert (after / "a.dag.py").read_text() == (before / "a.dag.py").read_text()


def test_airflow_can_forget_a_version_that_a_run_may_still_need(machine, tmp_path):
    machine.write("a")
    version = machine.version()
    bundle = machine.bundle(version)
    lock_file = tmp_path / version
    lock_file.touch()
    info = TrackedBundleVersionInfo(lock_file, version, dt=None)
    BundleUsageTrackingManager._remove_stale_bundle("mantle", info)
    assert not lock_file.exists()
    assert commands(bundle) == {"a.dag.py": "first"}


def test_a_task_looks_at_no_workflow_but_its_own(machine, monkeypatch):
    machine.write("a")
    machine.write("b")
    machine.bundle()
    machine.write("b", "second")
    monkeypatch.setenv(_AIRFLOW_PARSING_CONTEXT_DAG_ID, "a")
    assert commands(machine.bundle()) == {"a.dag.py": "first", "b.dag.py": "first"}
    monkeypatch.setenv(_AIRFLOW_PARSING_CONTEXT_DAG_ID, "b")
    assert commands(machine.bundle()) == {"a.dag.py": "first", "b.dag.py": "second"}


def test_a_task_on_a_new_machine_makes_all_stubs(machine, monkeypatch):
    monkeypatch.setenv(_AIRFLOW_PARSING_CONTEXT_DAG_ID, "a")
    machine.write("a")
    machine.write("b")
    assert commands(machine.bundle()) == {"a.dag.py": "first", "b.dag.py": "first"}


def test_a_folder_that_is_gone_is_an_error_and_removes_no_stub(machine):
    machine.write("a")
    bundle = machine.bundle()
    version = bundle.get_current_version().version
    machine.workflows.rename(machine.workflows.with_name("elsewhere"))
    with pytest.raises(ConfigurationError, match="has no folder of workflows: .* does not exist"):
        bundle.refresh()
    assert commands(bundle) == {"a.dag.py": "first"}
    with pytest.raises(ConfigurationError, match="has no folder of workflows"):
        machine.bundle()
    assert commands(machine.bundle(version)) == {"a.dag.py": "first"}


def test_a_bundle_may_be_inside(machine):
    machine.write("a")
    inner = {
        "classpath": "airflow.dag_processing.bundles.local.LocalDagBundle",
        "kwargs": {"path": str(machine.workflows)},
    }
    bundle = machine.bundle(inner=inner)
    assert commands(bundle) == {"a.dag.py": "first"}
    assert bundle.supports_versioning is False
    assert bundle.get_current_version() is None
    machine.write("a", "second")
    bundle.refresh()
    assert commands(bundle) == {"a.dag.py": "second"}


@pytest.mark.parametrize(
    "inner", [{}, {"classpath": 1}, {"classpath": "a.B", "path": "."}], ids=["empty", "type", "key"]
)
def test_what_is_no_inner_bundle_is_refused(machine, inner):
    message = 'inner of bundle "mantle" must have a "classpath" and may have "kwargs"'
    with pytest.raises(ConfigurationError, match=f"^{message}$"):
        MantleDagBundle(name="mantle", inner=inner)


def test_a_path_beside_an_inner_bundle_is_refused(machine):
    message = 'bundle "mantle" has both a path and an inner bundle'
    with pytest.raises(ConfigurationError, match=f"^{message}$"):
        MantleDagBundle(name="mantle", path=".", inner={"classpath": "a.B"})


class Repository:
    """A bare git repository, its Airflow bundle, and a clone to commit from."""

    def __init__(self, machine, root):
        self.machine = machine
        self.bare = root / "bare.git"
        self._git("init", "--quiet", "--bare", "--initial-branch=main", str(self.bare), folder=root)
        self._git("init", "--quiet", "--initial-branch=main", folder=machine.workflows)

    def commit(self):
        folder = self.machine.workflows
        self._git("add", "--all", folder=folder)
        self._git("commit", "--quiet", "--message=change", folder=folder)
        self._git("push", "--quiet", str(self.bare), "main", folder=folder)
        return self._git("rev-parse", "HEAD", folder=folder)

    def bundle(self, version=None, **kwargs):
        inner = {
            "classpath": "airflow.providers.git.bundles.git.GitDagBundle",
            "kwargs": {"repo_url": str(self.bare), "tracking_ref": "main", **kwargs},
        }
        return self.machine.bundle(version, inner=inner)

    @staticmethod
    def _git(*arguments, folder):
        identity = ("-c", "user.name=test", "-c", "user.email=test@example.com")
        command = ["git", *identity, *arguments]
        finished = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
        return finished.stdout.strip()


@pytest.fixture
def repository(machine, tmp_path):
    pytest.importorskip("airflow.providers.git")
    return Repository(machine, tmp_path)


def test_the_versions_of_a_git_bundle_are_its_commits(repository):
    repository.machine.write("a")
    first = repository.commit()
    bundle = repository.bundle()
    assert bundle.supports_versioning is True
    assert bundle.get_current_version() == BundleVersion(first)
    repository.machine.write("a", "second")
    second = repository.commit()
    bundle.refresh()
    assert bundle.get_current_version() == BundleVersion(second)
    assert commands(bundle) == {"a.dag.py": "second"}
    assert commands(repository.bundle(first)) == {"a.dag.py": "first"}
    assert commands(repository.bundle(second)) == {"a.dag.py": "second"}


def test_a_machine_makes_a_version_of_a_git_bundle_itself(repository, tmp_path, monkeypatch):
    repository.machine.write("a")
    first = repository.commit()
    repository.machine.write("a", "second")
    repository.commit()
    repository.machine = Machine(tmp_path / "other", monkeypatch)
    bundle = repository.bundle(first)
    assert commands(bundle) == {"a.dag.py": "first"}
    assert bundle.get_current_version() == BundleVersion(first)
    assert str(repository.machine.storage / "mantle" / "versions" / first) in sys.path


def test_another_subfolder_at_the_same_commit_has_stubs_of_its_own(repository):
    for name in ("b", "c"):
        repository.machine.write(name)
        (repository.machine.workflows / f"folder-{name}").mkdir()
        path = repository.machine.workflows / f"{name}.yaml"
        path.rename(repository.machine.workflows / f"folder-{name}" / "a.yaml")
    version = repository.commit()
    for name in ("b", "c"):
        bundle = repository.bundle(version, subdir=f"folder-{name}")
        assert list(commands(bundle)) == [f"{name}.dag.py"]


def test_links_and_locks_are_those_of_the_inner_bundle(repository):
    repository.machine.write("a")
    repository.commit()
    bundle = repository.bundle(
        view_url_template="https://example.com/{version}/{subdir}", subdir="."
    )
    assert bundle.view_url_template() == "https://example.com/{version}/{subdir}"
    assert bundle.view_url("v1") == "https://example.com/v1/."
    assert bundle.subdir == "."
    with bundle.lock():
        assert bundle._inner._locked


def test_who_may_not_read_the_values_may_read_no_copy_of_them(machine, monkeypatch):
    monkeypatch.setenv("AIRFLOW__MANTLE__ENVIRONMENT", "prod")
    values = machine.workflows / "values" / "prod.yaml"
    values.parent.mkdir()
    values.write_text("env: {token: hidden}\n")
    values.chmod(0o640)
    machine.write("a", "{{ env.TOKEN }}")
    machine.bundle()
    modes = {
        path.name: path.stat().st_mode & 0o777
        for path in machine.storage.rglob("*")
        if path.is_file() and b"hidden" in path.read_bytes() and path.parent.name != "files"
    }
    assert modes == {"a.dag.env.json": 0o640, "prod.yaml": 0o640}
    values.chmod(0o600)
    values.write_text("env: {token: hidden, other: more}\n")
    [copy] = machine.bundle().path.glob("*.env.json")
    assert copy.stat().st_mode & 0o777 == 0o600
