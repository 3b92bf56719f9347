"""What the hooks of a run did, told in the log of a task that comes after them.

The outcome ends before the first hook starts, so its log cannot hold this.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from mantle_provider.lifecycle import failed_status

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from mantle_provider.operators.run_reader import RunReader

log = logging.getLogger(__name__)

_VERBS = {"success": "completed", "skipped": "skipped", "upstream_failed": "not run"}


def log_hooks_before(reader: RunReader, step: Mapping[str, Any]) -> None:
    """Tell of the hooks that stand before a hook step; nothing for a main step."""
    log_hooks(reader, step.get("hooks_before", ()))


def log_hooks(reader: RunReader, hooks: Iterable[Iterable[str]]) -> None:
    """Tell how each of these hooks ended, and of a failed one why.

    :param hooks: (block, name) of each; those that have not ended, or ran for an earlier verdict,
        are left out.
    """
    for block, name in hooks:
        task_id = f"{block}.{name}"
        state = reader.state(task_id)
        if reader.is_outdated(task_id):
            continue
        if state == "failed":
            record = reader.record(task_id)
            _, reason = failed_status(record)
            why = f"{record.type}: {record.message}" if record else reason
            log.warning("hook %s failed: %s", task_id, why)
        elif state in _VERBS:
            log.info("hook %s %s", task_id, _VERBS[state])
