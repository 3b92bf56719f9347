"""A workflow of many parallel steps that end in every way there is, in a random order."""

from __future__ import annotations

import json
import random

KINDS = ("works", "fails", "works", "skipped", "works")
LONGEST_SECONDS = 10.0


def wide_workflow(width: int) -> str:
    """Return the YAML text of the workflow ``wide``; the same for the same width."""
    chance = random.Random(width)
    steps = [_step(number, chance) for number in range(width)]
    return json.dumps({"name": "wide", "steps": steps, "hooks": _hooks()}, indent=2)


def _step(number: int, chance: random.Random) -> dict[str, object]:
    kind = KINDS[number % len(KINDS)]
    # The first to fail does so while nearly all others have not even started.
    seconds = 0.0 if number == 1 else round(chance.uniform(0, LONGEST_SECONDS), 1)
    step: dict[str, object] = {
        "name": f"s{number}",
        "action": "python/call",
        "params": {
            "callable": f"e2e_functions.{'fail_after' if kind == 'fails' else 'work_for'}",
            "kwargs": {"seconds": seconds, "text": f"s{number}"},
        },
    }
    if kind == "skipped":
        step["if"] = "false"
    return step


def _hooks() -> dict[str, object]:
    body = {"failed_step": "{{ execution.failed_step }}", "failed": "{{ execution.failed_steps }}"}
    tell = {"name": "tell", "action": "http/request", "credential": "demo_api"}
    return {
        block: [{**tell, "params": {"method": "POST", "url": f"/echo/wide/{block}", "body": body}}]
        for block in ("on_success", "on_failure", "on_finish")
    }


def fan_in_workflow(width: int, failing: int) -> str:
    """Return the YAML text of the workflow ``fan-in``, of whose fetches some fail."""
    steps: list[dict[str, object]] = [
        {
            "name": f"fetch{number}",
            "action": "bash/run",
            "params": {"command": "exit 1" if number < failing else "true"},
        }
        for number in range(width)
    ]
    aggregate = {
        "name": "aggregate",
        "action": "bash/run",
        "params": {"command": "true"},
        "depends_on": [step["name"] for step in steps],
        "on_dep_failure": "cancel_branch",
    }
    return json.dumps({"name": "fan-in", "steps": [*steps, aggregate]}, indent=2)
