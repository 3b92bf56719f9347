"""Every example in ``dags/workflows`` does what its head comment says."""

from __future__ import annotations

from pathlib import Path

import pytest
from examples import blocks_that_ran, read_examples

pytestmark = pytest.mark.e2e

EXAMPLES = read_examples(Path(__file__).resolve().parents[2] / "dags" / "workflows")


@pytest.mark.parametrize(
    "example",
    [
        pytest.param(example, id=example.dag_id, marks=pytest.mark.workflow(example.dag_id))
        for example in EXAMPLES
    ],
)
def test_example_ends_as_its_comment_says(example, run):
    assert (run.state, blocks_that_ran(run.task_states)) == (example.ends, example.runs)


@pytest.mark.workflow("retry")
def test_a_retry_that_works_is_a_second_attempt_of_the_same_task(run):
    assert run.tasks["call-flaky-service"]["try_number"] == 2
    assert run.output("call-flaky-service")["json"] == {"stable": True}
    assert "returned 503" in run.log_text("call-flaky-service", try_number=1)


@pytest.mark.workflow("conditional")
def test_a_false_condition_skips_its_step_alone(run):
    assert run.task_states == {
        "check-stock": "success",
        "reorder": "success",
        "promote": "skipped",
        "report": "success",
    }
    assert run.output("report") == {"result": "reordered 20 pieces"}


@pytest.mark.workflow("conditional", region="north")
def test_inputs_of_a_run_decide_its_conditions(run):
    assert run.task_states == {
        "check-stock": "success",
        "reorder": "skipped",
        "promote": "success",
        "report": "success",
    }
    assert run.output("report") == {"result": "reordered 0 pieces"}


@pytest.mark.workflow("fan-out-fan-in")
def test_a_step_adds_up_what_its_parallel_steps_found(run):
    assert run.output("total") == {"result": "21 pieces"}


@pytest.mark.workflow("fallback")
def test_a_tolerated_failure_is_red_and_its_run_is_green(run):
    assert run.task_states["ask-price"] == "failed"
    assert run.output("quote")["json"] == {"received": {"price": 99, "estimated": True}}


@pytest.mark.workflow("failing-hook")
def test_a_failing_hook_halts_its_block_and_not_the_next(run):
    states = run.task_states
    assert states["on_success.register"] == "failed"
    assert states["on_success.celebrate"] == "upstream_failed"
    assert run.output("on_finish.audit")["json"]["received"] == {
        "status": "completed",
        "failed_hook": "register",
        "failed_in": "on_success",
    }


@pytest.mark.workflow("airflow-operator")
def test_an_operator_of_airflow_is_a_step_like_any_other(run):
    assert run.tasks["convert"]["operator"] == "BashOperator"
    assert run.output("report") == {"result": "168 pieces a year"}


@pytest.mark.workflow("deferrable-wait")
def test_a_deferrable_operator_waits_in_the_triggerer_and_resumes(run):
    log = run.log_text("wait")
    assert log.count("Pausing task as DEFERRED") == 1
    assert "Trigger fired event" in log
    assert run.output("go-on") == {"result": "the wait is over"}


@pytest.mark.workflow("python-callables")
def test_functions_take_and_return_plain_values(run):
    assert run.output("add-up") == {"1": 200}
    assert run.output("discount") == {"result": 10.0}


@pytest.mark.workflow("nightly-report", region="south")
def test_a_scheduled_workflow_takes_other_inputs_by_hand(run, suite):
    assert run.output("check-stock")["json"] == {"region": "south", "pieces": 0}
    assert {"channel": "#warehouse", "text": "south runs low"} in suite.inbox.slack_messages()


@pytest.mark.workflow("listed-order")
def test_listed_steps_run_one_after_the_other(run):
    starts = [run.tasks[step]["start_date"] for step in ("open-till", "sell", "close-till")]
    assert starts == sorted(starts)


@pytest.mark.workflow("email-report")
def test_a_report_goes_out_as_one_mail_to_all(run, suite):
    (mail,) = [mail for mail in suite.inbox.mails if mail["Subject"] == "Stock of west"]
    assert mail["To"] == "buyer@example.com, store@example.com"
    assert mail.get_content().split() == ["The", "warehouse", "west", "holds", "7", "pieces."]


@pytest.mark.workflow("slack-report")
def test_a_literal_brace_pair_stays_one(run, suite):
    text = "slack-report completed: 1 orders (template: {{ orders }})"
    assert {"channel": "#reports", "text": text} in suite.inbox.slack_messages()
