"""Every case of the checking side: valid files give nothing, wrong ones exactly their text.

``pytest tests/test_cases.py --update-cases`` writes the expected texts; review them with git.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from mantle_provider.check import CheckOptions, CheckResult, check_text
from mantle_provider.diagnostics import CATALOGUE, render_text

CASES = Path(__file__).parent / "cases"
VALID = sorted((CASES / "valid").glob("*.yaml"))
ERRORS = sorted((CASES / "errors").glob("*.yaml"))

OPTIONS = {
    "action-not-allowed": CheckOptions(allowed_actions=("http/*", "text/chunk")),
    "file-too-large": CheckOptions(max_file_bytes=200),
}
"""Cases that are checked with other options than the defaults."""

SEVERAL_FILES = {
    "duplicate-variable",
    "include-cycle",
    "invalid-include",
    "misnamed-defaults",
    "missing-environment",
    "missing-include",
    "not-a-default",
}
"""Codes that take a project of several files; see test_projects.py."""

NOT_A_CASE = {
    **dict.fromkeys(SEVERAL_FILES, "takes several files; see test_projects.py"),
    "duplicate-workflow": "takes two files; see tests/unit/cli",
    "include-limit": "takes many files; see tests/unit/test_sharing.py",
    "refused-operator": "takes Airflow; see tests/integration/builder",
    "unknown-operator": "takes Airflow; see tests/integration/builder",
    "unreadable-file": "takes a file without permissions; see tests/integration/builder",
}
"""Codes that no single file can show."""


def check_case(path: Path) -> CheckResult:
    """Check a case under its bare name, so that texts do not depend on the checkout."""
    return check_text(path.read_bytes(), path.name, OPTIONS.get(path.stem))


def code_of(path: Path) -> str:
    """Return the code a case is about: its name, or the beginning of it."""
    codes = [code for code in CATALOGUE if f"{path.stem}-".startswith(f"{code}-")]
    return max(codes, key=len)


def id_of(path: Path) -> str:
    return path.stem


@pytest.mark.parametrize("path", VALID, ids=id_of)
def test_valid_case_gives_no_diagnostics(path):
    result = check_case(path)
    assert render_text(result.report) == ""
    assert result.workflow is not None


@pytest.mark.parametrize("path", ERRORS, ids=id_of)
def test_wrong_case_gives_its_text(path, request):
    result = check_case(path)
    expected = path.with_suffix(".out")
    text = render_text(result.report)
    if request.config.getoption("--update-cases"):
        expected.write_text(text, encoding="utf-8")
    assert text == expected.read_text(encoding="utf-8")
    assert code_of(path) in {item.code for item in result.report.diagnostics}
    assert (result.workflow is None) == bool(result.report.errors)


@pytest.mark.parametrize("code", sorted(set(CATALOGUE) - set(NOT_A_CASE)))
def test_every_code_has_a_case(code):
    assert code in {code_of(path) for path in ERRORS}


def test_expected_texts_belong_to_cases():
    texts = {path.stem for path in (CASES / "errors").glob("*.out")}
    assert texts == {path.stem for path in ERRORS}
