"""CEL expressions and templates of a workflow: compile, check, evaluate.

cel-python's grammar is the front end; evaluation is ours, over plain Python values. Pure: no
Airflow, no network, no clock. The parser, the checker and the functions are loaded when the first
text is compiled, not when this package is imported.
"""

from __future__ import annotations

from mantle_provider.errors import ExpressionError
from mantle_provider.expressions.program import (
    WORKFLOW_VARIABLES,
    Program,
    compile_expression,
    compile_template,
    rewrite_dotted_names,
)
from mantle_provider.expressions.templates import has_template
from mantle_provider.expressions.text import text_form

__all__ = [
    "WORKFLOW_VARIABLES",
    "ExpressionError",
    "Program",
    "compile_expression",
    "compile_template",
    "has_template",
    "rewrite_dotted_names",
    "text_form",
]
