"""The command line: what it prints and its exit codes."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys

import pytest

from mantle_provider import __version__
from mantle_provider.cli import commands, main

VALID = """\
name: valid
steps:
  - name: hello
    action: bash/run
    params: {command: echo hello}
"""
WRONG = VALID.replace("name: valid", "name: wrong").replace("bash/run", "bash/rum")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(folder, name, text):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_a_valid_file_is_0(folder, capsys):
    write(folder, "valid.yaml", VALID)
    assert main(["validate", "valid.yaml"]) == 0
    assert capsys.readouterr() == ("", "1 file checked: no errors\n")


def test_a_wrong_file_is_1_and_shown(folder, capsys):
    write(folder, "wrong.yaml", WRONG)
    assert main(["validate", "wrong.yaml"]) == 1
    output = capsys.readouterr()
    assert output.out == (
        'wrong.yaml:4:13: error: unknown action "bash/rum"; did you mean "bash/run"?'
        " (steps[0].action) [unknown-action]\n"
        " 4 |     action: bash/rum\n"
        "   |             ^^^^^^^^\n"
    )
    assert output.err == "1 file checked: 1 error\n"


def test_warnings_are_counted_and_0(folder, capsys):
    write(folder, "file.yaml", VALID + "on_limit: queue\n")
    assert main(["validate", "file.yaml"]) == 0
    assert capsys.readouterr().err == "1 file checked: no errors, 1 warning\n"


def test_folders_are_searched_and_other_yaml_left_alone(folder, capsys):
    write(folder, "flows/b.yml", VALID)
    write(folder, "flows/deep/a.yaml", WRONG)
    write(folder, "flows/deep/b.YAML", VALID.replace("name: valid", "name: other"))
    write(folder, "flows/values.yaml", "key: value\n")
    write(folder, "flows/list.yaml", "- key\n")
    write(folder, "flows/.hidden.yaml", "steps: 5\n")
    write(folder, "flows/.git/x.yaml", "steps: 5\n")
    write(folder, "flows/readme.txt", "steps: 5\n")
    assert main(["validate", "flows", "flows/b.yml"]) == 1
    output = capsys.readouterr()
    assert output.out.startswith(f"flows{os.sep}deep{os.sep}a.yaml:4:13: error: ")
    assert output.err == "3 files checked: 1 error, 2 files left alone, being no workflow\n"


def test_a_named_file_is_never_left_alone(folder, capsys):
    write(folder, "values.yaml", "key: value\n")
    assert main(["validate", "values.yaml"]) == 1
    assert "[missing-key]" in capsys.readouterr().out


def test_a_workflow_name_used_twice_names_both_files(folder, capsys):
    write(folder, "a.yaml", VALID)
    write(folder, "b.yaml", f"# comment\n{VALID}")
    write(folder, "c.yaml", "[]")
    assert main(["validate", "a.yaml", "b.yaml"]) == 1
    assert capsys.readouterr().out == (
        'b.yaml:2:7: error: two files have the workflow name "valid"; rename one'
        " (name) [duplicate-workflow]\n"
        " 2 | name: valid\n"
        "   |       ^^^^^\n"
        "  note: a.yaml:1:7: first used here\n"
    )


def test_missing_paths_are_2(folder, capsys):
    write(folder, "valid.yaml", VALID)
    assert main(["validate", "valid.yaml", "nope.yaml", "no/folder"]) == 2
    assert capsys.readouterr() == (
        "",
        "mantle: error: no such file or folder: nope.yaml, no/folder\n",
    )


@pytest.mark.parametrize("arguments", [[], ["validate"], ["validate", "-x"], ["destroy"]])
def test_wrong_usage_is_2(arguments, capsys):
    with pytest.raises(SystemExit) as raised:
        main(arguments)
    assert raised.value.code == 2
    assert "usage: mantle" in capsys.readouterr().err


def test_json_is_one_list_for_all_files(folder, capsys):
    write(folder, "valid.yaml", VALID)
    write(folder, "wrong.yaml", WRONG)
    assert main(["validate", "--format", "json", "."]) == 1
    output = capsys.readouterr()
    [found] = json.loads(output.out)
    assert (found["file"], found["line"], found["code"]) == (
        f".{os.sep}wrong.yaml",
        4,
        "unknown-action",
    )
    assert output.err == ""


def test_github_prints_annotations(folder, capsys):
    write(folder, "wrong.yaml", WRONG)
    assert main(["validate", "--format", "github", "wrong.yaml"]) == 1
    assert capsys.readouterr().out.startswith("::error file=wrong.yaml,title=unknown-action,line=4")


def test_standard_input_is_checked(folder, capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(WRONG.encode())))
    assert main(["validate", "-"]) == 1
    assert capsys.readouterr().out.startswith("<stdin>:4:13: error: ")


def test_actions_can_be_limited(folder, capsys):
    write(folder, "valid.yaml", VALID)
    assert main(["validate", "--allowed-actions", "http/*, text/*", "valid.yaml"]) == 1
    assert 'allowed: "http/*" and "text/*"' in capsys.readouterr().out


def test_a_plan_is_printed(folder, capsys):
    write(folder, "valid.yaml", VALID)
    assert main(["plan", "valid.yaml"]) == 0
    assert "valid" in capsys.readouterr().out


def test_a_plan_is_printed_as_json(folder, capsys):
    write(folder, "valid.yaml", VALID)
    assert main(["plan", "valid.yaml", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["failures"] == {
        "hello": {"effect": "fatal", "otherwise": "fatal", "cancels": [], "recoveries": {}}
    }


def test_a_wrong_file_has_no_plan(folder, capsys):
    write(folder, "wrong.yaml", WRONG)
    assert main(["plan", "wrong.yaml"]) == 1
    output = capsys.readouterr()
    assert (output.out, output.err.count("[unknown-action]")) == ("", 1)


def test_a_missing_file_has_no_plan(folder, capsys):
    assert main(["plan", "nope.yaml"]) == 2
    assert capsys.readouterr().err == "mantle: error: no such file or folder: nope.yaml\n"


def test_the_schema_is_printed(capsys):
    assert main(["schema"]) == 0
    assert json.loads(capsys.readouterr().out)["title"] == "Mantle workflow"


def test_the_version_is_printed(capsys):
    with pytest.raises(SystemExit) as raised:
        main(["--version"])
    assert raised.value.code == 0
    assert capsys.readouterr().out == f"mantle {__version__}\n"


def fail_with(monkeypatch, error):
    def validate(_):
        raise error

    monkeypatch.setattr(commands, "validate", validate)
    return main(["validate", "x"])


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (PermissionError(13, "Permission denied", "x.yaml"), "x.yaml: Permission denied"),
        (OSError("disk gone"), "disk gone"),
        (ValueError("odd"), "internal failure, please report it: ValueError: odd"),
    ],
)
def test_failures_are_2_and_never_a_traceback(error, message, monkeypatch, capsys):
    assert fail_with(monkeypatch, error) == 2
    assert capsys.readouterr().err == f"mantle: error: {message}\n"


def test_output_may_be_any_text_stream(folder, monkeypatch):
    write(folder, "wrong.yaml", WRONG)
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stdout", stream)
    assert main(["validate", "wrong.yaml"]) == 1
    assert stream.getvalue().startswith("wrong.yaml:4:13: error: ")


def test_a_broken_pipe_is_2_and_silent(monkeypatch, capsys, tmp_path):
    with (tmp_path / "out").open("w") as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        assert fail_with(monkeypatch, BrokenPipeError()) == 2
    assert capsys.readouterr().err == ""


def test_ctrl_c_is_130(monkeypatch, capsys):
    assert fail_with(monkeypatch, KeyboardInterrupt()) == 130
    assert capsys.readouterr() == ("", "")


SCRIPT = "from mantle_provider.cli import main; raise SystemExit(main({arguments!r}))"


def run(*arguments, **options):
    """Run the command in a process of its own."""
    command = [sys.executable, "-c", SCRIPT.format(arguments=list(arguments))]
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "timeout": 60, **options}
    return subprocess.run(command, check=False, **options)


def test_a_reader_that_has_gone_is_no_failure_to_talk_about(folder):
    write(folder, "wrong.yaml", WRONG)
    reading_end, writing_end = os.pipe()
    os.close(reading_end)
    result = run("validate", "--format", "json", "wrong.yaml", stdout=writing_end)
    os.close(writing_end)
    assert (result.returncode, result.stderr) == (2, b"")


def test_a_terminal_without_unicode_is_no_failure(folder):
    write(folder, "wrong.yaml", WRONG.replace("bash/rum", "bäsh/rum"))
    result = run("validate", "wrong.yaml", env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert (result.returncode, b"b\\xe4sh/rum" in result.stdout) == (1, True)


def test_standard_input_is_read_as_bytes(folder):
    result = run("validate", "-", input=b"a: \xff")
    assert (result.returncode, b"[invalid-encoding]" in result.stdout) == (1, True)


def test_validate_loads_neither_airflow_nor_heavy_libraries(folder):
    write(folder, "valid.yaml", VALID)
    script = (
        "import sys; from mantle_provider.cli import main; code = main(['validate', 'valid.yaml']);"
        "heavy = {'airflow', 'pendulum', 'pydantic', 'celpy'} & set(sys.modules);"
        "print(code, sorted(heavy))"
    )
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True
    )
    assert result.stdout == "0 []\n"


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(("files", "expected"), [(49, []), (61, [*range(0, 61, 10)])])
def test_progress_is_shown_on_a_terminal_where_there_are_many_files(
    tmp_path, monkeypatch, capsys, files, expected
):
    for number in range(files):
        (tmp_path / f"{number}.yaml").write_text("a: 1\n")
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    assert main(["validate", str(tmp_path)]) == 0
    *lines, last = terminal.getvalue().split("\r")
    counts = [f"{number:>2} of {files} files checked" for number in expected]
    assert lines[1:] == ([*counts, " " * len(counts[0])] if counts else [])
    assert last == f"no files checked: no errors, {files} files left alone, being no workflow\n"
    assert capsys.readouterr().out == ""


def test_progress_goes_when_the_command_ends_early(tmp_path, monkeypatch, capsys):
    for number in range(60):
        (tmp_path / f"{number}.yaml").write_text("a: 1\n")
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(commands, "check_file", interrupted)
    assert main(["validate", str(tmp_path)]) == 130
    line = " 0 of 60 files checked"
    assert terminal.getvalue() == f"\r{line}\r{' ' * len(line)}\r"
    assert capsys.readouterr().out == ""


def interrupted(*_):
    raise KeyboardInterrupt
