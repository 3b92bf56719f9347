import json
from pathlib import Path

from mantle_provider.check import check_file
from mantle_provider.lifecycle import GraphNode, WorkflowGraph
from mantle_provider.plan import DagPlan, TaskPlan
from mantle_provider.plan.planner import plan_workflow
from mantle_provider.plan.render import render_plan, render_plan_json

ROOT = Path(__file__).parents[3]


def test_what_is_absent_is_not_shown():
    plan = DagPlan(dag_id="flow", version="0", tasks=(TaskPlan("a", "x.Y"),))

    assert render_plan(plan) == (
        "dag flow\n  version 0\n\ntask a\n  rule none_failed\n  operator x.Y\n"
    )


def test_text_of_several_lines_stays_on_one():
    plan = DagPlan(dag_id="flow", version="0", tasks=(), description='one\n"two"')

    assert render_plan(plan) == 'dag flow\n  version 0\n  description "one\\n\\"two\\""\n'


def test_a_foreign_operator_may_have_an_argument_called_parameters():
    task = TaskPlan(
        "a",
        "x.SQLOperator",
        step={"action": "airflow/operator"},
        arguments={"sql": "select 1", "parameters": {"x": 1}},
    )

    assert render_plan(DagPlan("flow", "0", (task,))).endswith(
        '  arguments\n    sql "select 1"\n    parameters {"x": 1}\n'
    )


def test_defaults_that_are_zero_or_false_are_shown():
    inputs = ({"name": "on", "default": False, "required": False, "enum": []},)

    assert render_plan(DagPlan("flow", "0", (), inputs=inputs)) == (
        'dag flow\n  version 0\n  input on {"default": false, "required": false}\n'
    )


def make_plan(*nodes, **keys):
    graph = WorkflowGraph(nodes)
    tasks = tuple(TaskPlan(node.name, "x.Y") for node in nodes)
    return DagPlan("flow", "0", tasks, graph=tuple(graph.to_data()), **keys)


def test_each_step_says_what_its_failure_would_do():
    plan = make_plan(
        GraphNode("a", transitions=("mend",)),
        GraphNode("mend"),
        GraphNode("b", ("a",), on_dep_failure="cancel_branch"),
    )

    assert [line for line in render_plan(plan).splitlines() if "failure" in line] == [
        "  failure contained, cancels b",
        "  failure recoverable by mend, cancels b",
        "  failure fatal",
        "  failure fatal",
    ]


def test_of_many_cancelled_steps_the_first_are_named():
    plan = make_plan(GraphNode("a"), *(GraphNode(f"b{number}", ("a",)) for number in range(7)))

    assert "  failure fatal, cancels b0, b1, b2, b3, b4 and 2 more\n" in render_plan(plan)


def test_the_json_has_the_plan_and_every_failure_in_full():
    plan = make_plan(GraphNode("a"), *(GraphNode(f"b{number}", ("a",)) for number in range(7)))
    data = json.loads(render_plan_json(plan))

    assert data.pop("failures")["a"] == {
        "effect": "fatal",
        "otherwise": "fatal",
        "cancels": [f"b{number}" for number in range(7)],
        "recoveries": {},
    }
    assert DagPlan.from_data(data) == plan


def test_under_fail_fast_a_fatal_failure_cancels_what_does_not_depend_on_it():
    plan = make_plan(GraphNode("a"), GraphNode("b"), fail_fast=True)

    assert json.loads(render_plan_json(plan))["failures"]["a"]["cancels"] == ["b"]


def test_the_how_to_page_shows_the_plan_of_its_example():
    page = (ROOT / "docs" / "how-to" / "contain-failures.md").read_text(encoding="utf-8")
    shown = page.partition("```text\n")[2].partition("```")[0]
    workflow = check_file(ROOT / "dags" / "workflows" / "contain-failures.yaml").workflow
    assert shown
    assert shown in render_plan(plan_workflow(workflow))
