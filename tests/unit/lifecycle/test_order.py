import pytest
from hypothesis import given
from hypothesis import strategies as st

from mantle_provider.lifecycle import topological_order


def test_an_order_that_needs_no_change_is_kept():
    assert topological_order({"b": [], "a": ["b"], "c": []}) == ("b", "a", "c")


def test_a_step_moves_behind_what_it_depends_on_and_no_further():
    assert topological_order({"a": ["c"], "b": [], "c": [], "d": []}) == ("b", "c", "a", "d")


def test_a_dependency_named_twice_counts_once():
    assert topological_order({"a": ["b", "b"], "b": []}) == ("b", "a")


def test_nothing_has_an_order():
    assert topological_order({}) == ()


def test_a_cycle_is_refused():
    with pytest.raises(ValueError, match=r"^the dependencies have a cycle$"):
        topological_order({"a": [], "b": ["c"], "c": ["b"]})


@st.composite
def acyclic_dependencies(draw):
    size = draw(st.integers(1, 12))
    names = draw(st.permutations([f"s{index}" for index in range(size)]))
    file_order = draw(st.permutations(names))
    edges = {
        name: draw(st.lists(st.sampled_from(names[:place]))) if place else []
        for place, name in enumerate(names)
    }
    return {name: edges[name] for name in file_order}


@pytest.mark.property
@given(acyclic_dependencies())
def test_every_edge_goes_forward_and_the_earliest_free_name_comes_next(dependencies):
    placed = []
    for name in topological_order(dependencies):
        free = (
            other
            for other, needs in dependencies.items()
            if other not in placed and set(needs) <= set(placed)
        )
        assert name == next(free)
        placed.append(name)
    assert len(placed) == len(dependencies)
