"""Actions on text, carried out in the worker."""

from __future__ import annotations

from mantle_provider.actions.spec import ActionSpec, ParamSpec

TEXT_CHUNK = ActionSpec(
    name="text/chunk",
    summary="Cut a text into overlapping pieces",
    operator="mantle_provider.operators.text.TextChunkOperator",
    params=(
        ParamSpec("text", ("string",), "the text to cut; not blank", required=True),
        ParamSpec("chunk_size", ("integer",), "length of a piece in units", default=1000),
        ParamSpec(
            "chunk_overlap", ("integer",), "units that neighbours share; below the size", default=0
        ),
        ParamSpec(
            "unit",
            ("string",),
            "what is counted",
            default="chars",
            enum=("chars", "words", "recursive"),
        ),
    ),
    output=(("chunks", "the pieces in order"), ("count", "how many there are")),
)

ACTIONS = (TEXT_CHUNK,)
