"""Actions on the worker's shell."""

from __future__ import annotations

from mantle_provider.actions.spec import ActionSpec, ParamSpec

BASH_RUN = ActionSpec(
    name="bash/run",
    summary="Run a command in the worker's shell",
    operator="mantle_provider.operators.bash.BashRunOperator",
    params=(
        ParamSpec(
            "command",
            ("string",),
            "the command; pass values through `env` rather than into its text; there is no "
            "standard input",
            required=True,
        ),
        ParamSpec("env", ("map",), "environment variables, added to the worker's"),
        ParamSpec(
            "cwd", ("string",), "working directory, which must exist; default: a temporary one"
        ),
    ),
    output=(("result", "the last line of the command's output"),),
    wraps_result=True,
)

ACTIONS = (BASH_RUN,)
