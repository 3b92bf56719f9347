"""Plain values to the model."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone

import pytest

from mantle_provider.workflow.decode import decode_workflow
from mantle_provider.workflow.model import (
    AirflowOptions,
    Artifact,
    CronTrigger,
    EmailTrigger,
    ErrorHandler,
    ErrorRule,
    Input,
    LifecycleHooks,
    Outputs,
    Retry,
    Step,
    StepAirflowOptions,
    SwitchCase,
    WebhookTrigger,
    Workflow,
)


def decode(value):
    draft = decode_workflow(value)
    assert draft.diagnostics == ()
    return draft.workflow


def make_file(**keys):
    return {"name": "file", "steps": [{"name": "a", "action": "bash/run"}], **keys}


def decode_step(**keys):
    step = {"name": "a", "action": "bash/run", **keys}
    [decoded] = decode(make_file(steps=[step])).steps
    return decoded


def test_a_small_file_has_the_defaults_of_the_model():
    assert decode(make_file()) == Workflow("file", (Step("a", "bash/run"),))


def test_every_key_of_a_workflow_is_decoded():
    workflow = decode(
        make_file(
            description="d",
            inputs={
                "x": {"type": "number", "default": 1, "required": True, "enum": [1, 2]},
                "y": None,
            },
            triggers=[
                {"type": "cron", "schedule": "@daily", "timezone": "UTC"},
                {"type": "webhook", "path": "/hooks/x", "secret": "s"},
                {"type": "email", "mailbox": "m", "folder": "f", "filter": "all"},
            ],
            hooks={"timeout": "1m", "on_finish": [{"name": "h", "action": "bash/run"}]},
            timeout="1h",
            max_parallel_executions=1,
            on_limit="reject",
            token_budget=0,
            order="listed",
            result="a",
            fail_fast=True,
            before_start=[{"name": "b", "action": "bash/run"}],
            error_handler={"class": "p.H", "targets": ["a"]},
            callbacks={"on_finish": "p.f"},
            listeners=["p.l"],
            airflow={
                "tags": ["t"],
                "owner": "o",
                "start_date": "2026-01-31",
                "timezone": "UTC",
                "catchup": True,
                "max_active_tasks": 1,
                "assets": ["s3://x"],
                "doc": "d",
                "pool": "p",
                "queue": "q",
                "priority_weight": 1,
                "executor": "e",
            },
        )
    )
    assert workflow == Workflow(
        name="file",
        steps=(Step("a", "bash/run"),),
        description="d",
        inputs=(Input("x", "number", "", 1, required=True, enum=(1, 2)), Input("y")),
        triggers=(
            CronTrigger("@daily", "UTC"),
            WebhookTrigger("/hooks/x", "s"),
            EmailTrigger("m", "f", "all"),
        ),
        hooks=LifecycleHooks(timedelta(minutes=1), on_finish=(Step("h", "bash/run"),)),
        timeout=timedelta(hours=1),
        max_parallel_executions=1,
        on_limit="reject",
        token_budget=0,
        order="listed",
        result="a",
        fail_fast=True,
        before_start=(Step("b", "bash/run"),),
        error_handler=ErrorHandler("p.H", ("a",)),
        on_finish_callback="p.f",
        listeners=("p.l",),
        airflow=AirflowOptions(
            tags=("t",),
            owner="o",
            start_date=date(2026, 1, 31),
            timezone="UTC",
            catchup=True,
            max_active_tasks=1,
            assets=("s3://x",),
            doc="d",
            pool="p",
            queue="q",
            priority_weight=1,
            executor="e",
        ),
    )


def test_every_key_of_a_step_is_decoded():
    step = decode_step(
        params={"x": ["{{ 1 }}"]},
        for_each="[1]",
        **{"if": "true"},
        depends_on=["b"],
        retry={"max_attempts": 3, "backoff": "exponential", "delay": "2s", "max_delay": "1m"},
        timeout="1m",
        credential="c",
        registry_credential="r",
        continue_on_error=True,
        artifacts=[{"path": "p", "name": "n", "keep": "never"}],
        max_parallel=2,
        on_dep_failure="cancel_branch",
        on_error=[
            {"when": "true", "retry": {"retries": 2}},
            {"transition_to": "b"},
            {"fail": True},
        ],
        outputs={"required": ["x"], "map": {"y": "output.x"}},
        callbacks={"on_finish": "p.f"},
        airflow={"pool": "p", "executor_config": {"x": 1}},
    )
    assert step == Step(
        name="a",
        action="bash/run",
        params={"x": ["{{ 1 }}"]},
        for_each="[1]",
        condition="true",
        depends_on=("b",),
        retry=Retry(3, "exponential", timedelta(seconds=2), timedelta(minutes=1)),
        timeout=timedelta(minutes=1),
        credential="c",
        registry_credential="r",
        continue_on_error=True,
        artifacts=(Artifact("p", "n", "never"),),
        max_parallel=2,
        on_dep_failure="cancel_branch",
        on_error=(
            ErrorRule("true", retry=Retry(3)),
            ErrorRule(transition_to="b"),
            ErrorRule(fail=True),
        ),
        outputs=Outputs(("x",), {"y": "output.x"}),
        on_finish_callback="p.f",
        airflow=StepAirflowOptions(pool="p", executor_config={"x": 1}),
    )


def test_a_router_step_has_cases_instead_of_an_action():
    step = {"name": "a", "switch": [{"when": "true", "to": "b"}, {"else": "c"}]}
    [decoded] = decode(make_file(steps=[step])).steps
    assert decoded == Step("a", switch=(SwitchCase("b", "true"), SwitchCase("c")))


@pytest.mark.parametrize("condition", [True, False])
def test_a_boolean_is_an_expression(condition):
    assert decode_step(**{"if": condition}).condition == str(condition).lower()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-01-31", date(2026, 1, 31)),
        ("2026-01-31 08:00", datetime(2026, 1, 31, 8)),  # noqa: DTZ001  # naive is meant
        ("2026-01-31T08:00:00Z", datetime(2026, 1, 31, 8, tzinfo=timezone.utc)),
        (
            "2026-01-31T08:00:00+01:00",
            datetime(2026, 1, 31, 8, tzinfo=timezone(timedelta(hours=1))),
        ),
    ],
)
def test_a_start_date_is_a_date_or_a_time(text, expected):
    assert decode(make_file(airflow={"start_date": text})).airflow.start_date == expected


def test_a_step_that_cannot_be_decoded_keeps_its_name_and_place():
    steps = [{"name": "a", "action": "bash/run", "timeout": 5}, {"name": "b", "action": "x/y"}, 7]
    draft = decode_workflow(make_file(steps=steps))
    assert draft.workflow.steps == (Step("b", "x/y"),)
    assert [(placed.name, placed.path) for placed in draft.steps] == [
        ("a", ("steps", 0)),
        ("b", ("steps", 1)),
        (None, ("steps", 2)),
    ]
    assert draft.steps[0].step is None


def test_two_files_that_say_the_same_are_equal():
    one = make_file(timeout="90s", inputs={"x": {}})
    another = make_file(inputs={"x": None}, timeout="1m30s", hooks=None, **{"x-note": 1})
    assert decode(one) == decode(another)
