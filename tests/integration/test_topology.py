"""The planned topology under Airflow's own scheduling code, without a scheduler or a worker.

Each task's end is made up; ``DagRun.update_state`` decides what may start next, what is skipped,
and the colour of the run. Expectations come from small models that know nothing of trigger rules.
"""

from itertools import product
from random import Random

import pytest

from mantle_provider.lifecycle import OUTCOME, WorkflowGraph, is_blocked, verdict
from mantle_provider.plan import plan_workflow
from mantle_provider.plan.model import EMPTY_OPERATOR
from mantle_provider.workflow.model import HOOK_BLOCKS, LifecycleHooks, Step, Workflow

pytestmark = pytest.mark.airflow

STATES = {"ok": "success", "fail": "failed", "skip": "skipped"}
"""How a task can be made to end -> Airflow's state."""

FINISHED = {"success", "failed", "skipped", "upstream_failed"}


def make_steps(flags, prefix):
    """Build steps that stand for nothing, one per ``continue_on_error`` flag."""
    return tuple(
        Step(f"{prefix}{place}", action="text/chunk", continue_on_error=flag)
        for place, flag in enumerate(flags)
    )


class Simulation:
    """One run of a plan: what started, in which order, and how everything ended."""

    def __init__(self, plan, ends, random):
        """Prepare a run in which task ``id`` ends as ``ends[id]``, by default well."""
        self.plans = {task.task_id: task for task in plan.tasks}
        self.graph = WorkflowGraph.from_data([*plan.graph])
        self.ends = ends
        self.random = random
        self.states = {}
        self.started = []
        self.colour = None

    def run(self, dag_run, session):
        """Let Airflow decide what is ready until the run has ended."""
        instances = dag_run.get_task_instances(session=session)
        running = []
        for _ in range(20 * len(self.plans)):
            ready, _ = dag_run.update_state(session=session, execute_callbacks=False)
            for instance in ready:
                if self.plans[instance.task_id].operator == EMPTY_OPERATOR:
                    # The scheduler itself ends these (DagRun.schedule_tis).
                    instance.state = "success"
                else:
                    instance.state = "running"
                    running.append(instance)
            # Now and then nothing ends between two looks of the scheduler.
            if running and (not ready or self.random.random() < 0.8):
                instance = running.pop(self.random.randrange(len(running)))
                self.states = {other.task_id: other.state for other in instances}
                instance.state = self.end(instance.task_id)
            if dag_run.state in {"success", "failed"}:
                break
        self.states = {instance.task_id: instance.state for instance in instances}
        self.colour = str(dag_run.state)
        return self

    def end(self, task_id):
        """Return a task's final state, as its worker would report it."""
        if task_id == OUTCOME:
            return "success" if self.verdict().is_succeeded else "failed"
        step = self.plans[task_id].step
        if step["is_gated"] and is_blocked(self.graph, self.states, step["name"]):
            return "skipped"
        self.started.append(task_id)
        return STATES[self.ends.get(task_id, "ok")]

    def verdict(self):
        return verdict(self.graph, self.states, {})


@pytest.fixture
def simulate(dag_maker, session):
    """Return a function that puts a plan into the database and runs it once per set of ends."""
    from airflow.providers.standard.operators.empty import EmptyOperator
    from airflow.sdk import BaseOperator  # costs seconds, so only here

    def simulate(workflow, ends_of_runs, random):
        plan = plan_workflow(workflow)
        with dag_maker(workflow.name, session=session, schedule=None):
            tasks = {}
            for task in plan.tasks:
                operator = EmptyOperator if task.operator == EMPTY_OPERATOR else BaseOperator
                tasks[task.task_id] = operator(task_id=task.task_id, trigger_rule=task.trigger_rule)
                tasks[task.task_id].set_upstream([tasks[above] for above in task.upstream])
        for number, ends in enumerate(ends_of_runs):
            dag_run = dag_maker.create_dagrun(run_id=f"run-{number}", logical_date=None)
            yield Simulation(plan, ends, random).run(dag_run, session)

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
        for ends in product(STATES, repeat=len(flags))
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
                f"{block}.{step.name}": random.choice([*STATES])
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
            Step(
                f"s{place}",
                action="text/chunk",
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
