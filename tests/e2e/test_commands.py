"""What a command of ``bash/run`` finds on a real worker."""

from __future__ import annotations

import pytest

pytestmark = [pytest.mark.e2e, pytest.mark.workflow("commands")]


def test_a_command_that_reads_its_input_finds_the_end(run):
    assert run.state == "success"
    assert run.output("after") == {"result": "nothing to read"}


def test_a_command_knows_its_run(run):
    """By these names ``test_timeouts.py`` finds the processes of a run."""
    assert run.output("name-run") == {"result": f"{run.dag_id} {run.run_id}"}
