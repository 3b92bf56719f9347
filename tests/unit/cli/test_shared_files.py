"""The options of the command line for what workflows share."""

from __future__ import annotations

import io
import json
import os
import sys

import pytest

from mantle_provider.cli import main

WORKFLOW = """\
name: flow
inputs: {limit: {type: number}}
steps:
  - name: a
    action: bash/run
    params: {command: !include ../command.yaml}
"""


@pytest.fixture
def flows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in {
        "flows/defaults.yaml": "step: {timeout: 1m}\n",
        "flows/values/prod.yaml": "inputs: {limit: 5}\nenv: {url: hidden}\n",
        "flows/command.yaml": "echo\n",
        "flows/team/flow.yaml": WORKFLOW,
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "flows"


def feed(monkeypatch, text):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))


@pytest.mark.parametrize(
    "arguments",
    [
        ["flows"],
        ["flows", "--environment", "prod"],
        ["flows/team/flow.yaml"],
        ["flows/team", "--root", "flows"],
    ],
)
def test_the_root_is_found_or_given(flows, capsys, arguments):
    assert main(["validate", *arguments]) == 0
    assert capsys.readouterr().out == ""


def test_the_root_of_a_given_folder_is_that_folder(flows, capsys):
    assert main(["validate", "flows/team"]) == 1
    assert capsys.readouterr().out.startswith(
        f"flows{os.sep}team{os.sep}flow.yaml:6:32: error: cannot include "
        '"../command.yaml": the path leads out of the folder of workflows'
    )


def test_defaults_are_checked_although_no_workflow_needs_them(flows, capsys):
    (flows / "team" / "flow.yaml").unlink()
    (flows / "defaults.yaml").write_text("step: {name: a}\n")
    assert main(["validate", "flows"]) == 1
    output = capsys.readouterr()
    assert output.out == (
        f'flows{os.sep}defaults.yaml:1:8: error: "name" cannot have a default: every step has its'
        " own (step.name) [not-a-default]\n"
        " 1 | step: {name: a}\n"
        "   |        ^^^^\n"
    )
    assert output.err == "2 files checked: 1 error, 1 file left alone, being no workflow\n"


def test_broken_defaults_are_told_once_with_all_that_they_apply_to(flows, capsys):
    (flows / "defaults.yaml").write_text("step: {timout: 1m}\n")
    (flows / "also.yaml").write_text(
        WORKFLOW.replace("../", "").replace("name: flow", "name: also")
    )
    assert main(["validate", "flows"]) == 1
    output = capsys.readouterr()
    assert output.out.replace(os.sep, "/") == (
        'flows/defaults.yaml:1:8: error: unknown key "timout" in step defaults; did you mean'
        ' "timeout"? (step.timout) [unknown-key]\n'
        " 1 | step: {timout: 1m}\n"
        "   |        ^^^^^^\n"
        "  note: flows/also.yaml: its defaults apply to this workflow\n"
        "  note: flows/team/flow.yaml: its defaults apply to this workflow\n"
    )
    assert output.err == "4 files checked: 1 error, 1 file left alone, being no workflow\n"
    assert main(["validate", "flows/also.yaml", "flows/team/flow.yaml", "--format", "json"]) == 1
    [item] = json.loads(capsys.readouterr().out)
    assert sorted(note["file"].replace(os.sep, "/") for note in item["related"]) == [
        "flows/also.yaml",
        "flows/team/flow.yaml",
    ]


def test_a_broken_part_is_told_once_with_the_places_that_include_it(flows, capsys):
    (flows / "command.yaml").write_text("[\n")
    (flows / "also.yaml").write_text(
        WORKFLOW.replace("../", "").replace("name: flow", "name: also")
    )
    assert main(["validate", "flows"]) == 1
    output = capsys.readouterr().out.replace(os.sep, "/")
    assert output.count("error: ") == 1
    assert "note: flows/also.yaml:6:32: included here\n" in output
    assert "note: flows/team/flow.yaml:6:32: included here\n" in output


def test_values_are_checked_although_no_environment_is_named(flows, capsys):
    (flows / "values" / "prod.yaml").write_text("env: {url: [hidden]}\n")
    for path in ("flows", "flows/values/prod.yaml"):
        assert main(["validate", path]) == 1
        assert capsys.readouterr().out.replace(os.sep, "/") == (
            'flows/values/prod.yaml:1:7: error: "url" must be a text, a number or a boolean,'
            " not a list (env.url) [wrong-type]\n"
        )
    (flows / "values" / "prod.yaml").write_text("env: {url: hidden}\n")
    (flows / "values" / "README.yaml").write_text("a: 1\n")
    assert main(["validate", "flows"]) == 0
    assert capsys.readouterr().err == (
        "3 files checked: no errors, 2 files left alone, being no workflow\n"
    )


def test_a_file_that_cannot_be_read_leaves_the_others_alone(flows, capsys):
    (flows / "gone.yaml").symlink_to("nowhere.yaml")
    (flows / "wrong.yaml").write_text("steps: 5\n")
    assert main(["validate", "flows"]) == 1
    output = capsys.readouterr().out.replace(os.sep, "/")
    assert output.startswith(
        "flows/gone.yaml: error: cannot read the file: No such file or directory"
        " [unreadable-file]\nflows/wrong.yaml:1:"
    )


def test_standard_input_shares_when_it_is_given_a_root(flows, capsys, monkeypatch):
    text = WORKFLOW.replace("../", "")
    feed(monkeypatch, text)
    assert main(["validate", "-", "--root", "flows", "--environment", "prod"]) == 0
    feed(monkeypatch, text)
    assert main(["validate", "-"]) == 1
    assert "[invalid-include]" in capsys.readouterr().out


def test_a_plan_tells_where_each_value_stands_and_hides_those_of_env(flows, capsys):
    arguments = ["--environment", "prod", "--explain"]
    assert main(["plan", "flows/team/flow.yaml", *arguments]) == 0
    output = capsys.readouterr().out
    places = output.partition("\nvalues\n")[2].replace(os.sep, "/")
    assert places == (
        '  name: "flow"  (flows/team/flow.yaml:1:7)\n'
        '  inputs.limit.type: "number"  (flows/team/flow.yaml:2:24)\n'
        "  inputs.limit.default: 5  (flows/values/prod.yaml:1:17)\n"
        '  steps[0].name: "a"  (flows/team/flow.yaml:4:11)\n'
        '  steps[0].action: "bash/run"  (flows/team/flow.yaml:5:13)\n'
        '  steps[0].params.command: "echo"  (flows/command.yaml:1:1)\n'
        '  steps[0].timeout: "1m"  (flows/defaults.yaml:1:17)\n'
        "  env.URL  (of the environment prod)\n"
    )
    assert "hidden" not in output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["validate", "flows", "--root", "nowhere"], "no such folder: nowhere"),
        (
            ["validate", "flows/command.yaml", "--root", "flows/team"],
            "flows/command.yaml is not below the root flows/team",
        ),
        (
            ["validate", "flows", "--environment", "Prod"],
            '"Prod" cannot be an environment: its name must be lower-case letters, digits, hyphens'
            " and underscores, at most 63, and begin with a letter or a digit",
        ),
        (
            ["validate", "-", "--environment", "prod"],
            "an environment belongs to a folder: name it with --root",
        ),
        (
            ["plan", "flows/team/flow.yaml", "--explain", "--format", "json"],
            "--explain is for people, and --format json for programs: choose one",
        ),
    ],
)
def test_what_cannot_be_is_2(flows, capsys, arguments, message):
    assert main(arguments) == 2
    assert capsys.readouterr() == ("", f"mantle: error: {message}\n")
