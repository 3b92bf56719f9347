import pytest

from mantle_provider.plan.hooks import place_hooks
from mantle_provider.workflow.model import LifecycleHooks, Step

IN_A_ROW = "none_failed_min_one_success"


def make_hook(name):
    """A name with ``?`` is ``continue_on_error``."""
    return Step(name=name.rstrip("?"), action="text/chunk", continue_on_error=name.endswith("?"))


def place(**blocks):
    hooks = LifecycleHooks(
        **{block: tuple(make_hook(name) for name in names) for block, names in blocks.items()}
    )
    return place_hooks(hooks)


def edges(**blocks):
    return [(task.task_id, task.trigger_rule, task.upstream) for task in place(**blocks)]


def test_no_hooks_need_no_tasks():
    assert edges() == []


@pytest.mark.parametrize(
    ("block", "guard"),
    [("on_success", "all_success"), ("on_failure", "one_failed"), ("on_finish", "all_done")],
)
def test_a_hook_alone_carries_the_guard_of_its_block(block, guard):
    assert edges(**{block: ["tell?"]}) == [(f"{block}.tell", guard, ("workflow_outcome",))]


def test_hooks_in_a_row_stand_behind_an_entry_with_the_guard():
    assert edges(on_failure=["a", "b", "c"]) == [
        ("on_failure.block_begin", "one_failed", ("workflow_outcome",)),
        ("on_failure.a", IN_A_ROW, ("on_failure.block_begin",)),
        ("on_failure.b", IN_A_ROW, ("on_failure.block_begin", "on_failure.a")),
        ("on_failure.c", IN_A_ROW, ("on_failure.block_begin", "on_failure.a", "on_failure.b")),
    ]


def test_a_tolerant_hook_is_followed_by_a_task_that_succeeds_either_way():
    assert edges(on_success=["a?", "b", "c?"]) == [
        ("on_success.block_begin", "all_success", ("workflow_outcome",)),
        ("on_success.a", IN_A_ROW, ("on_success.block_begin",)),
        ("on_success.a_done", "one_done", ("on_success.a",)),
        ("on_success.b", IN_A_ROW, ("on_success.block_begin", "on_success.a_done")),
        (
            "on_success.c",
            IN_A_ROW,
            ("on_success.block_begin", "on_success.a_done", "on_success.b"),
        ),
    ]


def test_on_finish_comes_after_every_task_of_the_other_blocks():
    placed = edges(on_success=["a"], on_failure=["b?", "c"], on_finish=["d", "e"])

    assert placed[-3:] == [
        (
            "on_finish.block_begin",
            "all_done",
            (
                "workflow_outcome",
                "on_success.a",
                "on_failure.block_begin",
                "on_failure.b",
                "on_failure.b_done",
                "on_failure.c",
            ),
        ),
        ("on_finish.d", IN_A_ROW, ("on_finish.block_begin",)),
        ("on_finish.e", IN_A_ROW, ("on_finish.block_begin", "on_finish.d")),
    ]


@pytest.mark.parametrize("name", ["begin", "done", "block-begin", "a-done"])
def test_no_name_of_a_hook_collides_with_a_task_of_ours(name):
    ids = [task.task_id for task in place(on_failure=["a?", f"{name}?", "z"])]

    assert len(ids) == len(set(ids)) == 6


def test_each_hook_knows_which_hooks_can_have_run_before_it():
    placed = place(on_success=["a"], on_failure=["b", "c"], on_finish=["d", "e"])

    assert {task.task_id: task.hooks_before for task in placed if task.step} == {
        "on_success.a": (),
        "on_failure.b": (),
        "on_failure.c": (("on_failure", "b"),),
        "on_finish.d": (("on_success", "a"), ("on_failure", "b"), ("on_failure", "c")),
        "on_finish.e": (
            ("on_success", "a"),
            ("on_failure", "b"),
            ("on_failure", "c"),
            ("on_finish", "d"),
        ),
    }
