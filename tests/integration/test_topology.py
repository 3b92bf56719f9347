"""The planned topology under Airflow's own scheduling code, without a scheduler or a worker.

Each attempt's end is made up, see ``support.scheduling``. Expectations come from small models that
know nothing of trigger rules.
"""

from itertools import product
from random import Random

import pytest

from mantle_provider.lifecycle import CALLBACK, STARTED
from mantle_provider.workflow.model import HOOK_BLOCKS, LifecycleHooks, Workflow
from support.history import Script
from support.scheduling import FINISHED, SimulatedDag, SimulatedRun, make_step, make_steps

pytestmark = pytest.mark.airflow

ENDS = ("ok", "fail", "skip")


@pytest.fixture
def simulate(session):
    """Return a function that puts a workflow into the database and runs it once per set of ends."""

    def simulate(workflow, ends_of_runs, random):
        dag = SimulatedDag(workflow, session)
        for number, ends in enumerate(ends_of_runs):
            script = Script({task_id: (end,) for task_id, end in ends.items()})
            yield SimulatedRun(dag, script, random, run_id=f"run-{number}").run()

    return simulate


def hooks_that_run(hooks, ends, *, is_succeeded):
    """Return the hooks that a run starts, in their order: the model of the lifecycle."""
    started = []
    for block in ["on_success" if is_succeeded else "on_failure", "on_finish"]:
        for step in hooks.block(block):
            started.append(f"{block}.{step.name}")
            if ends.get(started[-1]) == "fail" and not step.continue_on_error:
                break
    return started


def check_hooks(hooks, ends, simulation):
    is_succeeded = ends["s0"] != "fail"
    assert set(simulation.states.values()) <= FINISHED
    assert [task for task in simulation.started if "." in task] == hooks_that_run(
        hooks, ends, is_succeeded=is_succeeded
    )
    assert simulation.colour == ("success" if is_succeeded else "failed")


BLOCKS = [flags for length in (1, 2, 3) for flags in product([False, True], repeat=length)]


@pytest.mark.parametrize(
    "flags", BLOCKS, ids=["".join("?" if flag else "!" for flag in flags) for flags in BLOCKS]
)
def test_each_run_starts_exactly_the_hooks_it_should(simulate, flags):
    """Every block has the same hooks, so each run shows one of the first two, and the last."""
    steps = make_steps(flags, "hook")
    hooks = LifecycleHooks(on_success=steps, on_failure=steps, on_finish=steps)
    workflow = Workflow("flow", make_steps([False, False], "s"), hooks=hooks)
    runs = [
        {
            "s0": main,
            **{
                f"{block}.{step.name}": end
                for block in HOOK_BLOCKS
                for step, end in zip(steps, ends, strict=True)
            },
        }
        for main in ("ok", "fail")
        for ends in product(ENDS, repeat=len(flags))
    ]

    for ends, simulation in zip(runs, simulate(workflow, runs, Random(1)), strict=True):
        check_hooks(hooks, ends, simulation)


@pytest.mark.parametrize("seed", range(12))
def test_blocks_do_not_depend_on_each_other(simulate, seed):
    """Blocks of different lengths, absent ones too, whose hooks end independently."""
    random = Random(seed)
    hooks = LifecycleHooks(
        **{
            block: make_steps([random.random() < 0.5 for _ in range(random.randint(0, 3))], "hook")
            for block in HOOK_BLOCKS
        }
    )
    workflow = Workflow("flow", make_steps([False, False], "s"), hooks=hooks)
    runs = [
        {
            "s0": random.choice(["ok", "fail"]),
            **{
                f"{block}.{step.name}": random.choice(ENDS)
                for block in HOOK_BLOCKS
                for step in hooks.block(block)
            },
        }
        for _ in range(5)
    ]

    for ends, simulation in zip(runs, simulate(workflow, runs, random), strict=True):
        check_hooks(hooks, ends, simulation)


def make_random_workflow(random):
    size = random.randint(1, 8)
    steps = []
    for place in range(size):
        above = random.sample(range(place), min(place, random.randint(0, 2)))
        steps.append(
            make_step(
                f"s{place}",
                depends_on=tuple(f"s{number}" for number in above),
                continue_on_error=random.random() < 0.3,
            )
        )
    hook = make_steps([False], "hook")
    return Workflow(
        "flow",
        tuple(steps),
        order=random.choice(["graph", "graph", "listed"]),
        hooks=random.choice([LifecycleHooks(), LifecycleHooks(on_failure=hook, on_finish=hook)]),
    )


def steps_that_run(workflow, ends):
    """Return the steps that do their work, and whether all ended well: the model of the graph.

    A step runs when everything before it is resolved: it ran, and did not fail for good.
    """
    resolved = {}
    runs = set()
    above = None
    for step in workflow.steps:  # made so that this is a topological order
        before = [*step.depends_on, *([above] if workflow.order == "listed" and above else [])]
        if all(resolved[name] for name in before):
            runs.add(step.name)
        resolved[step.name] = step.name in runs and (
            ends[step.name] != "fail" or step.continue_on_error
        )
        above = step.name
    return runs, all(resolved.values())


@pytest.mark.parametrize("seed", range(40))
def test_main_steps_run_when_they_should_and_the_colour_is_the_verdicts(simulate, seed):
    random = Random(seed)
    workflow = make_random_workflow(random)
    runs = [
        {step.name: random.choice(["ok", "ok", "ok", "fail", "skip"]) for step in workflow.steps}
        for _ in range(4)
    ]

    for ends, simulation in zip(runs, simulate(workflow, runs, random), strict=True):
        expected, is_succeeded = steps_that_run(workflow, ends)
        assert set(simulation.states.values()) <= FINISHED
        assert {task for task in simulation.started if "." not in task} == expected
        assert simulation.verdict().is_succeeded == is_succeeded
        assert simulation.colour == ("success" if is_succeeded else "failed")
        assert ("on_finish.hook0" in simulation.started) == bool(workflow.hooks.on_finish)


@pytest.mark.parametrize("seed", range(12))
def test_whoever_is_called_changes_neither_order_nor_colour(simulate, seed):
    """The start is told before every step, the end after every hook; both may fail or be lost."""
    random = Random(seed)
    hooks = LifecycleHooks(on_success=make_steps([False], "h"), on_finish=make_steps([True], "h"))
    workflow = Workflow(
        "flow",
        make_steps([False, True, False], "s"),
        hooks=hooks,
        on_finish_callback=random.choice([None, "support.functions.give", "support.nowhere"]),
        listeners=("support.observers.Broken",),
    )
    ends = {
        "s0": random.choice(ENDS),
        STARTED: random.choice(["ok", "kill"]),
        CALLBACK: random.choice(["ok", "kill"]),
    }

    [simulation] = simulate(workflow, [ends], random)

    states = simulation.states
    assert states[STARTED] == "failed"
    assert states["workflow_started_done"] == states["hooks_done"] == "success"
    assert {states[name] for name in ("s1", "s2")} == {"success"}
    assert simulation.colour == ("failed" if ends["s0"] == "fail" else "success")
    ended = [task for task in simulation.instances.values() if task.task_id != "workflow_status"]
    assert states[CALLBACK] in {"success", "failed"}
    last = max(task.end_date for task in ended if "." in task.task_id and task.end_date)
    assert simulation.instances[CALLBACK].start_date >= last


def test_a_refused_run_starts_no_step_although_its_start_was_to_be_told(session):
    workflow = Workflow(
        "flow",
        make_steps([False], "s"),
        max_parallel_executions=1,
        on_limit="reject",
        listeners=("support.observers.Broken",),
    )
    script = Script(is_rejected=True)
    run = SimulatedRun(SimulatedDag(workflow, session), script, Random(1), run_id="run").run()
    assert (run.states[STARTED], run.states["s0"]) == ("upstream_failed", "upstream_failed")
    assert (run.states[CALLBACK], run.colour) == ("skipped", "failed")
