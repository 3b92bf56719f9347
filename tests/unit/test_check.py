"""From text or file to report."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mantle_provider.check import CheckOptions, check_file, check_text
from mantle_provider.diagnostics import render_text

TEXT = (Path(__file__).parents[1] / "cases" / "valid" / "every-key.yaml").read_text("utf-8")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("key: value\n", True),
        ("- a\n", True),
        ("text", True),
        ("", True),
        ("# comment\n", True),
        ("kind: A\n---\nkind: B\n", True),
        ("key: !vault x\n", True),
        ("key: 1\nkey: 2\n", True),
        ("steps: []\n", False),
        ("hooks:\n", False),
        ("triggers: 5\n", False),
        ("kind: A\n---\nsteps: []\n", False),
        ("key: [\n", False),
        ("key: \x00\n", False),
    ],
)
def test_a_file_that_parses_without_our_keys_is_foreign(text, expected):
    assert check_text(text).is_foreign is expected


def test_a_file_that_is_not_utf_8_or_too_large_is_ours_to_answer_for():
    assert not check_text(b"key: \xff\n").is_foreign
    assert not check_text("key: value\n", options=CheckOptions(max_file_bytes=5)).is_foreign


def test_a_file_is_read_as_bytes_and_named_by_its_path(tmp_path):
    path = tmp_path / "flow.yaml"
    path.write_bytes("\ufeffname: flow\r\nsteps: []\r\n".encode())
    report = check_file(path).report
    assert report.name == str(path)
    assert [report.locate(item).line for item in report.diagnostics] == [2]


def test_a_file_over_the_limit_is_not_read_whole(tmp_path):
    path = tmp_path / "flow.yaml"
    path.write_bytes(b"x" * 1000)
    options = CheckOptions(max_file_bytes=999)
    assert [item.code for item in check_file(path, options).report.diagnostics] == [
        "file-too-large"
    ]
    assert check_file(path).is_foreign


def test_a_missing_file_is_an_exception(tmp_path):
    with pytest.raises(FileNotFoundError):
        check_file(tmp_path / "nope.yaml")


def test_what_follows_from_an_unreadable_value_is_not_told():
    text = "name: a\nsteps:\n  - {name: b, action: !x bash/rum, timeout: .inf, if: 5}\n"
    codes = [item.code for item in check_text(text).report.diagnostics]
    assert codes == ["unsupported-tag", "invalid-scalar", "wrong-type"]


def test_warnings_still_give_a_workflow():
    result = check_text(
        "name: a\non_limit: queue\nsteps: [{name: b, action: bash/run, params: {command: x}}]"
    )
    assert [item.code for item in result.report.diagnostics] == ["ineffective-key"]
    assert result.workflow is not None


@pytest.mark.property
@settings(max_examples=200, deadline=None)
@given(
    st.integers(0, len(TEXT)),
    st.integers(0, 30),
    st.sampled_from(["", "{{", "}}", "\n", ": ", "- ", "*a", "&a ", "<<: ", "!x ", "\t", '"', "0"]),
)
def test_no_damage_to_a_file_makes_the_check_fail(start, length, text):
    result = check_text(TEXT[:start] + text + TEXT[start + length :])
    assert (result.workflow is None) == bool(result.report.errors)
    assert bool(render_text(result.report)) == bool(result.report.diagnostics)
