"""The bundle: one stub per workflow, each broken file its own import error."""

from __future__ import annotations

import json
import os

import pytest
from airflow.dag_processing.dagbag import DagBag

from mantle_provider.builder.sync import is_in_line, made_with, sync_stubs

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

    def load(self):
        self.sync()
        bag = DagBag(dag_folder=str(self.stubs), collect_dags=False)
        bag.collect_dags(dag_folder=str(self.stubs))
        errors = {
            os.path.relpath(path, self.stubs): text for path, text in bag.import_errors.items()
        }
        return sorted(bag.dags), errors


def test_each_workflow_has_a_stub_beside_those_of_other_suffixes(bundle):
    bundle.write("etl/a.yaml", GOOD.format(name="a"))
    bundle.write("etl/a.yml", GOOD.format(name="b"))
    assert bundle.sync() == ["etl/a.yaml.py", "etl/a.yml.py"]
    assert bundle.load() == (["a", "b"], {})


def test_a_broken_file_is_an_import_error_of_its_own_without_traceback(bundle):
    bundle.write("good.yaml", GOOD.format(name="good"))
    bundle.write("broken.yaml", GOOD.format(name="broken").replace("action", "acton"))
    dags, errors = bundle.load()
    assert dags == ["good"]
    assert errors == {
        "broken.yaml.py": (
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


def test_a_foreign_yaml_file_is_left_alone(bundle):
    bundle.write("values.yaml", "a: 1\n")
    bundle.write("list.yml", "- 1\n")
    assert bundle.sync() == []


def test_a_file_that_does_not_parse_is_ours_to_answer_for(bundle):
    bundle.write("broken.yaml", "a: [\n")
    dags, errors = bundle.load()
    assert (dags, list(errors)) == ([], ["broken.yaml.py"])


def test_airflowignore_leaves_files_out(bundle):
    bundle.write(".airflowignore", "drafts/\n")
    bundle.write("drafts/a.yaml", "broken: [\n")
    bundle.write("b.yaml", GOOD.format(name="b"))
    assert bundle.sync() == ["b.yaml.py"]


def test_linked_folders_are_read(bundle, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "a.yaml").write_text(GOOD.format(name="a"))
    (bundle.workflows / "linked").symlink_to(tmp_path / "elsewhere")
    bundle.write("b.yaml", GOOD.format(name="b"))
    assert bundle.sync() == ["b.yaml.py", "linked/a.yaml.py"]


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


def test_an_unchanged_file_is_not_read_again(bundle):
    path = bundle.write("a.yaml", GOOD.format(name="a"))
    bundle.sync()
    path.chmod(0)
    stub = bundle.stubs / "a.yaml.py"
    before = stub.stat().st_mtime_ns
    bundle.sync()
    assert stub.stat().st_mtime_ns == before


def test_a_missing_stub_is_made_again(bundle):
    bundle.write("a.yaml", GOOD.format(name="a"))
    bundle.sync()
    (bundle.stubs / "a.yaml.py").unlink()
    assert bundle.sync() == ["a.yaml.py"]


def test_other_limits_renew_the_stubs(bundle, monkeypatch):
    bundle.write("a.yaml", GOOD.format(name="a"))
    assert bundle.load() == (["a"], {})
    monkeypatch.setenv("AIRFLOW__MANTLE__ALLOWED_ACTIONS", "http/*")
    dags, errors = bundle.load()
    assert dags == []
    assert "[action-not-allowed]" in errors["a.yaml.py"]


ENTRY = {"sources": {}, "digests": {}, "dag_id": "a", "taken_by": "a.yaml"}


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
    assert bundle.sync() == ["a.yaml.py"]


def test_a_file_whose_stub_can_have_no_name_leaves_the_others_alone(bundle, caplog):
    bundle.write("a.yaml", GOOD.format(name="a"))
    bundle.write("a.yaml.py/b.yaml", GOOD.format(name="b"))
    bundle.write(f"{'c' * 250}.yaml", GOOD.format(name="c"))
    bundle.write("d.yaml", GOOD.format(name="d"))
    assert bundle.load() == (["a", "d"], {})
    assert [record.args[0][:9] for record in caplog.records] == ["a.yaml.py", "ccccccccc"]


def test_a_pipe_and_a_device_among_the_workflows_stop_nothing(bundle):
    bundle.write("a.yaml", GOOD.format(name="a"))
    os.mkfifo(bundle.workflows / "pipe.yaml")
    (bundle.workflows / "device.yaml").symlink_to("/dev/zero")
    dags, errors = bundle.load()
    assert (dags, list(errors)) == (["a"], ["device.yaml.py"])
    assert "device.yaml:1:1: error: " in errors["device.yaml.py"]


def test_the_second_file_of_a_name_is_refused_until_the_first_is_gone(bundle):
    first = bundle.write("a.yaml", GOOD.format(name="same"))
    bundle.write("b.yaml", GOOD.format(name="same"))
    dags, errors = bundle.load()
    assert dags == ["same"]
    assert errors == {
        "b.yaml.py": (
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
    "description",
    ["'''", "\\\\n", "ends with '", 'a "quoted" word', "\u2028 and \u00e9", "{{ '{{' }}"],
)
def test_the_stub_holds_the_yaml_as_it_is(bundle, description):
    import json

    text = f"# {description}\n" + GOOD.format(name="a") + f"description: {json.dumps(description)}"
    if "{{" in description:
        text = f"# {description}\n" + GOOD.format(name="a")
    bundle.write("a.yaml", text)
    bundle.sync()
    namespace = {}
    exec((bundle.stubs / "a.yaml.py").read_text(), namespace)
    assert namespace["YAML"] == text


def test_invalid_utf8_is_reported(bundle):
    bundle.write("a.yaml", b"name: \xff\n")
    dags, errors = bundle.load()
    assert dags == []
    assert "[invalid-encoding]" in errors["a.yaml.py"]


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
        texts.append((stubs / "a.yaml.py").read_text())
    assert texts[0] == texts[1]
