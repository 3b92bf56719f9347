"""Workflows that share, each project a folder of ``cases/projects`` with its text beside it.

``pytest tests/test_projects.py --update-cases`` writes the expected texts; review them with git.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from test_cases import SEVERAL_FILES

from mantle_provider.cli.main import main
from mantle_provider.diagnostics import CATALOGUE
from mantle_provider.workflow.defaults import is_defaults

PROJECTS = Path(__file__).parent / "cases" / "projects"
NAMES = sorted(path.name for path in PROJECTS.iterdir() if path.is_dir())

ENVIRONMENTS = {
    "duplicate-variable": "prod",
    "environments": "prod",
    "missing-environment": "prd",
}
"""Projects that are checked for a named environment."""


@pytest.fixture(params=NAMES)
def project(request):
    return request.param


def options_of(name):
    environment = ENVIRONMENTS.get(name)
    return [] if environment is None else ["--environment", environment]


def test_a_project_gives_its_text(project, request, monkeypatch, capsys):
    """What is wrong with it, or else where each value of its workflows stands."""
    monkeypatch.chdir(PROJECTS)
    options = options_of(project)
    text = ""
    if main(["validate", project, *options]) != 0:
        text = capsys.readouterr().out
    else:
        for path in sorted(Path(project).rglob("*.yaml")):
            if "steps:" in path.read_text() and not is_defaults(str(path)):
                capsys.readouterr()
                assert main(["plan", str(path), "--explain", "--root", project, *options]) == 0
                values = capsys.readouterr().out.partition("\nvalues\n")[2]
                text += f"{path.as_posix()}\n{values}"
    expected = PROJECTS / f"{project}.out"
    if request.config.getoption("--update-cases"):
        expected.write_text(text, encoding="utf-8")
    assert text == expected.read_text(encoding="utf-8")


@pytest.mark.parametrize("code", sorted(SEVERAL_FILES))
def test_a_code_that_takes_several_files_has_a_project(code):
    assert code in CATALOGUE
    assert f"[{code}]" in (PROJECTS / f"{code}.out").read_text(encoding="utf-8")


def test_the_page_shows_where_values_of_a_project_stand():
    page = (PROJECTS.parents[2] / "docs/how-to/share-between-workflows.md").read_text()
    text = (PROJECTS / "defaults-of-a-folder.out").read_text(encoding="utf-8")
    shown = page.partition("```text\n")[2].partition("```")[0].splitlines()
    lines = text.replace("defaults-of-a-folder/", "workflows/").splitlines()
    assert shown == [line for line in lines if line in shown]


def test_expected_texts_belong_to_projects():
    assert sorted(path.stem for path in PROJECTS.glob("*.out")) == NAMES
