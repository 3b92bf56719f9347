"""Actions on the user's own Python code."""

from __future__ import annotations

from mantle_provider.actions.spec import ActionSpec, ParamSpec

PYTHON_CALL = ActionSpec(
    name="python/call",
    summary="Call a Python function and keep what it returns",
    operator="mantle_provider.operators.python.PythonCallOperator",
    params=(
        ParamSpec(
            "callable",
            ("string",),
            "dotted path of the function, for example `my_package.module.function`",
            required=True,
            allows_expressions=False,
        ),
        ParamSpec("args", ("list",), "positional arguments"),
        ParamSpec(
            "kwargs",
            ("map",),
            "keyword arguments; a parameter `context` that is given no value gets a"
            " `WorkflowContext`",
        ),
    ),
    wraps_result=True,
)

ACTIONS = (PYTHON_CALL,)
