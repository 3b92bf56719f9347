"""The documentation shows nothing that is not run or checked; its links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import dedent

import pytest

from mantle_provider.check import check_text

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
CODE_BLOCK = re.compile(r"^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:|#)(?P<target>[^)#]+)")
TEST_LINK = re.compile(r"\[`(?P<name>test_\w+)`\]\((?P<target>[^)#]+)\)")
YAML_SOURCES = (
    ROOT / "dags" / "workflows",
    ROOT / "tests" / "cases",
    ROOT / "docs" / "how-to" / "deploy",
)


def page_name(page):
    return str(page.relative_to(ROOT))


def yaml_blocks():
    for page in PAGES:
        blocks = [match for match in CODE_BLOCK.finditer(page.read_text()) if match["language"]]
        for number, block in enumerate(blocks, start=1):
            if block["language"] == "yaml":
                yield pytest.param(dedent(block["text"]), id=f"{page_name(page)}-{number}")


def is_part_of(block, file):
    """Whether the block's lines stand in the file one after the other, however far indented."""
    wanted = block.splitlines()
    lines = file.read_text(errors="replace").splitlines()
    return any(
        dedent("\n".join(lines[start : start + len(wanted)])).splitlines() == wanted
        for start in range(len(lines) - len(wanted) + 1)
    )


@pytest.mark.parametrize("block", yaml_blocks())
def test_yaml_is_part_of_an_example_or_case_or_a_valid_workflow(block):
    sources = [file for folder in YAML_SOURCES for file in folder.rglob("*.yaml")]
    if not any(is_part_of(block, file) for file in sources):
        assert check_text(block).report.diagnostics == ()


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_links_lead_to_files(page):
    targets = [match["target"] for match in LINK.finditer(page.read_text())]
    assert [target for target in targets if not (page.parent / target).exists()] == []


def test_every_row_of_apitomys_tests_is_offered_or_refused_with_a_reason():
    page = (ROOT / "docs" / "reference" / "errors.md").read_text()
    rows = re.findall(r"^\| ([ESB]\d+(?:, [ESB]\d+)*) \| (.*)$", page, re.MULTILINE)
    named = [row for names, _ in rows for row in names.split(", ")]
    wanted = {"E": range(1, 20), "S": range(1, 17), "B": range(1, 22)}
    assert sorted(named) == sorted(f"{kind}{n}" for kind, ns in wanted.items() for n in ns)
    assert [names for names, text in rows if not text.strip("| ")] == []


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_headings_are_in_sentence_case(page):
    text = CODE_BLOCK.sub("", page.read_text())
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    assert [heading for heading in headings if heading.istitle() and " " in heading] == []


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_tests_that_a_page_names_exist(page):
    named = [(match["name"], match["target"]) for match in TEST_LINK.finditer(page.read_text())]
    missing = [
        name for name, target in named if f"\ndef {name}(" not in (page.parent / target).read_text()
    ]
    assert missing == []
