"""Files that come, change, break and go while Airflow runs."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.e2e

RELOAD_SECONDS = 90

GREETING = """\
name: {name}
description: {description}
steps:
  - name: greet
    action: bash/run
    params: {{ command: echo "hello" }}
"""


def test_a_broken_file_is_an_import_error_of_its_own(suite):
    broken = suite.folder / "broken.yaml"
    broken.write_text("name: broken\nsteps:\n  - name: greet\n    acton: bash/run\n")
    errors = suite.airflow.wait(
        suite.client.import_errors,
        "the import error of broken.yaml",
        seconds=RELOAD_SECONDS,
    )
    (text,) = errors.values()
    assert 'broken.yaml:4:5: error: unknown key "acton" in step; did you mean "action"?' in text
    assert "Traceback" not in text
    assert "hello" in suite.client.dag_ids()
    broken.unlink()
    suite.airflow.wait(
        suite.client.import_errors,
        "the import error to go",
        seconds=RELOAD_SECONDS,
        is_good=lambda errors: not errors,
    )


def test_a_file_is_a_dag_for_as_long_as_it_is_there(suite):
    file = suite.folder / "visitor.yaml"
    file.write_text(GREETING.format(name="visitor", description="first"))
    wait_for_description(suite, "visitor", "first")
    file.write_text(GREETING.format(name="visitor", description="second"))
    wait_for_description(suite, "visitor", "second")
    file.unlink()
    suite.airflow.wait(
        suite.client.dag_ids,
        "the Dag visitor to go",
        seconds=RELOAD_SECONDS,
        is_good=lambda dag_ids: "visitor" not in dag_ids,
    )


@pytest.mark.workflow("by-loader")
def test_the_loader_of_a_plain_dags_folder_runs_workflows_too(run):
    assert run.state == "success"
    assert run.output("greet") == {"result": "hello"}


@pytest.mark.workflow("broken-workflow.broken-by-hand.yaml")
def test_a_broken_file_of_the_loader_is_a_dag_that_cannot_run_green(run):
    assert run.state == "failed"
    message = 'broken-by-hand.yaml:5:5: error: unknown key \\"acton\\" in step'
    assert message in run.log_text("invalid_workflow")


def wait_for_description(suite, dag_id, description):
    suite.airflow.wait(
        lambda: suite.client.descriptions().get(dag_id),
        f'the description "{description}"',
        seconds=RELOAD_SECONDS,
        is_good=lambda seen: seen == description,
    )
