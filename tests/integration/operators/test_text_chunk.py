"""Mantle's `text/chunk`: windows over characters and words, and the recursive cut."""

from __future__ import annotations

import pytest

from mantle_provider.errors import ActionError
from mantle_provider.operators.text import chunk_text
from mantle_provider.workflow.model import Step, Workflow
from support.runs import FakeRun


@pytest.mark.parametrize(
    ("text", "size", "overlap", "unit", "chunks"),
    [
        ("abcdefgh", 3, 0, "chars", ["abc", "def", "gh"]),
        ("abcdefgh", 4, 2, "chars", ["abcd", "cdef", "efgh"]),
        ("abc", 5, 1, "chars", ["abc"]),
        ("a b  c\nd e", 2, 0, "words", ["a b", "c d", "e"]),
        ("a b c d", 3, 2, "words", ["a b c", "b c d"]),
        ("one. two. three", 10, 0, "recursive", ["one. two.", "three"]),
        ("aa\n\nbb\n\ncc", 4, 0, "recursive", ["aa", "bb", "cc"]),
        ("abcdefghij", 4, 0, "recursive", ["abcd", "efgh", "ij"]),
        ("aa bb cc dd", 6, 3, "recursive", ["aa bb", "bb cc", "cc dd"]),
        ("short", 100, 10, "recursive", ["short"]),
    ],
)
def test_chunks(text, size, overlap, unit, chunks):
    assert chunk_text(text, size, overlap, unit) == chunks


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"chunk_size": 0}, "text/chunk: chunk_size must be positive, got 0"),
        ({"chunk_overlap": -1}, "text/chunk: chunk_overlap must be >= 0, got -1"),
        (
            {"chunk_size": 5, "chunk_overlap": 5},
            "text/chunk: chunk_overlap (5) must be less than chunk_size (5)",
        ),
    ],
)
def test_sizes_that_make_no_sense_are_refused(params, message):
    step = Step(name="a", action="text/chunk", params={"text": "abc", **params})
    with pytest.raises(ActionError) as caught:
        FakeRun(Workflow(name="test", steps=(step,))).run("a")
    assert str(caught.value) == message


def test_a_whole_number_from_json_is_a_size():
    step = Step(name="a", action="text/chunk", params={"text": "abcd", "chunk_size": "{{ 2.0 }}"})
    run = FakeRun(Workflow(name="test", steps=(step,)))
    run.run("a")
    assert run.output("a") == {"chunks": ["ab", "cd"], "count": 2}
