"""Files that steps leave behind: kept after the last attempt, read, removed at the end."""

from __future__ import annotations

import time
import tracemalloc
from contextlib import suppress
from datetime import timedelta

import fsspec
import pytest
from airflow.sdk import ObjectStoragePath
from airflow.sdk.exceptions import AirflowFailException
from airflow.sdk.io.store import attach

from mantle_provider import settings
from mantle_provider.errors import ConfigurationError, WorkflowError
from mantle_provider.operators.artifacts import ArtifactStore, remove_artifacts, safe_name
from mantle_provider.operators.run_reader import ARTIFACTS
from mantle_provider.workflow.model import Artifact, LifecycleHooks, Retry, Step, Workflow
from support.runs import FakeRun, FakeTaskInstance

MEBIBYTE = 1_048_576


@pytest.fixture(params=["file", "memory"])
def store(request, tmp_path, monkeypatch):
    """Return the root of a store, local or without folders, as an object store is."""
    filesystem = fsspec.filesystem("memory")
    attach(protocol="memory", fs=filesystem)
    url = {"file": f"file://{tmp_path}/store", "memory": f"memory://{tmp_path.name}/store"}
    monkeypatch.setenv("AIRFLOW__MANTLE__ARTIFACTS_PATH", url[request.param])
    yield ObjectStoragePath(url[request.param])
    filesystem.store.clear()


def stored(store):
    """Return what a store holds: path from its root on -> text."""
    return {
        str(found).removeprefix(store.path).lstrip("/"): store.fs.cat_file(found).decode()
        for found in sorted(store.fs.find(store.path))
    }


def bash(command, *artifacts, name="a", **keys):
    return Step(
        name=name, action="bash/run", params={"command": command}, artifacts=artifacts, **keys
    )


def run_of(*steps, **keys):
    return FakeRun(Workflow(name="test", steps=steps, **keys))


def fail(run, task_id, **keys):
    with pytest.raises(Exception) as caught:  # noqa: PT011  # the text is what counts
        run.run(task_id, **keys)
    return str(caught.value)


def test_a_file_is_kept_under_its_workflow_run_step_and_name(store):
    run = run_of(bash("printf hello > out.txt", Artifact("out.txt", "greeting")))
    run.run("a")
    assert stored(store) == {"test/manual__1/a/greeting": "hello"}


def test_a_kept_file_is_read_by_name_url_and_size(store):
    reader = Step(
        "b",
        "python/call",
        params={"callable": "support.functions.echo", "args": ["{{ artifacts.my-data }}"]},
    )
    run = run_of(bash("printf hello > out.txt", Artifact("out.txt", "my-data")), reader)
    run.run("a")
    run.run("b")
    url = str(store / "test" / "manual__1" / "a" / "my-data")
    assert run.output("b") == {"name": "my-data", "url": url, "size": 5}
    assert ObjectStoragePath(url).read_text() == "hello"


def test_an_artifact_that_was_not_kept_is_nulls(store):
    hook = Step(
        "h",
        "python/call",
        params={"callable": "support.functions.echo", "args": ["{{ artifacts['data'] }}"]},
    )
    run = run_of(bash("true", Artifact("x", "data")), hooks=LifecycleHooks(on_finish=(hook,)))
    run.states["a"] = "skipped"
    run.run("on_finish.h")
    assert run.output("on_finish.h") == {"name": "data", "url": None, "size": None}


def test_a_path_of_bash_run_begins_in_its_cwd(store, tmp_path):
    step = Step(
        "a",
        "bash/run",
        params={"command": "printf hello > out.txt", "cwd": str(tmp_path)},
        artifacts=(Artifact("out.txt", "greeting"),),
    )
    run_of(step).run("a")
    assert stored(store) == {"test/manual__1/a/greeting": "hello"}
    assert (tmp_path / "out.txt").exists()


def test_a_path_of_other_actions_begins_where_the_process_works(store, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "out.txt").write_text("hello")
    step = Step(
        "a",
        "python/call",
        params={"callable": "support.functions.echo"},
        artifacts=(Artifact("out.txt", "greeting"),),
    )
    run_of(step).run("a")
    assert stored(store) == {"test/manual__1/a/greeting": "hello"}


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        ("true", "{folder}/out does not exist"),
        ("touch file; true", "{folder}/out does not exist"),
        ("mkdir out", "{folder}/out is a folder; pack it into one file, for example with tar"),
        ("mkfifo out", "{folder}/out is no regular file"),
    ],
    ids=["missing", "other", "folder", "pipe"],
)
def test_a_step_that_leaves_no_file_behind_has_failed(store, tmp_path, command, problem):
    step = Step(
        "a",
        "bash/run",
        params={"command": command, "cwd": str(tmp_path)},
        artifacts=(Artifact("out", "data"),),
    )
    run = run_of(step)
    message = f'artifact "data" cannot be kept: {problem.format(folder=tmp_path)}'
    assert fail(run, "a") == message
    record = run.record("a")
    assert (record["phase"], record["type"], record["field"]) == (
        "RESULT_VALIDATION",
        "InvalidArtifact",
        "artifacts",
    )
    assert run.output("a") is None
    assert stored(store) == {}


def test_a_failed_step_keeps_what_there_is(store):
    run = run_of(
        bash("printf why > log; exit 3", Artifact("missing", "data"), Artifact("log", "log")),
        hooks=LifecycleHooks(on_failure=(bash("echo {{ artifacts['log'].size }}", name="h"),)),
    )
    assert fail(run, "a") == "bash/run: the command exited with code 3"
    assert stored(store) == {"test/manual__1/a/log": "why"}
    run.run("on_failure.h")
    assert run.output("on_failure.h") == {"result": "3"}


def test_only_the_last_failed_attempt_keeps_its_files(store):
    step = bash("printf $RANDOM > log; exit 3", Artifact("log", "log"), retry=Retry(2))
    run = run_of(step)
    fail(run, "a")
    assert stored(store) == {}
    fail(run, "a", try_number=2)
    assert list(stored(store)) == ["test/manual__1/a/log"]


def test_another_run_of_a_step_overwrites_its_file(store, tmp_path):
    source = tmp_path / "source"
    run = run_of(bash(f"cp {source} log", Artifact("log", "log")))
    for try_number, text in ((1, "first"), (2, "second, and longer"), (3, "third")):
        source.write_text(text)
        run.run("a", try_number=1, earlier_tries=try_number - 1)
        assert stored(store) == {"test/manual__1/a/log": text}


def test_a_file_of_an_earlier_run_of_the_step_does_not_pass_for_the_new_one_s(store, tmp_path):
    source = tmp_path / "source"
    source.write_text("first")
    run = run_of(bash(f"cp {source} log", Artifact("log", "log")))
    run.run("a")
    source.unlink()
    fail(run, "a", earlier_tries=1)
    assert stored(store) == {}


def test_a_step_that_never_began_keeps_nothing(store, tmp_path):
    (tmp_path / "old").write_text("of another run")
    step = bash("echo {{ inputs.missing.field }}", Artifact(str(tmp_path / "old"), "old"))
    fail(run_of(step), "a")
    assert stored(store) == {}


def test_a_killed_step_keeps_nothing(store, tmp_path):
    (tmp_path / "log").write_text("unfinished")
    step = Step(
        "a",
        "airflow/operator",
        params={"operator": "support.operators.EndedAtWork"},
        artifacts=(Artifact(str(tmp_path / "log"), "log"),),
    )
    fail(run_of(step), "a")
    assert stored(store) == {}


def test_a_store_that_does_not_answer_is_a_failure_after_success_and_a_log_line_after_one(
    monkeypatch, caplog
):
    monkeypatch.setenv("AIRFLOW__MANTLE__ARTIFACTS_PATH", "nosuch://store")
    run = run_of(bash("touch log", Artifact("log", "log")))
    assert fail(run, "a") == "[mantle] artifacts_path: Unsupported filesystem: 'nosuch'"
    assert run.record("a")["phase"] == "EXECUTOR_LOOKUP"
    run = run_of(bash("touch log; exit 3", Artifact("log", "log")))
    assert fail(run, "a") == "bash/run: the command exited with code 3"
    assert "Artifact 'log' is not kept" in caplog.text


def test_a_step_that_ran_out_of_time_still_keeps_its_log(store):
    # Long enough for a busy machine to start a shell.
    limit = timedelta(seconds=3)
    run = run_of(bash("printf why > log; sleep 30", Artifact("log", "log"), timeout=limit))
    fail(run, "a")
    assert run.record("a")["type"] == "StepTimeout"
    assert stored(store) == {"test/manual__1/a/log": "why"}


def test_storing_ends_with_the_time_of_the_step_and_leaves_nothing_behind(store, monkeypatch):
    def copy_for_ever(source, sink, length):
        while True:
            sink.write(b"more")
            time.sleep(0.01)

    monkeypatch.setattr("shutil.copyfileobj", copy_for_ever)
    monkeypatch.setattr("mantle_provider.operators.artifacts.MIN_SECONDS", 0.2)
    step = bash("printf data > out", Artifact("out", "data"), timeout=timedelta(seconds=0.5))
    run = run_of(step)
    fail(run, "a")
    assert run.record("a")["type"] == "StepTimeout"
    assert stored(store) == {}


def test_a_large_file_is_never_whole_in_memory(store, tmp_path):
    if store.protocol == "memory":
        pytest.skip("this store is memory itself")
    large = tmp_path / "large"
    with large.open("wb") as file:
        file.truncate(64 * MEBIBYTE)
    tracemalloc.start()
    kept = store_of("a").keep(large, "large")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept["size"] == 64 * MEBIBYTE
    assert peak < 8 * MEBIBYTE


def store_of(task_id, *, try_number=1):
    run = run_of(bash("true", name="a"))
    return ArtifactStore(FakeTaskInstance(run, task_id, try_number, 0))


@pytest.mark.parametrize(
    ("completed", "left"),
    [(True, {"always"}), (False, {"always", "on_failure"})],
    ids=["completed", "failed"],
)
def test_the_end_of_a_run_removes_what_is_not_to_outlive_it(store, tmp_path, completed, left):
    source = tmp_path / "source"
    source.write_text("data")
    for keep in ("always", "on_failure", "never"):
        store_of("a").keep(source, f"of-a-{keep}", keep)
        store_of("on_finish.h").keep(source, f"of-h-{keep}", keep)
    for _ in range(2):
        assert remove_artifacts("test", "manual__1", completed=completed) == []
        kept = {path for path in stored(store) if not path.startswith("test/manual__1/.")}
        assert kept == {
            f"test/manual__1/{task}/of-{task[-1]}-{keep}"
            for task in ("a", "on_finish.h")
            for keep in left
        }


def test_a_run_that_keeps_nothing_leaves_no_trace(store, tmp_path):
    (tmp_path / "source").write_text("data")
    store_of("a").keep(tmp_path / "source", "x", "never")
    store_of("b").keep(tmp_path / "source", "x", "on_failure")
    assert remove_artifacts("test", "manual__1", completed=True) == []
    assert stored(store) == {}
    if store.protocol == "file":
        assert not (store / "test" / "manual__1").exists()


def test_other_runs_keep_theirs(store, tmp_path):
    (tmp_path / "source").write_text("data")
    store_of("a").keep(tmp_path / "source", "x", "never")
    assert remove_artifacts("test", "manual__2", completed=True) == []
    assert remove_artifacts("test", "manual__1", completed=True) == []
    assert stored(store) == {}


def test_what_cannot_be_removed_is_told_and_tried_again(store, tmp_path, monkeypatch):
    (tmp_path / "source").write_text("data")
    for name in ("x", "y"):
        store_of("a").keep(tmp_path / "source", name, "never")
    unlink = ObjectStoragePath.unlink

    def refuse(path):
        if path.name == "x":
            raise PermissionError("not yours")
        unlink(path)

    with monkeypatch.context() as patched:
        patched.setattr(ObjectStoragePath, "unlink", refuse)
        url = str(store / "test" / "manual__1" / "a" / "x")
        assert remove_artifacts("test", "manual__1", completed=False) == [
            f"artifact {url}: not yours"
        ]
    assert sorted(stored(store)) == ["test/manual__1/.never/a/x", "test/manual__1/a/x"]
    assert remove_artifacts("test", "manual__1", completed=False) == []
    assert stored(store) == {}


def test_a_store_that_cannot_be_listed_is_told(monkeypatch):
    monkeypatch.setenv("AIRFLOW__MANTLE__ARTIFACTS_PATH", "nosuch://store")
    assert remove_artifacts("test", "manual__1", completed=True) == [
        f"artifacts with keep: {keep}: [mantle] artifacts_path: Unsupported filesystem: 'nosuch'"
        for keep in ("on_failure", "never")
    ]


def test_a_file_that_another_try_wants_to_keep_is_kept(store, tmp_path):
    (tmp_path / "source").write_text("data")
    store_of("a").keep(tmp_path / "source", "x", "never")
    store_of("a", try_number=2).keep(tmp_path / "source", "x")
    assert remove_artifacts("test", "manual__1", completed=True) == []
    assert stored(store) == {"test/manual__1/a/x": "data"}


def test_the_last_word_on_a_file_counts_within_one_try_too(store, tmp_path):
    (tmp_path / "source").write_text("data")
    ours = store_of("a")
    ours.keep(tmp_path / "source", "x", "never")
    ours.keep(tmp_path / "source", "x")
    assert remove_artifacts("test", "manual__1", completed=True) == []
    assert stored(store) == {"test/manual__1/a/x": "data"}


def test_no_other_word_for_keep_is_taken(store, tmp_path):
    (tmp_path / "source").write_text("data")
    with pytest.raises(WorkflowError) as caught:
        store_of("a").keep(tmp_path / "source", "x", "forever")
    assert str(caught.value) == (
        "artifact \"x\" cannot be kept: keep must be always, on_failure or never, not 'forever'"
    )
    assert stored(store) == {}


def keep_from_python(name, keep="always", **keys):
    """Return a step that writes a file and keeps it by its context."""
    params = {"callable": "support.functions.write_and_keep", "args": [name, keep]}
    return Step("p", "python/call", params=params, **keys)


def test_a_function_keeps_files_beside_those_that_its_step_declares(store, tmp_path):
    (tmp_path / "declared").write_text("declared")
    step = keep_from_python("mine", artifacts=(Artifact(str(tmp_path / "declared"), "theirs"),))
    run = run_of(step)
    run.run("p")
    assert stored(store) == {"test/manual__1/p/mine": "mine", "test/manual__1/p/theirs": "declared"}
    assert run.output("p") == {
        "name": "mine",
        "url": str(store / "test" / "manual__1" / "p" / "mine"),
        "size": 4,
    }
    assert set(run.xcoms["p", ARTIFACTS]) == {"mine", "theirs"}


def test_a_function_keeps_nothing_for_a_while_where_no_task_could_remove_it(store):
    run = run_of(keep_from_python("mine", "never"))
    assert fail(run, "p") == (
        'artifact "mine" cannot be kept: with keep="never" it needs a task that removes it; '
        "declare an artifact with this `keep` in the file, or `callbacks.on_finish`"
    )
    assert stored(store) == {}


def test_the_callback_removes_what_functions_have_kept_for_a_while(store):
    run = run_of(keep_from_python("mine", "never"), on_finish_callback="support.functions.echo")
    run.run("p")
    assert set(stored(store)) == {"test/manual__1/.never/p/mine", "test/manual__1/p/mine"}
    run.run("workflow_outcome")
    run.run("callback_on_finish")
    assert stored(store) == {}


@pytest.mark.parametrize("place", ["before_start", "steps", "on_failure"])
def test_a_file_that_is_not_to_stay_brings_the_task_that_removes_it(store, place):
    step = bash("true", Artifact("x", "x", "on_failure"))
    hooks = LifecycleHooks(on_failure=(step,) if place == "on_failure" else ())
    keys = {"before_start": (step,)} if place == "before_start" else {}
    main = step if place == "steps" else bash("true", name="main")
    dag = run_of(main, hooks=hooks, **keys).dag
    assert dag.has_task("callback_on_finish")
    assert dag.get_task("callback_on_finish").downstream_task_ids == {"hooks_done"}


def test_a_file_that_always_stays_brings_no_task():
    dag = run_of(bash("true", Artifact("x", "x"))).dag
    assert [task.task_id for task in dag.tasks] == ["a"]


@pytest.mark.parametrize(
    ("state", "left"), [("success", []), ("failed", ["test/manual__1/a/on_failure"])]
)
def test_the_end_goes_by_the_outcome_and_not_by_the_hooks(store, tmp_path, state, left):
    step = bash("true", Artifact("x", "x", "never"))
    run = run_of(step, hooks=LifecycleHooks(on_finish=(bash("true", name="h"),)))
    (tmp_path / "source").write_text("data")
    for keep in ("on_failure", "never"):
        store_of("a").keep(tmp_path / "source", keep, keep)
    run.states |= {"a": state, "on_finish.h": "failed"}
    with suppress(AirflowFailException):
        run.run("workflow_outcome")
    run.run("callback_on_finish")
    assert [path for path in stored(store) if "/." not in path] == left


def test_what_cannot_be_removed_is_seen_in_the_task_and_not_in_the_run(
    store, tmp_path, monkeypatch
):
    run = run_of(bash("true", Artifact("x", "x", "never")))
    (tmp_path / "source").write_text("data")
    store_of("a").keep(tmp_path / "source", "x", "never")
    run.states["a"] = "success"
    run.run("workflow_outcome")

    def refuse(path):
        raise PermissionError("not yours")

    monkeypatch.setattr(ObjectStoragePath, "unlink", refuse)
    message = fail(run, "callback_on_finish")
    assert message == f"artifact {store / 'test' / 'manual__1' / 'a' / 'x'}: not yours"
    assert run.states["workflow_outcome"] == "success"


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("report.csv", "report.csv"),
        ("manual__2026-11-30T12:00:00+00:00", "manual__2026-11-30T12=3A00=3A00=2B00=3A00"),
        ("..", "=2E."),
        (".", "=2E"),
        (".never", "=2Enever"),
        ("../../etc/passwd", "=2E.=2F..=2Fetc=2Fpasswd"),
        ("/etc/passwd", "=2Fetc=2Fpasswd"),
        ("a=b", "a=3Db"),
        ("Bericht für\nMai", "Bericht=20f=C3=BCr=0AMai"),
        ("", "="),
    ],
)
def test_names_become_one_plain_part_of_a_path(text, safe):
    assert safe_name(text) == safe


def test_long_names_stay_short_and_different():
    names = [safe_name("x" * 300 + end) for end in ("a", "b")]
    assert [len(name) for name in names] == [200, 200]
    assert len(set(names)) == 2


@pytest.mark.parametrize("name", ["..", "../x", "/x", ".never", "a/../../../x"])
def test_no_name_leads_out_of_the_folder_of_its_step(store, tmp_path, name):
    (tmp_path / "source").write_text("data")
    run = run_of(bash("true"))
    run.dag_run.run_id = "../../../../escaped"
    kept = ArtifactStore(FakeTaskInstance(run, "a", 1, 0)).keep(tmp_path / "source", name)
    (path,) = stored(store)
    workflow, run_folder, task, last = path.split("/")
    assert (workflow, run_folder, task) == ("test", "=2E.=2F..=2F..=2F..=2Fescaped", "a")
    assert kept["url"].endswith(f"/a/{last}")


def test_a_bare_path_and_no_path_are_local_folders(monkeypatch):
    name = "AIRFLOW__MANTLE__ARTIFACTS_PATH"
    monkeypatch.setenv("AIRFLOW_HOME", "/opt/airflow")
    monkeypatch.setenv(name, "")
    assert settings.artifacts_path() == "file:///opt/airflow/mantle_artifacts"
    monkeypatch.setenv(name, "/data/kept/")
    assert settings.artifacts_path() == "file:///data/kept"
    monkeypatch.setenv(name, "s3://store@bucket/prefix/")
    assert settings.artifacts_path() == "s3://store@bucket/prefix"
    monkeypatch.setenv(name, "kept")
    with pytest.raises(ConfigurationError) as caught:
        settings.artifacts_path()
    assert str(caught.value) == (
        '[mantle] artifacts_path is "kept"; it must be an absolute path, or a URL such as '
        "s3://conn@bucket/prefix"
    )
