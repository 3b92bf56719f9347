"""The keys of a step, and of what stands below one; see :mod:`mantle_provider.workflow.keys`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mantle_provider.workflow.blocks import Block, Key, ListOf, MapOf, Object, Variants
from mantle_provider.workflow.kinds import (
    AnyValue,
    Boolean,
    Choice,
    DottedPath,
    Duration,
    Expression,
    Integer,
    Name,
    Params,
    Text,
)

if TYPE_CHECKING:
    from mantle_provider.source.span import Path
    from mantle_provider.workflow.decoding import Decoding

_DELAYS = (
    Key(
        "backoff",
        Choice(("fixed", "exponential")),
        "Whether the delay stays the same or doubles with each attempt.",
        default="`fixed`",
    ),
    Key(
        "delay",
        Duration(),
        "Time before the second attempt.",
        default="`1s`",
        airflow="`retry_delay`",
        is_extension=True,
    ),
    Key(
        "max_delay",
        Duration(),
        "Upper bound of an exponential delay.",
        airflow="`max_retry_delay`",
        is_extension=True,
    ),
)

RETRY = Block(
    "retry",
    "How often a failed attempt is repeated; parameters are resolved again for each.",
    (
        Key(
            "max_attempts",
            Integer(1),
            "Attempts in all, the first included.",
            is_required=True,
            airflow="`retries` is one less",
        ),
        *_DELAYS,
    ),
)

ERROR_RETRY = Block(
    "error retry",
    "Repeats of the failed attempt that one rule grants.",
    (
        Key("retries", Integer(1, 10), "Repeats, the first attempt not counted.", is_required=True),
        *_DELAYS,
    ),
)

ERROR_RULE = Block(
    "error rule",
    "What to do about a failed attempt; the first rule that holds decides.",
    (
        Key("when", Expression(), "Bare CEL over `error`.", default="`true`"),
        Key("fail", Boolean(only=True), "The step fails without further attempts."),
        Key("retry", Object(ERROR_RETRY), "The attempt is repeated."),
        Key("transition_to", Name(), "The step that recovers from the failure."),
    ),
    exactly_one=("fail", "retry", "transition_to"),
)

SWITCH_CASE = Block(
    "switch case",
    "A way out of a router step.",
    (
        Key("when", Expression(), "Bare CEL, which must be boolean.", is_required=True),
        Key(
            "to",
            Name(),
            "The step that runs when this is the first case to hold.",
            is_required=True,
        ),
    ),
)

ELSE_CASE = Block(
    "else case",
    "The way out of a router step when no case holds.",
    (Key("else", Name(), "The step that runs.", is_required=True),),
)


def _select_case(value: dict[str, Any], path: Path, decoding: Decoding) -> Block:  # noqa: ARG001  # Variants' signature
    return ELSE_CASE if "else" in value else SWITCH_CASE


ARTIFACT = Block(
    "artifact",
    "A file that the step leaves behind and the run keeps.",
    (
        Key(
            "path",
            Text(is_nonempty=True),
            "Where the step writes the file; of `bash/run` relative to its `cwd`, or to a"
            " folder of the attempt's own.",
            is_required=True,
        ),
        Key(
            "name",
            Text(is_nonempty=True),
            "Name in `artifacts['name']`; unique in the workflow.",
            is_required=True,
        ),
        Key(
            "keep",
            Choice(("always", "on_failure", "never")),
            "Whether the kept file outlives the end of the run: `on_failure` unless the run"
            " completes.",
            default="`always`",
            is_extension=True,
        ),
    ),
)

OUTPUTS = Block(
    "outputs",
    "Checks on the step's output, and what of it is kept.",
    (
        Key("required", ListOf(Text()), "Fields that the raw output must have."),
        Key("map", MapOf(Expression()), "Name to bare CEL over `output`; only these are kept."),
    ),
)

CALLBACKS = Block(
    "callbacks",
    "Python functions to call.",
    (Key("on_finish", DottedPath(), "Dotted path of a function that is called at the end."),),
)

STEP_AIRFLOW = Block(
    "airflow options of a step",
    "What the step asks of Airflow itself.",
    (
        Key("pool", Text(), "Pool that the task takes its slot from.", airflow="`pool`"),
        Key("queue", Text(), "Queue of the executor.", airflow="`queue`"),
        Key(
            "priority_weight", Integer(1), "Order among waiting tasks.", airflow="`priority_weight`"
        ),
        Key("executor", Text(), "Executor that runs the task.", airflow="`executor`"),
        Key(
            "executor_config",
            MapOf(AnyValue()),
            "Passed to the executor as it is.",
            airflow="`executor_config`",
        ),
    ),
)

STEP = Block(
    "step",
    "One unit of work: a main step or a step of a lifecycle hook.",
    (
        Key(
            "name",
            Name(),
            "Lower-case letters, digits and hyphens; unique among the main steps, or in its"
            " hook block.",
            is_required=True,
            airflow="task id",
        ),
        Key("action", Text(), "What the step does: `family/verb`.", airflow="operator"),
        Key(
            "params",
            Params(),
            "Parameters of the action; strings may hold `{{ CEL }}` at any depth.",
            airflow="shown under Rendered Templates",
        ),
        Key(
            "switch",
            ListOf(
                Variants((SWITCH_CASE, ELSE_CASE), _select_case),
                is_nonempty=True,
            ),
            "Instead of `action`: which of several steps runs next.",
            is_extension=True,
        ),
        Key(
            "for_each",
            Expression(),
            "Bare CEL; the step runs once for each item of the list.",
            airflow="mapped task",
            is_extension=True,
            is_planned=True,
        ),
        Key(
            "if",
            Expression(),
            "Bare CEL; the step is skipped when it is false.",
            airflow="task is skipped",
        ),
        Key(
            "depends_on",
            ListOf(Name()),
            "Main steps to wait for, besides those that expressions read.",
            airflow="upstream tasks",
        ),
        Key("retry", Object(RETRY), "Repeats of a failed attempt.", default="one attempt"),
        Key("timeout", Duration(), "Time for each attempt.", airflow="`execution_timeout`"),
        Key("credential", Text(), "Id of the connection to use.", airflow="connection id"),
        Key(
            "registry_credential",
            Text(),
            "Id of the connection of an image registry.",
            is_planned=True,
        ),
        Key(
            "continue_on_error",
            Boolean(),
            "Whether the workflow goes on when the step fails; its `error` can be read.",
            default="false",
            airflow="task is failed, the run may succeed",
        ),
        Key(
            "artifacts",
            ListOf(Object(ARTIFACT)),
            "Files of the step that are kept in a store when it ends.",
        ),
        Key(
            "max_parallel",
            Integer(1),
            "How many of this step run at once, over all runs.",
            airflow="`max_active_tis_per_dag`",
        ),
        Key(
            "on_dep_failure",
            Choice(("fail_run", "cancel_branch")),
            "Whether a failed dependency fails the run or ends this branch only.",
            default="`fail_run`",
            airflow="the run may succeed without this branch",
            is_extension=True,
        ),
        Key(
            "on_error",
            ListOf(Object(ERROR_RULE)),
            "What to do about a failed attempt.",
            is_extension=True,
        ),
        Key(
            "outputs",
            Object(OUTPUTS),
            "Checks on, and a mapping of, the output.",
            is_extension=True,
        ),
        Key(
            "callbacks",
            Object(CALLBACKS),
            "Called after the last attempt.",
            airflow="called in the step's task, or by the outcome for a killed one",
            is_extension=True,
        ),
        Key(
            "airflow",
            Object(STEP_AIRFLOW),
            "What the step asks of Airflow itself.",
            is_extension=True,
        ),
    ),
    exactly_one=("action", "switch"),
)
