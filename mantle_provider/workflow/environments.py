"""``values/<environment>.yaml``: what inputs and ``env.X`` are in one place that workflows run.

Pure. The form is that of Mantle's values files (``workflow/values.go``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from mantle_provider.diagnostics.diagnostic import Related
from mantle_provider.diagnostics.wording import quote
from mantle_provider.source.overlay import change, put
from mantle_provider.workflow.blocks import Block, Key, MapOf
from mantle_provider.workflow.decoding import Decoding
from mantle_provider.workflow.keys import INPUT_NAME
from mantle_provider.workflow.kinds import AnyValue

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from mantle_provider.diagnostics.diagnostic import Diagnostic
    from mantle_provider.source.document import Node, SourceDocument

VALUES_FOLDER = "values"

MAX_NAME_LENGTH = 63
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]*")

_QUOTES_VALUE = frozenset(
    {"invalid-scalar", "recursive-alias", "unknown-anchor", "unsupported-tag"}
)
"""Codes of the reader whose messages hold a piece of a value: a password may begin with ``*``."""

_UNREAD_VALUE = "the value cannot be read as it stands; put it in quotes"

VALUES = Block(
    "values file",
    "What inputs and `env.X` are in one named environment.",
    (
        Key("inputs", MapOf(AnyValue(), INPUT_NAME, "input name"), "Defaults of inputs."),
        Key("env", MapOf(AnyValue()), "Values of `env.X`, whose names are in upper case."),
    ),
)


@dataclass(frozen=True, slots=True)
class Values:
    """What a values file says.

    :param inputs: name -> where its value stands.
    :param env: name in upper case -> text. May hold secrets, so it is never shown.
    """

    inputs: Mapping[str, Node] = field(default_factory=dict)
    env: Mapping[str, str] = field(default_factory=dict, repr=False)


def is_environment_name(name: str) -> bool:
    """Whether a text can be the name of an environment, and so of its file."""
    return len(name) <= MAX_NAME_LENGTH and _NAME.fullmatch(name) is not None


def invalid_name(name: str) -> str:
    """Return what is wrong with a text that can be no environment's name, as a message."""
    return (
        f"{quote(name)} cannot be an environment: its name must be lower-case letters, digits,"
        f" hyphens and underscores, at most {MAX_NAME_LENGTH}, and begin with a letter or a digit"
    )


def decode_values(document: SourceDocument) -> tuple[Values, list[Diagnostic]]:
    """Return what a values file says, and what is wrong with it; it may be empty."""
    decoding = Decoding({})
    root = document.root
    if root is None or root.value is None:
        return Values(), []
    if not isinstance(root.value, dict):
        message = 'a values file must be a mapping with the keys "inputs" and "env"'
        decoding.error("root-not-a-mapping", message)
        return Values(), decoding.diagnostics
    # Values of "env" are never decoded by a kind, whose messages would show them.
    shown = {**root.value}
    env = shown.pop("env", None)
    decoding.read_keys(VALUES, shown, ())
    inputs = root.children.get("inputs")
    values = Values(
        inputs.children if inputs and isinstance(inputs.value, dict) else {},  # type: ignore[arg-type]  # a mapping's keys are strings
        {} if env is None else _read_env(root.children["env"], document, decoding),
    )
    return values, decoding.diagnostics


def _read_env(node: Node, document: SourceDocument, decoding: Decoding) -> dict[str, str]:
    if not isinstance(node.value, dict):
        decoding.error("wrong-type", '"env" must be a mapping of names to texts', ("env",))
        return {}
    first: dict[str, str] = {}
    texts: dict[str, str] = {}
    for name, value in node.value.items():
        path, upper = ("env", name), name.upper()
        if isinstance(value, dict | list):
            kind = "a list" if isinstance(value, list) else "a mapping"
            message = f"{quote(name)} must be a text, a number or a boolean, not {kind}"
            decoding.error("wrong-type", message, path, part="key")
        elif upper in first:
            message = (
                f"{quote(name)} and {quote(first[upper])} are both {quote(upper)} in upper case"
            )
            related = Related("the other one is here", ("env", first[upper]), "key")
            decoding.error("duplicate-variable", message, path, part="key", related=(related,))
        else:
            first[upper] = name
            texts[upper] = _text(value, node.children[name], document)
    return texts


def _text(value: Any, node: Node, document: SourceDocument) -> str:  # noqa: ANN401  # a scalar
    """Return a scalar as it is written, so that ``1.50`` stays so."""
    if value is None:
        return ""
    return value if isinstance(value, str) else document.text[node.start : node.end]


def is_values(path: str) -> bool:
    """Whether a path below the folder of workflows is that of a values file."""
    return path.startswith(f"{VALUES_FOLDER}/")


def is_values_of_environment(path: str) -> bool:
    """Whether a path below the folder of workflows is that of the values of an environment."""
    folder, _, name = path.partition("/")
    is_yaml = name.endswith(".yaml")
    return folder == VALUES_FOLDER and is_yaml and is_environment_name(name.removesuffix(".yaml"))


def without_values(found: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Return what the reader says of a values file, in words that quote none of its values."""
    return [
        replace(item, message=_UNREAD_VALUE) if item.code in _QUOTES_VALUE else item
        for item in found
        # Texts are taken as they are written.
        if item.code != "leading-zero" or item.path[:1] == ("inputs",)
    ]


def apply_inputs(root: Node, values: Values, document: SourceDocument) -> Node:
    """Return a workflow's tree with other defaults for the inputs that it declares.

    One file serves many workflows: inputs that this one does not declare are left alone.
    """
    for name, node in values.inputs.items():
        value = replace(node, source=node.source or document)
        root = change(root, ("inputs", name), lambda declared, value=value: _with(declared, value))  # type: ignore[misc]  # mypy does not infer it
    return root


def _with(declared: Node, default: Node) -> Node:
    """Return the declaration of an input with another default."""
    if declared.value is None:
        declared = replace(declared, value={})
    if not isinstance(declared.value, dict):
        return declared
    source = default.source
    key_sources = dict(declared.key_sources or {})
    if source is not None:
        key_sources["default"] = source
    key_spans = {**declared.key_spans, "default": default.span}
    return replace(put(declared, "default", default), key_spans=key_spans, key_sources=key_sources)
