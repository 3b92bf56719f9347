"""Which other file has a workflow's name, told one file at a time."""

from __future__ import annotations

import pytest

from mantle_provider.builder.folder import (
    check_options,
    earlier_of_name,
    read_workflow_file,
)

STEPS = "steps:\n  - name: a\n    action: bash/run\n    params: { command: echo same }\n"


def earlier(folder, name):
    options = check_options()
    return earlier_of_name(read_workflow_file(folder / name, folder, options), folder, options)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"name: same\n{STEPS}", "a.yaml"),
        (f"{STEPS}name: 'same'  \r\n", "a.yaml"),
        (f"name: same # of all\n{STEPS}", "a.yaml"),
        ('{"name": "same", "steps": [{"name": "a", "action": "bash/run",'
         ' "params": {"command": "true"}}]}', "a.yaml"),
        (f"<<: !include part/name.yaml#same\n{STEPS}", "a.yaml"),
        (f"name: other\n{STEPS}", None),
        (f"name: same\n{STEPS}broken: true\n", None),
        ("name: same\n", None),
        (f"name: !include part/name.yaml#other\n{STEPS}", None),
    ],
)  # fmt: skip
def test_the_first_file_of_a_name_is_found_however_it_says_it(tmp_path, text, expected):
    (tmp_path / "part").mkdir()
    (tmp_path / "part" / "name.yaml").write_text("same: {name: same}\nother: other\n")
    (tmp_path / "a.yaml").write_bytes(text.encode())
    for name in ("b", "c"):
        (tmp_path / f"{name}.yaml").write_text(f"name: same\n{STEPS}")
    assert earlier(tmp_path, "b.yaml") == expected
    assert earlier(tmp_path, "c.yaml") == (expected or "b.yaml")


def test_the_order_is_that_of_paths_and_ignored_files_do_not_count(tmp_path):
    for name in ("a/b.yaml", "a-b.yaml", "a.yaml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"name: same\n{STEPS}")
    assert earlier(tmp_path, "a/b.yaml") is None
    assert earlier(tmp_path, "a.yaml") == "a/b.yaml"
    (tmp_path / ".airflowignore").write_text("a/\n")
    assert earlier(tmp_path, "a.yaml") == "a-b.yaml"


def test_a_broken_workflow_has_no_name_and_a_pipe_no_content(tmp_path):
    (tmp_path / "a.yaml").symlink_to("nowhere.yaml")
    (tmp_path / "b.yaml").write_text("name: b\nsteps: []\n")
    (tmp_path / "c.yaml").write_text(f"name: b\n{STEPS}")
    assert earlier(tmp_path, "b.yaml") is None
    assert earlier(tmp_path, "c.yaml") is None
