from mantle_provider.lifecycle import GraphNode, WorkflowGraph
from mantle_provider.plan.graph import gated_steps, workflow_graph
from mantle_provider.workflow.model import ErrorHandler, Step, Workflow


def make_step(name, *depends_on, **more):
    return Step(name=name, action="text/chunk", depends_on=depends_on, **more)


def gated(*steps, order="graph"):
    graph = workflow_graph(Workflow("flow", steps, order=order))
    return sorted(gated_steps(graph))


def test_the_graph_keeps_the_order_of_the_file():
    steps = (make_step("load", "extract"), make_step("extract", continue_on_error=True))

    assert workflow_graph(Workflow("flow", steps)) == WorkflowGraph(
        (
            GraphNode("load", ("extract",)),
            GraphNode("extract", (), continue_on_error=True),
        )
    )


def test_under_order_listed_each_step_knows_the_one_above():
    steps = (make_step("a"), make_step("b"), make_step("c", "a"))

    assert workflow_graph(Workflow("flow", steps, order="listed")) == WorkflowGraph(
        (
            GraphNode("a"),
            GraphNode("b", after="a"),
            GraphNode("c", ("a",), after="b"),
        )
    )


def test_upstream_holds_listed_edges_and_comes_in_topological_order():
    graph = WorkflowGraph(
        (
            GraphNode("d", ("c", "a"), after="b"),
            GraphNode("a"),
            GraphNode("b", ("a",), after="a"),
            GraphNode("c"),
        )
    )

    assert list(graph.upstream.items()) == [
        ("a", ()),
        ("b", ("a",)),
        ("c", ()),
        ("d", ("a", "b", "c")),
    ]


def test_no_step_is_gated_without_continue_on_error():
    assert gated(make_step("a"), make_step("b", "a"), order="listed") == []


def test_steps_at_and_below_the_dependents_of_continue_on_error_are_gated():
    steps = (
        make_step("a", continue_on_error=True),
        make_step("b", "a"),
        make_step("c", "b"),
        make_step("d"),
        make_step("e", "d"),
        make_step("f", "c", "e"),
    )

    assert gated(*steps) == ["b", "c", "f"]


def test_gates_follow_listed_edges():
    steps = (make_step("a"), make_step("b", continue_on_error=True), make_step("c"), make_step("d"))

    assert gated(*steps) == []
    assert gated(*steps, order="listed") == ["c", "d"]


def test_a_list_is_gated_below_a_branch_that_a_failure_may_cancel():
    steps = (make_step("a"), make_step("b", "a", on_dep_failure="cancel_branch"), make_step("c"))

    assert gated(*steps) == []
    assert gated(*steps, order="listed") == ["b", "c"]


def test_an_error_handler_may_go_to_any_target_further_down_in_its_list():
    handler = ErrorHandler("flow.Handler", targets=("repair", "give-up"))
    steps = (make_step("a"), make_step("repair"), make_step("give-up"))

    graph = workflow_graph(Workflow("flow", steps, error_handler=handler))

    assert graph == WorkflowGraph(
        (
            GraphNode("a", transitions=("give-up", "repair")),
            GraphNode("repair", transitions=("give-up",)),
            GraphNode("give-up"),
        )
    )
