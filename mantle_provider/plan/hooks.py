"""The lifecycle hooks as tasks: which hook runs when, by trigger rules alone.

Nothing here needs a worker to decide that a hook does not run (DESIGN 2, "Order inside a block").
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mantle_provider.lifecycle import OUTCOME
from mantle_provider.plan.step import Placement
from mantle_provider.workflow.model import HOOK_BLOCKS

if TYPE_CHECKING:
    from mantle_provider.plan.model import Rule
    from mantle_provider.workflow.model import HookBlock, LifecycleHooks, Step

GUARDS: dict[HookBlock, Rule] = {
    "on_success": "all_success",
    "on_failure": "one_failed",
    "on_finish": "all_done",
}
"""The rule on the outcome by which a whole block runs or not."""


def place_hooks(hooks: LifecycleHooks) -> list[Placement]:
    """Return the tasks of all blocks, in the order in which they may run."""
    placements: list[Placement] = []
    for block in HOOK_BLOCKS:
        # on_finish comes after whichever of the two other blocks ran.
        earlier = placements if block == "on_finish" else []
        entry = (OUTCOME, *(place.task_id for place in earlier))
        before = tuple(
            (place.block, place.step.name)
            for place in earlier
            if place.step is not None and place.block != "steps"
        )
        placements += _place_block(block, hooks.block(block), entry, before)
    return placements


def _place_block(
    block: HookBlock,
    steps: tuple[Step, ...],
    entry: tuple[str, ...],
    before: tuple[tuple[HookBlock, str], ...],
) -> list[Placement]:
    """Return one block's tasks: an entry with the block's guard, then the hooks in a row.

    A hook that fails halts its block, unless it is ``continue_on_error``: then the others wait
    for ``<hook>_done``, which succeeds whether the hook did or not. A hook skipped by its ``if``
    does not halt the block, a skipped entry skips all of it.
    """
    if len(steps) == 1:
        step = steps[0]
        task_id = f"{block}.{step.name}"
        return [Placement(task_id, entry, GUARDS[block], block, step, hooks_before=before)]

    placements: list[Placement] = []
    upstream: tuple[str, ...] = (f"{block}.block_begin",)
    if steps:
        placements.append(Placement(upstream[0], entry, GUARDS[block], block))
    for step in steps:
        task_id = f"{block}.{step.name}"
        placements.append(
            Placement(
                task_id, upstream, "none_failed_min_one_success", block, step, hooks_before=before
            )
        )
        before = (*before, (block, step.name))
        if step.continue_on_error and step is not steps[-1]:
            done = f"{task_id}_done"
            placements.append(Placement(done, (task_id,), "one_done", block))
            upstream = (*upstream, done)
        else:
            upstream = (*upstream, task_id)
    return placements
