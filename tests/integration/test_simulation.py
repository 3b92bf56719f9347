"""300 random workflows with random failures, kills and marks, against a model of the lifecycle.

They run through Airflow's scheduling code and our step runtime, see ``support.scheduling``; what
must come of it says ``support.lifecycle_model``, which knows nothing of the planner.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from random import Random
from typing import TYPE_CHECKING

import pytest

from mantle_provider.workflow.model import (
    HOOK_BLOCKS,
    ErrorRule,
    LifecycleHooks,
    Retry,
    SwitchCase,
    Workflow,
)
from support.history import ADMISSION, CHOICE, OUTCOME, Script, is_hook
from support.lifecycle_model import LOST, LifecycleModel, differences
from support.scheduling import FINISHED, SimulatedDag, SimulatedRun, leave_alone, make_step

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.airflow

WORKFLOWS_PER_EVENT = 20


def make_random_workflow(random, *, on_limit=None):
    """Build a workflow of one to eight steps, whose file order is an order of the graph or not."""
    order = random.choice(["graph", "graph", "listed"])
    steps = []
    for place in range(random.randint(1, 8)):
        above = random.sample(steps, min(place, random.randint(0, 2)))
        depends_on = tuple(step.name for step in above)
        steps.append(make_random_step(random, f"s{place}", depends_on=depends_on))
    steps = add_random_ways(random, steps)
    if order == "graph" and random.random() < 0.5:
        random.shuffle(steps)
    on_limit = on_limit or random.choice(["queue", "queue", "queue", "reject"])
    return Workflow(
        "flow",
        tuple(steps),
        order=order,
        fail_fast=random.random() < 0.25,
        before_start=tuple(
            replace(make_random_step(random, f"before{place}"), continue_on_error=False)
            for place in range(random.choice([0, 0, 0, 1, 2]))
        ),
        max_parallel_executions=random.randint(1, 3) if on_limit == "reject" else None,
        on_limit=on_limit,
        hooks=make_random_hooks(random),
    )


def add_random_ways(random, steps):
    """Give steps policies and rules, and let some go to later ones, also as routers."""
    strictness = random.choice([0.2, 0.8])
    changed = []
    for place, step in enumerate(steps):
        keys = {}
        if random.random() > strictness:
            keys["on_dep_failure"] = "cancel_branch"
        later = [other.name for other in steps[place + 1 :]]
        rules = []
        if random.random() < 0.2:
            rules.append(ErrorRule(retry=Retry(random.randint(2, 3))))
        if later and random.random() < 0.3:
            rules.append(ErrorRule(transition_to=random.choice(later)))
        keys["on_error"] = tuple(rules)
        if later and random.random() < 0.2:
            cases = random.sample(later, min(len(later), random.randint(1, 2)))
            keys |= {"switch": tuple(SwitchCase(case) for case in cases), "action": None}
            keys["params"] = {}
        changed.append(replace(step, **keys))
    return changed


def make_random_hooks(random):
    """Build hook blocks of up to three steps, now and then none at all."""
    longest = random.choice([0, 2, 3, 3, 3, 3])
    return LifecycleHooks(
        **{
            block: tuple(
                make_random_step(random, f"hook{place}")
                for place in range(random.randint(0, longest))
            )
            for block in HOOK_BLOCKS
        }
    )


def make_random_step(random, name, **keys):
    attempts = random.randint(1, 3)
    return make_step(
        name,
        continue_on_error=random.random() < 0.25,
        condition=random.choice([None] * 8 + ["true", "false"]),
        retry=Retry(attempts, delay=timedelta(hours=1)) if attempts > 1 else None,
        **keys,
    )


def make_random_script(random, workflow):
    tasks = {**main_steps(workflow), **hook_steps(workflow)}
    return Script({task_id: make_random_ends(random, step) for task_id, step in tasks.items()})


def make_random_ends(random, step):
    """Make up how a task's attempts end: after some failures or none, well or not."""
    failures = random.choice([0, 0, 0, 1, 2])
    ends = [random.choice(["fail", "kill"]) for _ in range(failures)]
    well = [f"{CHOICE}{case.to}" for case in step.switch] or ["ok"]
    return (*ends, random.choice([random.choice(well)] * 9 + ["skip", "fail", "kill"]))


def main_steps(workflow):
    """Return the main steps by task id."""
    return {step.name: step for step in (*workflow.before_start, *workflow.steps)}


def hook_steps(workflow):
    """Return the hook steps by task id."""
    return {
        f"{block}.{step.name}": step
        for block in HOOK_BLOCKS
        for step in workflow.hooks.block(block)
    }


@dataclass
class Disturbance:
    """What a user does to a run, once, at a moment of some kind.

    :param is_moment: ``(moment, task_id) -> bool``, see :class:`SimulatedRun`.
    :param act: ``(run, task_id) -> bool``; false when there was nothing to do it to.
    :param wait: how many moments of that kind pass before.
    """

    is_moment: Callable[[str, str | None], bool]
    act: Callable[[SimulatedRun, str | None], bool]
    wait: int = 0
    has_happened: bool = False

    def __call__(self, run, moment, task_id):
        if self.has_happened or not self.is_moment(moment, task_id):
            return
        if self.wait > 0:
            self.wait -= 1
            return
        self.has_happened = self.act(run, task_id)


@dataclass
class Scenario:
    """A workflow, how its attempts end, and what users do.

    :param has_happened: ``run -> bool``, whether what the scenario is for took place: a random
        run may end before.
    :param cleared: how attempts end after a step was cleared with Downstream, if one is to be.
    """

    workflow: Workflow
    script: Script
    has_happened: Callable[[SimulatedRun], bool]
    disturb: Callable[[SimulatedRun, str, str | None], None] = leave_alone
    cleared: Script | None = None


def make_scenario(random, has_happened, *, ends=None):
    """Build a scenario in which nobody does anything.

    :param ends: ``workflow -> ends`` of the script that are not left to chance.
    """
    workflow = make_random_workflow(random)
    script = make_random_script(random, workflow)
    if ends is not None:
        script = Script({**script.ends, **ends(workflow)})
    return Scenario(workflow, script, has_happened)


def make_disturbed_scenario(random, disturbance):
    scenario = make_scenario(random, lambda run: disturbance.has_happened)
    return replace(scenario, disturb=disturbance)


def nothing_else(random):
    return make_scenario(random, lambda run: True)


def run_marked(state, is_moment):
    def make(random):
        def mark(run, task_id):
            run.mark_run(state, during=task_id)
            return True

        return make_disturbed_scenario(random, Disturbance(is_moment, mark))

    return make


def running_step_marked(random):
    def ends(workflow):
        steps, hooks = main_steps(workflow), hook_steps(workflow)
        step = random.choice([*steps, *steps, *hooks])
        mark = random.choice(["marked failed", "marked success"])
        return {step: random.choice([(mark,), ("kill", mark)])}

    def has_happened(run):
        return any(event.what == "ended" and "marked" in event.how for event in run.history)

    return make_scenario(random, has_happened, ends=ends)


def finished_step_marked(random):
    """Mark a step the other way round before the outcome starts.

    Not failed while a dependent runs: see the limit at the end of this file.
    """
    other = {"success": "failed", "failed": "success"}

    def can_be_marked(run, name):
        below = [task_id for task_id, plan in run.plans.items() if name in plan.upstream]
        is_in_use = any(run.states[task_id] == "running" for task_id in below)
        return run.states[name] == "failed" or (run.states[name] == "success" and not is_in_use)

    def mark(run, task_id):
        finished = [name for name in sorted(run.steps) if can_be_marked(run, name)]
        if not finished or run.states.get(OUTCOME) is not None:
            return False
        step = random.choice(finished)
        run.mark(step, other[run.states[step]])
        return True

    disturbance = Disturbance(MOMENTS["when-a-step-has-ended"], mark, wait=random.randint(0, 3))
    return make_disturbed_scenario(random, disturbance)


def outcome_killed(random):
    def ends(workflow):
        return {
            OUTCOME: random.choice([LOST, ("kill", "ok"), ("kill", "kill", "kill", "ok")]),
            ADMISSION: random.choice([("ok",), ("kill", "ok")]),
        }

    return make_scenario(random, lambda run: run.attempts.get(OUTCOME, 0) > 1, ends=ends)


def hook_killed(random):
    def ends(workflow):
        kills = [("kill",), ("kill", "ok"), ("ok",)]
        return {task_id: random.choice(kills) for task_id in hook_steps(workflow)}

    def has_happened(run):
        return any(event.how == "kill" and is_hook(event.task) for event in run.history)

    return make_scenario(random, has_happened, ends=ends)


def step_cleared(random):
    scenario = make_scenario(random, lambda run: True)
    anew = random.choice([Script(), Script(), make_random_script(random, scenario.workflow)])
    return replace(scenario, cleared=anew)


def run_rejected(random):
    workflow = make_random_workflow(random, on_limit="reject")
    script = make_random_script(random, workflow)
    return Scenario(workflow, replace(script, is_rejected=True), lambda run: True)


MOMENTS = {
    "before-any-step": lambda moment, task_id: moment == "begin",
    "while-a-step-runs": lambda moment, task_id: moment == "running" and not is_hook(task_id),
    "while-a-step-waits": lambda moment, task_id: moment == "waiting" and not is_hook(task_id),
    "while-a-hook-runs": lambda moment, task_id: moment == "running" and is_hook(task_id),
    "when-a-step-has-ended": lambda moment, task_id: moment == "ended" and not is_hook(task_id),
}
"""Kinds of moments at which users act, for :class:`Disturbance`."""

EVENTS = {
    "nothing-else": nothing_else,
    **{
        f"run-marked-{state}-{name}": run_marked(state, is_moment)
        for state in ("failed", "success")
        for name, is_moment in MOMENTS.items()
        if name != "when-a-step-has-ended"
    },
    "running-step-marked": running_step_marked,
    "finished-step-marked": finished_step_marked,
    "outcome-killed-or-lost": outcome_killed,
    "hook-killed": hook_killed,
    "step-cleared-with-downstream": step_cleared,
    "run-rejected": run_rejected,
}


@pytest.mark.parametrize("event", EVENTS)
def test_hooks_and_colour_are_what_the_model_says(event, session):
    wrong = {}
    happened = 0
    for seed in range(WORKFLOWS_PER_EVENT):
        scenario = EVENTS[event](Random(f"{event} {seed}"))
        dag = SimulatedDag(scenario.workflow, session)
        run = SimulatedRun(dag, scenario.script, Random(seed), disturb=scenario.disturb).run()
        parts = [(scenario.script, [*run.history], run.colour)]
        if scenario.cleared is not None:
            parts.append(clear_a_step(run, scenario.cleared))
        happened += scenario.has_happened(run)
        if found := differences(scenario.workflow, parts):
            wrong[seed] = [*found, *describe(scenario.workflow, run)]
        assert set(run.states.values()) <= FINISHED

    assert wrong == {}
    assert happened >= WORKFLOWS_PER_EVENT / 3


def describe(workflow, run):
    """Return lines that tell a run whose end is not as promised."""
    return [
        f"order: {workflow.order}, fail_fast: {workflow.fail_fast}",
        *(
            f"{task_id}: depends_on {step.depends_on}, if {step.condition}, "
            f"retry {step.retry and step.retry.max_attempts}, "
            f"continue_on_error {step.continue_on_error}, {step.on_dep_failure}, "
            f"on_error {[rule.transition_to or rule.retry for rule in step.on_error]}, "
            f"cases {[case.to for case in step.switch]}"
            for task_id, step in (main_steps(workflow) | hook_steps(workflow)).items()
        ),
        *(" ".join(filter(None, event)) for event in run.history),
        *(f"{task_id} -> {state}" for task_id, state in run.states.items()),
    ]


def clear_a_step(run, script):
    """Clear a failed step with Downstream, or any that ran, and let the run end again."""
    ran = [event.task for event in run.history if event.task in run.steps]
    failed = [name for name in ran if run.states[name] == "failed"]
    before = len(run.history)
    run.clear_downstream(run.random.choice(failed or ran), script)
    run.run()
    return script, run.history[before:], run.colour


HOOKS = LifecycleHooks(**{block: (make_step("hook"),) for block in HOOK_BLOCKS})


def test_limit_a_step_marked_success_after_the_end_repeats_no_hook_that_ended_well(session):
    """Airflow clears only what is failed or upstream_failed below the step (AIRFLOW 22o).

    So the outcome judges anew and the colour is right, but ``on_success`` may run after
    ``on_finish``, which is not repeated.
    """
    late_hooks = 0
    for seed in range(WORKFLOWS_PER_EVENT):
        random = Random(f"marked after the end {seed}")
        workflow = make_random_workflow(random)
        workflow = replace(workflow, hooks=HOOKS, fail_fast=False)
        steps = [step.name for step in workflow.steps]
        ends = {step.name: make_random_ends(random, step) for step in workflow.steps}
        script = Script(ends | {steps[0]: ("fail",)})
        run = SimulatedRun(SimulatedDag(workflow, session), script, random).run()
        failed = [name for name in steps if run.states[name] == "failed"]
        before = len(run.started)
        # A green run stays as it is: the next limit.
        if not failed or run.colour == "success":
            continue
        run.mark(random.choice(failed), "success")
        run.run()

        model = LifecycleModel(workflow)
        for event in run.history:
            model.observe(event)
        assert run.colour == model.colour(script), describe(workflow, run)
        again = {task_id for task_id in run.started[before:] if is_hook(task_id)}
        assert again <= {"on_success.hook"}
        late_hooks += len(again)
    assert late_hooks > 0


def test_limit_a_step_marked_failed_after_a_green_end_leaves_the_run_green(session):
    """There is nothing failed below that Airflow would clear (AIRFLOW 22o)."""
    workflow = Workflow("flow", (make_step("a"), make_step("b", depends_on=("a",))), hooks=HOOKS)
    run = SimulatedRun(SimulatedDag(workflow, session), Script(), Random(1)).run()
    before = run.started

    run.mark("a", "failed")
    run.run()

    assert (run.states["a"], run.colour) == ("failed", "success")
    assert run.started == before


def test_limit_a_contained_failure_marked_success_after_the_end_runs_its_branch_but_no_hook(
    session,
):
    """Airflow clears the branch, but not an outcome that has succeeded (AIRFLOW 22o)."""
    steps = (make_step("a"), make_step("b", depends_on=("a",), on_dep_failure="cancel_branch"))
    workflow = Workflow("flow", steps, hooks=HOOKS)
    script = Script({"a": ("fail",)})
    run = SimulatedRun(SimulatedDag(workflow, session), script, Random(1)).run()
    before = run.started
    assert (run.states["b"], run.colour) == ("upstream_failed", "success")

    run.mark("a", "success")
    run.run()

    assert (run.states["b"], run.colour, run.started) == ("success", "success", [*before, "b"])


def test_limit_an_outcome_marked_success_after_the_end_runs_on_success_last(session):
    """The user's word stands above the verdict, and Airflow clears what it kept from running."""
    workflow = Workflow("flow", (make_step("a"),), hooks=HOOKS)
    script = Script({"a": ("fail",)})
    run = SimulatedRun(SimulatedDag(workflow, session), script, Random(1)).run()

    run.mark(OUTCOME, "success")
    run.run()

    assert run.started == ["a", "on_failure.hook", "on_finish.hook", "on_success.hook"]
    assert run.colour == "success"


@pytest.mark.parametrize("state", ["failed", "success"])
def test_a_cancelled_run_is_not_green_when_one_branch_was_cleared_and_succeeds(session, state):
    """Airflow has skipped what had not run, and nothing says that it should have been."""

    def cancel(run, moment, task_id):
        if (moment, task_id) == ("running", "a") and not run.history[1:]:
            run.mark_run(state, during="a")

    steps = (make_step("a"), make_step("b"), make_step("c", depends_on=("b",)))
    workflow = Workflow("flow", steps, hooks=HOOKS)
    run = SimulatedRun(SimulatedDag(workflow, session), Script(), Random(1), disturb=cancel).run()

    run.clear_downstream("a", Script())
    run.run()

    assert "c" not in run.started
    assert run.colour == "failed"
    assert "on_success.hook" not in run.started


def test_limit_a_step_marked_failed_while_a_dependent_runs_fails_the_run_without_hooks(session):
    """Airflow sees nothing that it could run, and so ends the run itself.

    ``DagRun.update_state`` takes the running dependent for upstream_failed when it looks for a
    deadlock. Nothing of ours is asked; the colour is right.
    """

    def mark(run, moment, task_id):
        if (moment, task_id) == ("running", "b"):
            run.pace["b"] = 0.0
            run.mark("a", "failed")

    workflow = Workflow("flow", (make_step("a"), make_step("b", depends_on=("a",))), hooks=HOOKS)
    run = SimulatedRun(SimulatedDag(workflow, session), Script(), Random(1), disturb=mark).run()

    assert (run.states["b"], run.states[OUTCOME]) == ("upstream_failed", None)
    assert run.colour == "failed"
    assert run.started == ["a", "b"]


def test_a_step_that_fail_fast_stopped_is_not_tolerated_when_the_cause_was_marked_success(session):
    """No key of such a step is consulted (LANGUAGE, "Failure keys", row 2)."""

    def mark(run, moment, task_id):
        if (moment, task_id) == ("ended", "a"):
            run.pace["b"] = 1.0
        if (moment, task_id) == ("ended", "b"):
            run.mark("a", "success")
            run.pace["c"] = 1.0

    steps = (make_step("a"), make_step("b", continue_on_error=True), make_step("c"))
    workflow = Workflow("flow", steps, fail_fast=True, hooks=HOOKS)
    dag = SimulatedDag(workflow, session)
    run = SimulatedRun(dag, Script({"a": ("fail",)}), Random(1), disturb=mark)
    run.pace |= {"a": 1.0, "b": 0.0, "c": 0.0}
    run.run()

    assert [tuple(event) for event in run.history[3:6]] == [
        ("ended", "a", "fail"),
        ("ended", "b", "stopped"),
        ("marked", "a", "success"),
    ]
    assert run.colour == "failed"


def test_hooks_wait_for_a_step_that_outlives_every_step_below_it(session):
    """A step below has ended, as upstream_failed, while another one that it waits for runs."""
    steps = (make_step("a"), make_step("b"), make_step("c", depends_on=("a", "b")))
    workflow = Workflow("flow", steps, hooks=HOOKS)
    script = Script({"a": ("fail",)})
    run = SimulatedRun(SimulatedDag(workflow, session), script, Random(1))
    run.pace = dict.fromkeys(run.pace, 1.0) | {"b": 0.0}
    run.run()

    assert differences(workflow, [(script, run.history, run.colour)]) == []
