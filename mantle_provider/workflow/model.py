"""The workflow language as frozen types: what a valid file says, without where it says it.

Built by :mod:`mantle_provider.workflow.decode` alone. A value that the file does not give is the
documented default, or ``None`` where absence itself has a meaning. Two files that say the same
are equal objects.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

HookBlock: TypeAlias = Literal["on_success", "on_failure", "on_finish"]
HOOK_BLOCKS: tuple[HookBlock, ...] = ("on_success", "on_failure", "on_finish")
"""The lifecycle blocks, in the order in which they run."""

InputType: TypeAlias = Literal["string", "number", "boolean"]
Backoff: TypeAlias = Literal["fixed", "exponential"]

JSONValue: TypeAlias = Any
"""``None``, ``bool``, ``int``, ``float``, ``str``, or lists and string-keyed dicts of them."""


@dataclass(frozen=True, slots=True)
class Input:
    """One named input of a workflow.

    :param default: ``None`` also when the file gives no default; an absent input is null.
    :param enum: the values allowed, empty when any is.
    """

    name: str
    type: InputType | None = None
    description: str = ""
    default: JSONValue = None
    required: bool = False
    enum: tuple[JSONValue, ...] = ()


@dataclass(frozen=True, slots=True)
class CronTrigger:
    """Start a run on a schedule; ``schedule`` is a five-field cron expression or ``@daily``."""

    schedule: str
    timezone: str | None = None


@dataclass(frozen=True, slots=True)
class WebhookTrigger:
    """Start a run when an HTTP request arrives at ``path``."""

    path: str
    secret: str | None = None


@dataclass(frozen=True, slots=True)
class EmailTrigger:
    """Start a run for each message in a mailbox; ``mailbox`` names a connection."""

    mailbox: str
    folder: str = "INBOX"
    filter: Literal["unseen", "all", "flagged", "recent"] = "unseen"
    poll_interval: timedelta = timedelta(seconds=60)


StartEvent: TypeAlias = CronTrigger | WebhookTrigger | EmailTrigger


@dataclass(frozen=True, slots=True)
class Retry:
    """How often and when a failed attempt is repeated.

    :param max_attempts: counts the first attempt, as Mantle does; 1 means no retry.
    :param delay: before the second attempt.
    :param max_delay: upper bound of an exponential delay, ``None`` for no bound.
    """

    max_attempts: int
    backoff: Backoff = "fixed"
    delay: timedelta = timedelta(seconds=1)
    max_delay: timedelta | None = None


@dataclass(frozen=True, slots=True)
class Artifact:
    """A file that a step leaves behind and the run keeps under ``name``."""

    path: str
    name: str
    keep: Literal["always", "on_failure", "never"] = "always"


@dataclass(frozen=True, slots=True)
class SwitchCase:
    """One way out of a router step; ``when`` is ``None`` for the ``else`` case."""

    to: str
    when: str | None = None


@dataclass(frozen=True, slots=True)
class ErrorRule:
    """What to do about a failed attempt for which ``when`` holds; one of three answers is set.

    :param when: bare CEL over ``error``; ``None`` always holds.
    :param retry: ``max_attempts`` here is the rule's ``retries`` plus one.
    """

    when: str | None = None
    fail: bool = False
    retry: Retry | None = None
    transition_to: str | None = None


@dataclass(frozen=True, slots=True)
class Outputs:
    """Checks on, and a mapping of, a step's raw output.

    :param map: name -> bare CEL over ``output``; empty means the output is kept as it is.
    """

    required: tuple[str, ...] = ()
    map: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StepAirflowOptions:
    """What a step asks of Airflow itself."""

    pool: str | None = None
    queue: str | None = None
    priority_weight: int | None = None
    executor: str | None = None
    executor_config: Mapping[str, JSONValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Step:
    """A main step or a step of a lifecycle hook block.

    :param action: ``family/verb``, or ``None`` for a router step, which has ``switch``.
    :param params: argument values; strings may hold ``{{ CEL }}``.
    :param condition: the key ``if``, bare CEL.
    """

    name: str
    action: str | None = None
    params: Mapping[str, JSONValue] = field(default_factory=dict)
    switch: tuple[SwitchCase, ...] = ()
    for_each: str | None = None
    condition: str | None = None
    depends_on: tuple[str, ...] = ()
    retry: Retry | None = None
    timeout: timedelta | None = None
    credential: str | None = None
    registry_credential: str | None = None
    continue_on_error: bool = False
    artifacts: tuple[Artifact, ...] = ()
    max_parallel: int | None = None
    on_dep_failure: Literal["fail_run", "cancel_branch"] = "fail_run"
    on_error: tuple[ErrorRule, ...] = ()
    outputs: Outputs | None = None
    on_finish_callback: str | None = None
    airflow: StepAirflowOptions = StepAirflowOptions()


@dataclass(frozen=True, slots=True)
class LifecycleHooks:
    """The three blocks of steps that run after the main steps.

    :param timeout: one budget for all blocks together.
    """

    timeout: timedelta | None = None
    on_success: tuple[Step, ...] = ()
    on_failure: tuple[Step, ...] = ()
    on_finish: tuple[Step, ...] = ()

    def block(self, name: HookBlock) -> tuple[Step, ...]:
        """Return the steps of one block."""
        blocks = {
            "on_success": self.on_success,
            "on_failure": self.on_failure,
            "on_finish": self.on_finish,
        }
        return blocks[name]


@dataclass(frozen=True, slots=True)
class ErrorHandler:
    """A user's class that answers failed attempts; ``targets`` are the steps it may go to."""

    class_path: str
    targets: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AirflowOptions:
    """What a workflow asks of Airflow itself.

    :param start_date: a date means midnight, and a naive time local time, in ``timezone``.
    :param assets: URIs whose updates start a run.
    """

    tags: tuple[str, ...] = ()
    owner: str | None = None
    start_date: date | datetime | None = None
    timezone: str | None = None
    catchup: bool = False
    max_active_tasks: int | None = None
    assets: tuple[str, ...] = ()
    doc: str | None = None
    pool: str | None = None
    queue: str | None = None
    priority_weight: int | None = None
    executor: str | None = None


@dataclass(frozen=True, slots=True)
class Workflow:
    """A whole workflow; steps and hooks in the order of the file.

    :param env: what the named environment gives for ``env.X``. May hold secrets.
    """

    name: str
    steps: tuple[Step, ...]
    description: str = ""
    inputs: tuple[Input, ...] = ()
    triggers: tuple[StartEvent, ...] = ()
    hooks: LifecycleHooks = LifecycleHooks()
    timeout: timedelta | None = None
    max_parallel_executions: int | None = None
    on_limit: Literal["queue", "reject"] = "queue"
    token_budget: int | None = None
    order: Literal["graph", "listed"] = "graph"
    result: str | None = None
    fail_fast: bool = False
    before_start: tuple[Step, ...] = ()
    error_handler: ErrorHandler | None = None
    on_finish_callback: str | None = None
    listeners: tuple[str, ...] = ()
    airflow: AirflowOptions = AirflowOptions()
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
