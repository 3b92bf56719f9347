"""Under ``fail_fast``, ending a step because another one has failed for good.

Airflow's own ``fail_fast`` cannot carry hooks, since it refuses every trigger rule but one
(AIRFLOW 7).
"""

from __future__ import annotations

import logging
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from mantle_provider.errors import WorkflowError
from mantle_provider.lifecycle import FAIL_FAST, Phase

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mantle_provider.operators.interrupt import Interrupter
    from mantle_provider.triggers.failure_watch import FailureWatch

log = logging.getLogger(__name__)


def fail_fast_error(step: str, phase: Phase) -> WorkflowError:
    """Return the failure of a step that another one's failure stopped or kept from starting."""
    done = "not started" if phase is Phase.EDGE_CONDITION else "stopped"
    return WorkflowError(
        f'{done} by fail_fast: step "{step}" failed',
        phase=phase.value,
        type=FAIL_FAST,
        retryable=False,
    )


@contextmanager
def interrupted_by_failure(
    interrupter: Interrupter, watch: FailureWatch | None, interval_seconds: float
) -> Iterator[None]:
    """Interrupt with the step's name once another step has failed for good.

    A look that fails is logged and tried again: watching must not fail the step.

    :param watch: ``None`` for not watching at all.
    """
    if watch is None:
        yield
        return
    is_over = threading.Event()

    def keep_looking() -> None:
        while not is_over.wait(interval_seconds):
            try:
                step = watch.look()
            except Exception:  # the supervisor may answer with anything
                log.warning("Could not look for failed steps", exc_info=True)
                continue
            if step is not None:
                interrupter.interrupt(step)
                return

    thread = threading.Thread(target=keep_looking, name="mantle-fail-fast", daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
