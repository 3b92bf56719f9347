"""``mantle cancel``: what it asks of Airflow and what it says."""

from __future__ import annotations

import pytest

from support.fake_airflow import DAG_ID, RUN_ID, as_json, make_run

RUN = f'run "{RUN_ID}" of "{DAG_ID}"'
PATH = f"/api/v2/dags/{DAG_ID}/dagRuns/manual__2026-11-30T12%3A12%3A14.180485%2B00%3A00"


@pytest.mark.parametrize("state", ["running", "queued"])
@pytest.mark.parametrize("run_id", [RUN_ID, "latest"])
def test_an_unfinished_run_is_marked_failed(state, run_id, airflow, mantle):
    airflow.runs = [make_run(state=state), make_run(run_id="earlier", state="running")]
    assert mantle("cancel", DAG_ID, run_id) == (0, f"cancelled {RUN}\n", "")
    request = airflow.requests[-1]
    assert (request.method, request.path, request.body) == ("PATCH", PATH, {"state": "failed"})


@pytest.mark.parametrize("state", ["success", "failed"])
def test_a_finished_run_is_left_alone(state, airflow, mantle):
    airflow.runs = [make_run(state=state)]
    message = f"mantle: error: {RUN} has ended already: {state}\n"
    assert mantle("cancel", DAG_ID, RUN_ID) == (1, "", message)
    assert [request.method for request in airflow.requests] == ["GET"]


def test_a_run_that_goes_on_all_the_same_is_a_failure(airflow, mantle):
    airflow.runs = [make_run(state="running")]
    airflow.replies["PATCH", PATH] = as_json(make_run(state="running"))
    message = "Airflow was asked to cancel the run, but says that it is running"
    assert mantle("cancel", DAG_ID, RUN_ID) == (2, "", f"mantle: error: {message}\n")


def test_every_character_of_an_id_is_kept(airflow, mantle):
    run_id = "päy/ro ll?#%2F"
    airflow.runs = [make_run(run_id=run_id, state="running")]
    assert mantle("cancel", DAG_ID, run_id)[0] == 0
    assert airflow.requests[-1].path.endswith("/dagRuns/p%C3%A4y%2Fro%20ll%3F%23%252F")


@pytest.mark.parametrize(
    ("dag_id", "run_id", "message"),
    [
        (
            "nightly-repot",
            RUN_ID,
            'there is no Dag "nightly-repot"; did you mean "nightly-report" or "hourly-report"?',
        ),
        (
            "other",
            "latest",
            'there is no Dag "other"; known: "nightly-report", "hourly-report"',
        ),
        (
            DAG_ID,
            "manual__2026-11-30",
            f'Dag "{DAG_ID}" has no run "manual__2026-11-30"; did you mean "{RUN_ID}"?',
        ),
        (DAG_ID, "x", f'Dag "{DAG_ID}" has no run "x"; known: "{RUN_ID}"'),
        ("~", "latest", '"~" is not the id of a Dag'),
        ("..", RUN_ID, '".." is not the id of a Dag'),
        (DAG_ID, "", '"" is not the id of a run'),
    ],
)
def test_what_does_not_exist_is_said(dag_id, run_id, message, airflow, mantle):
    assert mantle("cancel", dag_id, run_id) == (2, "", f"mantle: error: {message}\n")
    assert {request.method for request in airflow.requests} <= {"GET"}


@pytest.mark.parametrize(
    ("run_id", "message"),
    [("latest", "has no run yet"), ("other", 'has no run "other"; it has none yet')],
)
def test_a_dag_without_runs_has_none_to_cancel(run_id, message, airflow, mantle):
    airflow.runs = []
    assert mantle("cancel", DAG_ID, run_id)[2] == f'mantle: error: Dag "{DAG_ID}" {message}\n'


def test_near_matches_are_left_out_when_there_is_no_list_of_dags(airflow, mantle):
    airflow.replies["GET", "/api/v2/dags"] = as_json({"detail": "no"}, 403)
    assert mantle("cancel", "x", "latest")[2] == 'mantle: error: there is no Dag "x"\n'


def test_other_failures_to_find_a_run_are_not_taken_for_a_missing_one(airflow, mantle):
    airflow.replies["GET", f"/api/v2/dags/{DAG_ID}/dagRuns"] = as_json({"detail": "no"}, 500)
    message = (
        f"mantle: error: Airflow at {airflow.url} answered"
        f" GET /api/v2/dags/{DAG_ID}/dagRuns with 500: no\n"
    )
    assert mantle("cancel", DAG_ID, "latest") == (2, "", message)
    assert mantle("cancel", DAG_ID, "other") == (2, "", message)
