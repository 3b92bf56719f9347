"""Every key of the language, once: decoding, JSON Schema and reference docs are driven by it.

Those of a step are in :mod:`mantle_provider.workflow.step_keys`. Descriptions are shown by editors
and in the docs; backquotes mark code.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from mantle_provider.diagnostics.wording import join_choices, quote
from mantle_provider.workflow.blocks import Block, Key, ListOf, MapOf, Object, Variants
from mantle_provider.workflow.kinds import (
    AnyValue,
    Boolean,
    Choice,
    DottedPath,
    Duration,
    Integer,
    Name,
    StartDate,
    Text,
)
from mantle_provider.workflow.step_keys import (
    ARTIFACT,
    CALLBACKS,
    ELSE_CASE,
    ERROR_RETRY,
    ERROR_RULE,
    OUTPUTS,
    RETRY,
    STEP,
    STEP_AIRFLOW,
    SWITCH_CASE,
)

if TYPE_CHECKING:
    from mantle_provider.source.span import Path
    from mantle_provider.workflow.decoding import Decoding

INPUT_NAME = re.compile(r"[a-z][a-z0-9_]*")

INPUT = Block(
    "input",
    "One value that a run is started with; a field of the Dag's trigger form.",
    (
        Key("type", Choice(("string", "number", "boolean")), "Type of the value; any when absent."),
        Key("description", Text(), "Shown in the trigger form."),
        Key("default", AnyValue(), "Used when a run is started without the input.", default="null"),
        Key(
            "required",
            Boolean(),
            "Whether a run must be started with a value.",
            default="false: an absent input is null",
            is_extension=True,
        ),
        Key(
            "enum",
            ListOf(AnyValue(), is_nonempty=True),
            "The values that are allowed.",
            is_extension=True,
        ),
    ),
)

CRON = Block(
    "cron trigger",
    "Starts a run on a schedule.",
    (
        Key("type", Choice(("cron",)), "Kind of trigger.", is_required=True),
        Key(
            "schedule",
            Text(),
            "Five cron fields, such as `0 6 * * MON-FRI`, or `@daily` and its like.",
            is_required=True,
            airflow="schedule of the Dag",
        ),
        Key(
            "timezone",
            Text(),
            "Name of the time zone that the schedule is read in, such as `Europe/Berlin`.",
            default="`airflow.timezone`, else UTC",
            is_extension=True,
        ),
    ),
)

WEBHOOK = Block(
    "webhook trigger",
    "Starts a run when an HTTP request arrives.",
    (
        Key("type", Choice(("webhook",)), "Kind of trigger.", is_required=True),
        Key("path", Text(), "Path of the URL, such as `/hooks/orders`.", is_required=True),
        Key("secret", Text(), "Key of the request's HMAC signature."),
    ),
)

EMAIL = Block(
    "email trigger",
    "Starts a run for each message in a mailbox.",
    (
        Key("type", Choice(("email",)), "Kind of trigger.", is_required=True),
        Key("mailbox", Text(), "Connection of the mailbox.", is_required=True),
        Key("folder", Text(), "Folder of the mailbox.", default="`INBOX`"),
        Key(
            "filter",
            Choice(("unseen", "all", "flagged", "recent")),
            "Messages that start a run.",
            default="`unseen`",
        ),
        Key("poll_interval", Duration(), "Time between two looks.", default="`60s`"),
    ),
)

_TRIGGERS = {"cron": CRON, "webhook": WEBHOOK, "email": EMAIL}


def _select_trigger(value: dict[str, Any], path: Path, decoding: Decoding) -> Block | None:
    kind = value.get("type")
    if isinstance(kind, str) and kind in _TRIGGERS:
        return _TRIGGERS[kind]
    if "type" in value:
        Choice(tuple(_TRIGGERS)).read(kind, (*path, "type"), decoding)
    else:
        choices = join_choices(map(quote, _TRIGGERS))
        decoding.error("missing-key", f'trigger lacks the key "type": {choices}', path)
    return None


HOOKS = Block(
    "hooks",
    "Steps that run after the main steps, in the order of the file.",
    (
        Key("timeout", Duration(), "Time for all hooks together."),
        Key(
            "on_success",
            ListOf(Object(STEP)),
            "Run when the main steps are completed.",
            airflow="task group `on_success`",
        ),
        Key(
            "on_failure",
            ListOf(Object(STEP)),
            "Run when the main steps failed or timed out.",
            airflow="task group `on_failure`",
        ),
        Key(
            "on_finish",
            ListOf(Object(STEP)),
            "Run last, unless a user cancelled the run.",
            airflow="task group `on_finish`",
        ),
    ),
)

ERROR_HANDLER = Block(
    "error handler",
    "A class of yours that answers failed attempts.",
    (
        Key("class", DottedPath(), "Dotted path of the class.", is_required=True),
        Key("targets", ListOf(Name()), "Steps that it may go to."),
    ),
)

WORKFLOW_AIRFLOW = Block(
    "airflow options",
    "What the workflow asks of Airflow itself.",
    (
        Key("tags", ListOf(Text()), "Tags of the Dag.", airflow="`tags`"),
        Key("owner", Text(), "Owner of the tasks.", airflow="`owner`"),
        Key(
            "start_date",
            StartDate(),
            "First date of the schedule, in `timezone`.",
            airflow="`start_date`",
        ),
        Key(
            "timezone",
            Text(),
            "Time zone of `start_date` and schedules.",
            default="UTC",
            airflow="`timezone`",
        ),
        Key(
            "catchup",
            Boolean(),
            "Whether runs are made for times that have passed.",
            default="false",
            airflow="`catchup`",
        ),
        Key(
            "max_active_tasks",
            Integer(1),
            "Tasks of one run at once.",
            airflow="`max_active_tasks`",
        ),
        Key(
            "assets",
            ListOf(Text()),
            "URIs whose updates start a run.",
            airflow="schedule of the Dag",
            is_planned=True,
        ),
        Key("doc", Text(), "Markdown shown in the UI.", airflow="`doc_md`"),
        Key("pool", Text(), "Pool of all steps.", airflow="`pool`"),
        Key("queue", Text(), "Queue of all steps.", airflow="`queue`"),
        Key("priority_weight", Integer(1), "Weight of all steps.", airflow="`priority_weight`"),
        Key("executor", Text(), "Executor of all steps.", airflow="`executor`"),
    ),
)

WORKFLOW = Block(
    "workflow",
    "One file is one workflow, which becomes one Dag.",
    (
        Key(
            "name",
            Name(),
            "Lower-case letters, digits and hyphens.",
            is_required=True,
            airflow="Dag id",
        ),
        Key("description", Text(), "Shown in the list of Dags.", airflow="`description`"),
        Key(
            "inputs",
            MapOf(Object(INPUT), INPUT_NAME, "input name"),
            "Values that a run is started with.",
            airflow="`params`",
        ),
        Key(
            "triggers",
            ListOf(Variants((CRON, WEBHOOK, EMAIL), _select_trigger)),
            "What starts a run, besides a user.",
            airflow="schedule of the Dag",
        ),
        Key(
            "steps",
            ListOf(Object(STEP), is_nonempty=True),
            "The main steps.",
            is_required=True,
            airflow="task group `steps`",
        ),
        Key("hooks", Object(HOOKS), "Steps that run after the main steps.", airflow="task groups"),
        Key(
            "timeout",
            Duration(),
            "Time for the main steps, from the start of the run.",
            airflow="deadline of our own, never `dagrun_timeout`",
        ),
        Key(
            "max_parallel_executions",
            Integer(1),
            "How many runs there may be at once.",
            default="Airflow's own limit",
            airflow="`max_active_runs`",
        ),
        Key(
            "on_limit",
            Choice(("queue", "reject")),
            "Whether a run beyond the limit waits or fails at once.",
            default="`queue`",
            airflow="waits as a queued run, or fails in the task `workflow_admission`",
        ),
        Key("token_budget", Integer(0), "AI tokens over all steps of a run.", is_planned=True),
        Key(
            "order",
            Choice(("graph", "listed")),
            "With `listed` each step also waits for the one above it.",
            default="`graph`",
            airflow="further upstream tasks",
            is_extension=True,
        ),
        Key(
            "result",
            Name(),
            "The main step whose output is the workflow's.",
            airflow="result of the Dag",
            is_extension=True,
        ),
        Key(
            "fail_fast",
            Boolean(),
            "Whether the first fatal failure stops all other steps.",
            default="false",
            airflow="looked at by each step while it runs",
            is_extension=True,
        ),
        Key(
            "before_start",
            ListOf(Object(STEP)),
            "Steps that run before all others, one after the other; a failure is always fatal.",
            airflow="tasks upstream of every first step",
            is_extension=True,
        ),
        Key(
            "error_handler",
            Object(ERROR_HANDLER),
            "A class of yours that answers failed attempts.",
            is_extension=True,
        ),
        Key(
            "callbacks",
            Object(CALLBACKS),
            "Called after the hooks.",
            airflow="task `callback_on_finish`",
            is_extension=True,
        ),
        Key(
            "listeners",
            ListOf(DottedPath()),
            "Dotted paths of listeners for workflow events.",
            airflow="told in the tasks themselves, `workflow_started` and `callback_on_finish`",
            is_extension=True,
        ),
        Key(
            "airflow",
            Object(WORKFLOW_AIRFLOW),
            "What the workflow asks of Airflow itself.",
            is_extension=True,
        ),
    ),
)

BLOCKS: tuple[Block, ...] = (
    WORKFLOW,
    INPUT,
    CRON,
    WEBHOOK,
    EMAIL,
    STEP,
    RETRY,
    SWITCH_CASE,
    ELSE_CASE,
    ERROR_RULE,
    ERROR_RETRY,
    OUTPUTS,
    ARTIFACT,
    STEP_AIRFLOW,
    HOOKS,
    ERROR_HANDLER,
    CALLBACKS,
    WORKFLOW_AIRFLOW,
)
"""Every block of the language, in the order of the reference."""
