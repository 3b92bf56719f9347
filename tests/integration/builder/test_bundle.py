"""The bundle: one stub per workflow, each broken file its own import error."""

from __future__ import annotations

import json
import os
import shutil

import pytest
from airflow.dag_processing.dagbag import DagBag

from mantle_provider.builder.folder import read_workflow_file
from mantle_provider.builder.sync import is_in_line, made_with, sync_stubs, write_whole

GOOD = """\
name: {name}
steps:
  - name: a
    action: bash/run
    params: {{ command: "true" }}
"""


@pytest.fixture
def bundle(tmp_path):
    return Folder(tmp_path)


class Folder:
    def __init__(self, root):
        self.workflows = root / "workflows"
        self.workflows.mkdir()
        self.stubs = root / "storage" / "stubs"
        self.stubs.mkdir(parents=True)

    def write(self, name, text):
        path = self.workflows / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    def sync(self):
        sync_stubs(self.workflows, self.stubs, self.stubs.parent / "index.json")
        return sorted(p.relative_to(self.stubs).as_posix() for p in self.stubs.rglob("*.py"))

    def shown(self, text):
        """Return the stub of a file that says this, and what the stub holds as YAML."""
        self.write("a.yaml", text)
        [name] = self.sync()
        stub = (self.stubs / name).read_bytes().decode()
        namespace = {}
        exec(stub, namespace)
        return stub, namespace["YAML"]

    def load(self):
        self.sync()
        bag = DagBag(dag_folder=str(self.stubs), collect_dags=False)
        bag.collect_dags(dag_folder=str(self.stubs))
        errors = {
            os.path.relpath(path, self.stubs): text for path, text in bag.import_errors.items()
        }
        return sorted(bag.dags), errors


def test_a_stub_is_called_like_its_dag_and_that_of_a_broken_file_like_the_file(bundle):
    bundle.write("etl/a.yaml", GOOD.format(name="first"))
    bundle.write("etl/a.yml", GOOD.format(name="second"))
    bundle.write("etl/b.yaml", "steps: 1\n")
    bundle.write("etl/b.yml", "steps: 1\n")
    stubs = ["broken/etl/b.yaml.py", "broken/etl/b.yml.py", "first.dag.py", "second.dag.py"]
    assert bundle.sync() == stubs
    dags, errors = bundle.load()
    assert (dags, sorted(errors)) == (["first", "second"], stubs[:2])


def test_a_file_that_moves_keeps_its_stub(bundle):
    path = bundle.write("a.yaml", GOOD.format(name="a"))
    assert bundle.sync() == ["a.dag.py"]
    (bundle.workflows / "etl").mkdir()
    path.rename(bundle.workflows / "etl" / "b.yml")
    assert bundle.load() == (["a"], {})
    assert bundle.sync() == ["a.dag.py"]
    assert '"etl/b.yml"' in (bundle.stubs / "a.dag.py").read_text().splitlines()[0]


def test_two_files_that_change_names_change_stubs(bundle):
    for names in ({"a": "x", "b": "y"}, {"a": "y", "b": "x"}):
        for file, name in names.items():
            bundle.write(f"{file}.yaml", GOOD.format(name=name) + f"description: in {file}\n")
        assert bundle.load() == (["x", "y"], {})
        for file, name in names.items():
            assert f"description: in {file}\n" in (bundle.stubs / f"{name}.dag.py").read_text()


def test_a_broken_file_is_an_import_error_of_its_own_without_traceback(bundle):
    bundle.write("good.yaml", GOOD.format(name="good"))
    bundle.write("broken.yaml", GOOD.format(name="broken").replace("action", "acton"))
    dags, errors = bundle.load()
    assert dags == ["good"]
    assert errors == {
        "broken/broken.yaml.py": (
            "InvalidWorkflowError: \n"
            'broken.yaml:4:5: error: unknown key "acton" in step; did you mean "action"? '
            "(steps[0].acton) [unknown-key]\n"
            " 4 |     acton: bash/run\n"
            "   |     ^^^^^"
        )
    }


def test_a_broken_file_with_a_long_path_shows_its_diagnostics(bundle):
    bundle.write(f"{'long' * 50}/{'name' * 50}.yaml", "steps: [\n")
    _, errors = bundle.load()
    assert [text.partition(":")[0] for text in errors.values()] == ["InvalidWorkflowError"]


def test_the_suffix_may_be_in_upper_case(bundle):
    bundle.write("A.YAML", GOOD.format(name="a"))
    bundle.write("b.Yml", GOOD.format(name="b"))
    assert bundle.sync() == ["a.dag.py", "b.dag.py"]


def test_defaults_of_another_name_are_reported(bundle):
    bundle.write("a.yaml", GOOD.format(name="a"))
    bundle.write("defaults.yml", "step: {timeout: 5m}\n")
    dags, errors = bundle.load()
    assert (dags, list(errors)) == (["a"], ["broken/defaults.yml.py"])


def test_a_foreign_yaml_file_is_left_alone(bundle):
    bundle.write("values.yaml", "a: 1\n")
    bundle.write("list.yml", "- 1\n")
    assert bundle.sync() == []


def test_a_file_that_does_not_parse_is_ours_to_answer_for(bundle):
    bundle.write("broken.yaml", "a: [\n")
    dags, errors = bundle.load()
    assert (dags, list(errors)) == ([], ["broken/broken.yaml.py"])


def test_airflowignore_leaves_files_out(bundle):
    bundle.write(".airflowignore", "drafts/\n")
    bundle.write("drafts/a.yaml", "broken: [\n")
    bundle.write("b.yaml", GOOD.format(name="b"))
    assert bundle.sync() == ["b.dag.py"]


def test_linked_folders_are_read(bundle, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "a.yaml").write_text(GOOD.format(name="a"))
    (bundle.workflows / "linked").symlink_to(tmp_path / "elsewhere")
    bundle.write("b.yaml", GOOD.format(name="b"))
    assert bundle.sync() == ["a.dag.py", "b.dag.py"]


def test_a_changed_file_changes_its_stub_and_a_removed_one_removes_it(bundle):
    path = bundle.write("a.yaml", GOOD.format(name="first"))
    assert bundle.load() == (["first"], {})
    bundle.write("a.yaml", GOOD.format(name="another"))
    assert bundle.load() == (["another"], {})
    path.unlink()
    assert bundle.sync() == []


def test_a_file_that_is_no_workflow_any_more_loses_its_stub(bundle):
    bundle.write("a.yaml", GOOD.format(name="a"))
    bundle.sync()
    bundle.write("a.yaml", "other: 1\n")
    assert bundle.sync() == []


@pytest.fixture
def no_check(monkeypatch):
    """Return what makes each check of a file from now on fail the test."""
    reader = "mantle_provider.builder.folder.read_workflow_file"
    return lambda: monkeypatch.setattr(reader, lambda path, *_: pytest.fail(f"checked: {path}"))


def test_an_unchanged_file_is_not_read_again(bundle, no_check, monkeypatch):
    bundle.write("a.yaml", GOOD.format(name="a"))
    bundle.sync()
    no_check()
    reader = "mantle_provider.builder.sources.read_file"
    monkeypatch.setattr(reader, lambda path, _: pytest.fail(f"read: {path}"))
    assert bundle.sync() == ["a.dag.py"]


def test_files_that_say_the_same_are_not_checked_again(bundle, no_check, tmp_path):
    bundle.write("a.yaml", GOOD.format(name="a"))
    bundle.write("defaults.yaml", "step: {timeout: 5m}\n")
    bundle.write("other.yaml", "a: 1\n")
    bundle.sync()
    index = bundle.stubs.parent / "index.json"
    before = index.read_text()
    # As tools do that bring a whole new folder with every commit.
    checkout = tmp_path / "checkout"
    shutil.copytree(bundle.workflows, checkout)
    bundle.workflows.rename(tmp_path / "before")
    bundle.workflows.symlink_to(checkout)
    no_check()
    assert bundle.sync() == ["a.dag.py"]
    assert index.read_text() != before
    assert is_in_line("a", bundle.workflows, bundle.stubs, index)


def test_a_touched_file_that_is_broken_is_checked_again(bundle, tmp_path):
    (tmp_path / "part.yaml").write_text("command: echo\n")
    link = bundle.workflows / "part.yaml"
    link.symlink_to(tmp_path / "part.yaml")
    bundle.write(
        "a.yaml", GOOD.format(name="a").replace('{ command: "true" }', "!include part.yaml")
    )
    _, errors = bundle.load()
    assert "a symbolic link leads out of the folder" in errors["broken/a.yaml.py"]
    link.unlink()
    shutil.copy2(tmp_path / "part.yaml", link)
    assert bundle.load() == (["a"], {})


def test_an_edit_during_the_check_is_noticed_afterwards(bundle, monkeypatch):
    path = bundle.write("a.yaml", GOOD.format(name="a"))

    def read_then_edit(*arguments):
        file = read_workflow_file(*arguments)
        path.write_text(GOOD.format(name="b"))
        return file

    reader = "mantle_provider.builder.folder.read_workflow_file"
    with monkeypatch.context() as patch:
        patch.setattr(reader, read_then_edit)
        assert bundle.sync() == ["a.dag.py"]
    assert bundle.sync() == ["b.dag.py"]


def test_a_change_of_who_may_read_values_is_passed_on(bundle, monkeypatch):
    monkeypatch.setenv("AIRFLOW__MANTLE__ENVIRONMENT", "prod")
    text = GOOD.format(name="a").replace('"true"', '"{{ env.GREETING }}"')
    bundle.write("a.yaml", text)
    values = bundle.write("values/prod.yaml", "env: {greeting: hello}\n")
    bundle.sync()
    values.chmod(0o640)
    bundle.sync()
    assert (bundle.stubs / "a.dag.env.json").stat().st_mode & 0o777 == 0o640


def test_an_edit_is_noticed_though_size_and_time_are_set_back(bundle):
    path = bundle.write("a.yaml", GOOD.format(name="a"))
    bundle.sync()
    before = path.stat()
    while path.stat().st_ctime_ns == before.st_ctime_ns:
        # The clock of some file systems is a coarse one.
        bundle.write("a.yaml", GOOD.format(name="b"))
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (path.stat().st_mtime_ns, path.stat().st_size) == (before.st_mtime_ns, before.st_size)
    assert bundle.sync() == ["b.dag.py"]


def test_a_missing_stub_is_made_again(bundle):
    bundle.write("a.yaml", GOOD.format(name="a"))
    bundle.sync()
    (bundle.stubs / "a.dag.py").unlink()
    assert bundle.sync() == ["a.dag.py"]


def test_stubs_of_a_pass_that_was_cut_off_go_with_their_files(bundle):
    bundle.write("a.yaml", GOOD.format(name="a"))
    bundle.sync()
    index = bundle.stubs.parent / "index.json"
    before = index.read_text()
    path = bundle.write("b.json/b.yaml", "steps: 1\n")
    assert bundle.sync() == ["a.dag.py", "broken/b.json/b.yaml.py"]
    index.write_text(before)
    path.unlink()
    assert bundle.sync() == ["a.dag.py"]


def test_other_limits_renew_the_stubs(bundle, monkeypatch):
    bundle.write("a.yaml", GOOD.format(name="a"))
    assert bundle.load() == (["a"], {})
    monkeypatch.setenv("AIRFLOW__MANTLE__ALLOWED_ACTIONS", "http/*")
    dags, errors = bundle.load()
    assert dags == []
    assert "[action-not-allowed]" in errors["broken/a.yaml.py"]


ENTRY = {"sources": {}, "content": None, "digests": {}, "dag_id": "a", "taken_by": "a.yaml"}


@pytest.mark.parametrize(
    "index",
    [
        "{",
        "[" * 100_000,
        "[]",
        "{}",
        '{"made_with": %s, "files": []}',
        '{"made_with": %s, "files": {"a.yaml": "a"}}',
        *(
            f'{{"made_with": %s, "files": {{"a.yaml": {json.dumps(entry)}}}}}'
            for entry in (
                *({key: ENTRY[key] for key in ENTRY if key != gone} for gone in ENTRY),
                ENTRY | {"sources": []},
                ENTRY | {"content": 1},
                ENTRY | {"digests": "a"},
                ENTRY | {"dag_id": []},
            )
        ),
    ],
)
def test_a_damaged_index_is_made_anew(bundle, index):
    bundle.write("a.yaml", GOOD.format(name="a"))
    bundle.write("b.yaml", GOOD.format(name="b"))
    bundle.sync()
    (bundle.workflows / "b.yaml").unlink()
    path = bundle.stubs.parent / "index.json"
    path.write_text(index.replace("%s", json.dumps(made_with())))
    assert not is_in_line("a", bundle.workflows, bundle.stubs, path)
    assert bundle.load() == (["a"], {})
    assert bundle.sync() == ["a.dag.py"]


@pytest.mark.parametrize(
    "name",
    [
        f"{'b' * 250}.yaml",
        f"{'b' * 250}/{'c' * 250}.yaml",
        "a.yaml.py/b.yaml",
        "a.dag.py/b.yaml",
        "broken/a.yaml",
        "a\udcff.yaml",
    ],
    ids=["long", "long-folder", "folder-like-stub", "folder-like-a-dag", "broken", "not-utf-8"],
)
def test_every_file_has_a_stub_whatever_it_and_its_folder_are_called(bundle, name):
    bundle.write("a.yaml", GOOD.format(name="a"))
    path = bundle.write(name, GOOD.format(name="b"))
    assert bundle.load() == (["a", "b"], {})
    for file in (path, bundle.workflows / "a.yaml"):
        file.write_text("steps: 1\n")
    dags, errors = bundle.load()
    shown = {error.splitlines()[1].split(":")[0] for error in errors.values()}
    assert (dags, len(errors), len(shown)) == ([], 2, 2)


def test_workflows_with_long_names_that_begin_alike_have_stubs_of_their_own(bundle):
    names = [f"{'a' * 248}{end}" for end in "bc"]
    for name in names:
        bundle.write(f"{name[-1]}.yaml", GOOD.format(name=name))
    assert bundle.load() == (names, {})


def test_a_write_that_fails_leaves_nothing_behind(tmp_path):
    (tmp_path / "taken").mkdir()
    with pytest.raises(IsADirectoryError):
        write_whole(tmp_path / "taken", b"text")
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]


def test_a_pipe_and_a_device_among_the_workflows_stop_nothing(bundle):
    bundle.write("a.yaml", GOOD.format(name="a"))
    os.mkfifo(bundle.workflows / "pipe.yaml")
    (bundle.workflows / "device.yaml").symlink_to("/dev/zero")
    dags, errors = bundle.load()
    assert (dags, list(errors)) == (["a"], ["broken/device.yaml.py"])
    assert "device.yaml:1:1: error: " in errors["broken/device.yaml.py"]


def test_the_second_file_of_a_name_is_refused_until_the_first_is_gone(bundle):
    first = bundle.write("a.yaml", GOOD.format(name="same"))
    bundle.write("b.yaml", GOOD.format(name="same"))
    dags, errors = bundle.load()
    assert dags == ["same"]
    assert errors == {
        "broken/b.yaml.py": (
            "InvalidWorkflowError: \n"
            'b.yaml:1:7: error: two files have the workflow name "same"; rename one (name) '
            "[duplicate-workflow]\n"
            " 1 | name: same\n"
            "   |       ^^^^\n"
            "  note: a.yaml: first used here"
        )
    }
    first.unlink()
    assert bundle.load() == (["same"], {})


@pytest.mark.parametrize(
    "comment",
    [
        "'''",
        '"""',
        "\\\\n",
        "ends with '",
        "ends with \\\\",
        'a "quoted" word',
        "\u2028, \u00e9 and a\u00a0space that does not break",
        "\U0001f468\u200d\U0001f4bb",
        "{{ '{{' }}",
    ],
)
def test_the_stub_holds_the_yaml_in_lines_as_it_is(bundle, comment):
    text = f"# {comment}\n{GOOD.format(name='a')}# {comment}"
    stub, shown = bundle.shown(text)
    assert shown == text
    assert text in stub


def test_the_stub_shows_the_lines_of_a_file_from_windows(bundle):
    text = GOOD.format(name="a")
    stub, shown = bundle.shown(text.replace("\n", "\r\n"))
    assert shown == text
    assert text in stub


@pytest.mark.parametrize("text", ["# ''' and \"\"\"\n", "# an old Mac\r"])
def test_the_stub_holds_what_no_raw_string_can(bundle, text):
    text += GOOD.format(name="a")
    _, shown = bundle.shown(text)
    assert shown == text


def test_invalid_utf8_is_reported(bundle):
    bundle.write("a.yaml", b"name: \xff\n")
    dags, errors = bundle.load()
    assert dags == []
    assert "[invalid-encoding]" in errors["broken/a.yaml.py"]


def test_the_same_file_makes_the_same_stub_whatever_the_hash_seed(bundle, tmp_path):
    import subprocess
    import sys

    bundle.write("a.yaml", GOOD.format(name="a") + "x-notes: {b: 1, a: 2}\n")
    code = (
        "import sys; from pathlib import Path\n"
        "from mantle_provider.builder.sync import sync_stubs\n"
        "sync_stubs(*map(Path, sys.argv[1:]))"
    )
    texts = []
    for seed in ("1", "2"):
        stubs = tmp_path / seed
        stubs.mkdir()
        subprocess.run(
            [sys.executable, "-c", code, bundle.workflows, stubs, tmp_path / f"{seed}.json"],
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
        )
        texts.append((stubs / "a.dag.py").read_text())
    assert texts[0] == texts[1]
