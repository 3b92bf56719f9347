"""The reference pages say what the code does."""

from __future__ import annotations

import argparse
import importlib.util
import re
from pathlib import Path

import pytest

from mantle_provider.cli.main import _parser
from mantle_provider.workflow.keys import BLOCKS

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def generator():
    path = ROOT / "scripts" / "generate_docs.py"
    spec = importlib.util.spec_from_file_location("generate_docs", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", ["workflow.md", "diagnostics.md"])
def test_generated_pages_are_up_to_date(page, generator):
    path = ROOT / "docs" / "reference" / page
    assert path.read_text(encoding="utf-8") == generator.generate()[path]


def test_every_block_has_an_example(generator):
    assert list(generator.EXAMPLES) == [block.title for block in BLOCKS]


def test_the_command_line_page_names_every_command_and_option():
    page = (ROOT / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")
    [commands] = [
        action for action in _parser()._actions if isinstance(action, argparse._SubParsersAction)
    ]
    for name, command in commands.choices.items():
        assert f"## mantle {name}" in page
        for action in command._actions:
            for option in action.option_strings[-1:]:
                assert f"`{option}" in page


@pytest.mark.parametrize(
    ("page", "module"),
    [
        ("reference/state.md", "tests/support/observers.py"),
        ("how-to/call-your-own-code.md", "dags/demo_callbacks.py"),
    ],
)
def test_the_callbacks_that_pages_show_are_run_by_tests(page, module):
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    shown = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    code = (ROOT / module).read_text(encoding="utf-8")
    assert shown
    assert [block for block in shown if block not in code] == []


def test_the_editor_page_names_the_modeline():
    page = (ROOT / "docs" / "how-to" / "editor-schema.md").read_text(encoding="utf-8")
    assert "# yaml-language-server: $schema=" in page
