"""How long an attempt may take: its step's ``timeout``, and what is left of a larger budget."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from mantle_provider.errors import WorkflowError
from mantle_provider.lifecycle import HOOKS_TIMEOUT, STEP_TIMEOUT, WORKFLOW_TIMEOUT, Phase
from mantle_provider.operators.run_reader import HOOKS_BEGAN_AT, run_started_at
from mantle_provider.workflow.durations import format_duration

if TYPE_CHECKING:
    from collections.abc import Mapping

    from airflow.sdk.definitions.context import Context

    from mantle_provider.operators.entry import Entry
    from mantle_provider.operators.run_reader import RunReader


@dataclass(frozen=True, slots=True)
class Budget:
    """The times of one attempt, in seconds since the epoch.

    :param step_end: when the step's own ``timeout`` runs out.
    :param end: when the workflow's ``timeout``, or for a hook ``hooks.timeout``, runs out.
    :param text: the larger budget in Go's form.
    :param is_hook: whether the larger budget is that of the hooks.
    :param step_text: the step's own ``timeout`` in Go's form.
    """

    step_end: float | None
    end: float | None
    text: str
    is_hook: bool
    step_text: str = ""

    def check_start(self, now: float, *, is_first: bool) -> None:
        """Refuse to start after the end.

        :param is_first: whether nothing of the step has run yet.
        :raises WorkflowError: of type ``WorkflowTimeout`` or ``HooksTimeout``; in phase
            ``EDGE_CONDITION`` when the step has not run at all.
        """
        if self.allows_start(now):
            return
        if is_first:
            raise self._end_error("before this step could start", Phase.EDGE_CONDITION)
        raise self._end_error("before the next attempt could start", Phase.EXECUTION)

    def is_over(self, now: float) -> bool:
        """Whether the attempt must have ended by now."""
        end = self.earliest_end
        return end is not None and now >= end

    def allows_start(self, at: float) -> bool:
        """Whether an attempt may start at that time."""
        return self.end is None or at < self.end

    def seconds_left(self, now: float) -> float | None:
        """Return how long the attempt may go on, ``None`` for without limit."""
        end = self.earliest_end
        # A timer of zero seconds would fire before the block it guards has begun.
        return None if end is None else max(end - now, 0.001)

    @property
    def earliest_end(self) -> float | None:
        """When the attempt must have ended, ``None`` for without limit."""
        ends = [end for end in (self.step_end, self.end) if end is not None]
        return min(ends) if ends else None

    def exceeded(self) -> WorkflowError:
        """Return the failure of an attempt whose time is up."""
        if self.end is not None and (self.step_end is None or self.end <= self.step_end):
            return self._end_error("while this step ran", Phase.EXECUTION)
        return WorkflowError(
            f"step timed out after {self.step_text}",
            phase=Phase.EXECUTION.value,
            type=STEP_TIMEOUT,
        )

    def _end_error(self, when: str, phase: Phase) -> WorkflowError:
        subject = "hooks" if self.is_hook else "workflow"
        return WorkflowError(
            f"{subject} timed out after {self.text} {when}",
            phase=phase.value,
            type=HOOKS_TIMEOUT if self.is_hook else WORKFLOW_TIMEOUT,
            retryable=False,
        )


def attempt_budget(
    context: Context,
    reader: RunReader,
    step: Mapping[str, Any],
    workflow: Mapping[str, Any],
    entry: Entry,
) -> Budget:
    """Return the budget of an attempt."""
    is_hook = step["block"] != "steps"
    larger = workflow["hooks_timeout_seconds" if is_hook else "timeout_seconds"]
    end = None
    if larger is not None:
        begin = _hooks_begin(context, reader, step, entry) if is_hook else run_started_at(context)
        end = begin + larger
    own = step["timeout_seconds"]
    return Budget(
        step_end=None if own is None else entry.began_at + own,
        end=end,
        text=_text(larger),
        is_hook=is_hook,
        step_text=_text(own),
    )


def _hooks_begin(
    context: Context, reader: RunReader, step: Mapping[str, Any], entry: Entry
) -> float:
    """Return when the first hook of this run started; waiting in a queue does not count.

    Each hook hands on what the hooks before it have handed on. Its own first try is kept in the
    task state store, since a retry clears what it has pushed. What hooks handed on before a user
    cleared the finished run, which gives it a new start, is over.
    """
    store, key = context["task_state_store"], f"mantle_hooks_began_{entry.first_try}"
    kept = store.get(key)
    if isinstance(kept, int | float):
        began_at = float(kept)
    else:
        starts = [entry.began_at]
        for block, name in step["hooks_before"]:
            task_id = f"{block}.{name}"
            if reader.state(task_id) in {"success", "failed", "skipped"}:
                handed_on = reader.xcom(task_id, HOOKS_BEGAN_AT)
                if handed_on is not None and float(handed_on) >= run_started_at(context):
                    starts.append(float(handed_on))
        began_at = min(starts)
        store.set(key, began_at)
    context["ti"].xcom_push(key=HOOKS_BEGAN_AT, value=began_at)
    return began_at


def _text(seconds: float | None) -> str:
    return "" if seconds is None else format_duration(timedelta(seconds=seconds))
