"""What the how-to pages on the end of a run promise, shown by their examples."""

from __future__ import annotations

from pathlib import Path
from tempfile import gettempdir

import pytest

pytestmark = pytest.mark.e2e


def bodies(suite, path, key, run):
    """Return what arrived at one path from one run, which the body names under ``key``."""
    received = [request.body for request in suite.inbox.requests if request.path == path]
    return [body for body in received if body[key] == run.run_id]


@pytest.mark.workflow("mail-about-end")
def test_a_mail_names_every_failed_step_and_its_cause(run, suite):
    subject = "mail-about-end failed at fetch-prices"
    (mail,) = [mail for mail in suite.inbox.mails if mail["Subject"] == subject]
    cause = "http/request: GET /error/503 returned 503"
    first, failed, publish = mail.get_content().splitlines()
    assert first == f"The cause: {cause}"
    assert f'"fetch-prices (fatal): {cause}"' in failed
    assert '"fetch-stock (tolerated): http/request: GET /stock/east returned 404"' in failed
    assert publish == "Step publish: CANCELLED"


@pytest.mark.workflow("mail-by-callback")
def test_a_callback_mails_the_state_of_the_run(run, suite):
    subject = "mail-by-callback failed"
    (mail,) = [mail for mail in suite.inbox.mails if mail["Subject"] == subject]
    assert mail.get_content().splitlines() == [
        f"mail-by-callback failed ({run.run_id})",
        "check-stock (fatal): http/request: GET /stock/east returned 404",
    ]


@pytest.mark.workflow("drop-source-data")
def test_source_data_is_dropped_by_id_once_it_has_arrived(run, suite):
    assert run.state == "success"
    dropped = bodies(suite, "/echo/source/orders", "run", run)
    assert dropped == [{"ids": [101, 102], "run": run.run_id}]


@pytest.mark.workflow("drop-source-data", warehouse="/customers")
def test_source_data_stays_when_rows_are_missing(run, suite):
    assert run.state == "failed"
    assert run.task_states["verify"] == "failed"
    assert bodies(suite, "/echo/source/orders", "run", run) == []


@pytest.mark.workflow("keep-for-triage")
def test_refused_rows_of_a_failed_run_can_be_looked_at(run, suite):
    kept = run.xcoms("import-rows")["mantle_artifacts"]
    files = {name: Path(file["url"].removeprefix("file://")) for name, file in kept.items()}
    assert files["refused-rows"].read_text() == "2,eighty\n"
    assert files["summary"].read_text() == "2 rows, 1 refused\n"
    assert not files["rows"].exists()
    url = kept["refused-rows"]["url"]
    text = f"bash/run: the command exited with code 3; 9 bytes to look at: {url}"
    assert {"channel": "#imports", "text": text} in suite.inbox.slack_messages()


@pytest.mark.workflow("clean-up-files")
def test_a_failed_step_removes_what_it_has_written(run):
    assert run.tasks["download"]["try_number"] == 2
    assert not (Path(gettempdir()) / f"mantle-download-{run.run_id}").exists()


@pytest.mark.workflow("clean-up-files")
def test_a_step_that_worked_removes_its_files_when_the_workflow_fails(run):
    assert run.state == "failed"
    output = run.output("write-parts")
    assert output["parts"] == 3
    assert not Path(output["folder"]).exists()


@pytest.mark.workflow("release-lock")
def test_a_lock_is_released_after_a_failure(run, suite):
    assert run.task_states["load"] == "failed"
    owner = {"table": "orders", "owner": run.run_id}
    assert bodies(suite, "/echo/lock/take", "owner", run) == [owner]
    assert bodies(suite, "/echo/lock/release", "owner", run) == [owner]


@pytest.mark.workflow("release-lock", locks="/error/423")
def test_a_lock_that_was_not_taken_is_not_released(run, suite):
    assert run.task_states["take-lock"] == "failed"
    assert run.task_states["load"] == "upstream_failed"
    assert run.task_states["on_finish.give-lock-back"] == "skipped"
    assert bodies(suite, "/echo/lock/release", "owner", run) == []
