"""The examples in ``dags/`` are fit to be copied."""

from __future__ import annotations

from pathlib import Path

import pytest

from mantle_provider.check import check_file

EXAMPLES = sorted((Path(__file__).resolve().parent.parent / "dags" / "workflows").glob("*.yaml"))


def example_name(path):
    return path.stem


@pytest.mark.parametrize("path", EXAMPLES, ids=example_name)
def test_an_example_gives_no_diagnostics(path):
    assert check_file(path).report.diagnostics == ()


@pytest.mark.parametrize("path", EXAMPLES, ids=example_name)
def test_an_example_is_called_as_its_file(path):
    assert check_file(path).workflow.name == path.stem


@pytest.mark.parametrize("path", EXAMPLES, ids=example_name)
def test_an_example_says_how_it_ends(path):
    head = [line for line in path.read_text().splitlines() if line.startswith("#")]
    assert len([line for line in head if line in ("# Ends: success", "# Ends: failed")]) == 1
