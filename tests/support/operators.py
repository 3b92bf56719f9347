"""Foreign operators that the tests run as steps."""

from __future__ import annotations

import time
from datetime import datetime, timedelta, timezone

from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.providers.standard.triggers.temporal import TimeDeltaTrigger
from airflow.sdk import BaseOperator
from airflow.sdk.exceptions import (
    AirflowFailException,
    AirflowRescheduleException,
    AirflowSkipException,
    DownstreamTasksSkipped,
    TaskAwaitingInput,
    TaskDeferred,
)


class Echo(BaseOperator):
    template_fields = ("text", "own")
    template_ext = (".sh",)

    def __init__(self, *, text, **kwargs):
        super().__init__(**kwargs)
        self.text = text
        self.own = "plain"

    def execute(self, context):
        return self.text


class Empty(EmptyOperator):
    pass


class FromTrigger(BaseOperator):
    start_from_trigger = True

    def execute(self, context):
        pass


class Raise(BaseOperator):
    def __init__(self, *, what, **kwargs):
        super().__init__(**kwargs)
        self.what = what

    def execute(self, context):
        raise {
            "AirflowFailException": AirflowFailException("no"),
            "AirflowSkipException": AirflowSkipException("no need"),
            "AirflowRescheduleException": AirflowRescheduleException(datetime.now(timezone.utc)),
            "DownstreamTasksSkipped": DownstreamTasksSkipped(tasks=["b"]),
            "TaskAwaitingInput": TaskAwaitingInput(method_name="execute"),
            "TaskDeferred": TaskDeferred(
                trigger=TimeDeltaTrigger(timedelta(hours=1)), method_name="execute"
            ),
        }[self.what]


class Resume(BaseOperator):
    is_stopped = False

    def go_on(self, context, event):
        return event

    def on_kill(self):
        self.is_stopped = True


class Sleep(BaseOperator):
    def execute(self, context):
        self.run_states = context["ti"].fake_run.states
        time.sleep(30)

    def on_kill(self):
        self.run_states["stopped"] = "yes"


class EndedAtWork(BaseOperator):
    """Fails because Airflow ends it."""

    def execute(self, context):
        self.on_kill()
        raise RuntimeError("exited with code -15")
