"""Which part may import which, how large parts may grow, and the tree of exceptions."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import pytest

from mantle_provider import errors

PACKAGE = Path(errors.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))

PURE = {
    "errors": set(),
    "source": {"diagnostics", "errors"},
    "diagnostics": {"source"},
    "workflow": {"actions", "diagnostics", "expressions", "source"},
    "expressions": {"errors"},
    "actions": set(),
    "rules": {"actions", "diagnostics", "errors", "expressions", "lifecycle", "source", "workflow"},
    "folder": {"source", "workflow"},
    "sharing": {"diagnostics", "folder", "source", "workflow"},
    "check": {"diagnostics", "folder", "rules", "sharing", "source", "workflow"},
    "lifecycle": {"errors"},
    "snapshots": set(),
    "listeners": {"lifecycle", "snapshots"},
    "callbacks": {"lifecycle"},
    "handlers": {"errors", "lifecycle", "snapshots"},
    "plan": {"actions", "expressions", "lifecycle", "workflow"},
    "cli": {
        "check",
        "diagnostics",
        "errors",
        "folder",
        "lifecycle",
        "plan",
        "rules",
        "source",
        "workflow",
        "__init__",
    },
    "provider_info": set(),
    "__init__": set(),
}
"""Part -> the parts it may import; none of these imports Airflow."""

AIRFLOW = {
    "settings": {"errors"},
    "builder": {
        "actions",
        "callbacks",
        "check",
        "diagnostics",
        "errors",
        "expressions",
        "folder",
        "lifecycle",
        "operators",
        "plan",
        "rules",
        "settings",
        "source",
        "workflow",
        "__init__",
    },
    "operators": {
        "actions",
        "callbacks",
        "errors",
        "expressions",
        "handlers",
        "hooks",
        "lifecycle",
        "settings",
        "snapshots",
        "triggers",
    },
    "hooks": {"errors"},
    "triggers": {"lifecycle"},
}
"""The same for the parts that import Airflow."""

EXCEPTIONS = {
    # Durations are text and numbers, not the language; the runtime reads and writes them too.
    ("operators", "mantle_provider.workflow.durations"),
}

LITERALS = ("diagnostics/catalogue.py: ", "provider_info.py: get_provider_info ")
"""What may be longer, since it is one table or one literal."""

MAX_MODULE_LINES = 400
MAX_FUNCTION_LINES = 50
MAX_TEST_MODULE_LINES = 600


def part_of(module: Path) -> str:
    relative = module.relative_to(PACKAGE)
    return relative.parts[0] if len(relative.parts) > 1 else relative.stem


def imports_of(module: Path) -> set[str]:
    """Return every module that a file imports, wherever the import stands."""
    found = set()
    for node in ast.walk(ast.parse(module.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level == 0:
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= names if node.module == "mantle_provider" else {node.module}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found


def test_every_part_has_a_row():
    assert {part_of(module) for module in MODULES} == {*PURE, *AIRFLOW}


@pytest.mark.parametrize("part", sorted({*PURE, *AIRFLOW} - {"__init__"}))
def test_a_part_imports_only_what_its_row_allows(part):
    allowed = {**PURE, **AIRFLOW}[part] | {part}
    wrong = []
    for module in MODULES:
        if part_of(module) != part:
            continue
        for name in imports_of(module):
            if not name.startswith("mantle_provider") or (part, name) in EXCEPTIONS:
                continue
            target = [*name.split("."), "__init__"][1]
            target = "__init__" if target == "__version__" else target
            if target not in allowed:
                wrong.append(f"{module.relative_to(PACKAGE)} imports {name}")
    assert wrong == []


@pytest.mark.parametrize("part", sorted(PURE))
def test_the_pure_side_imports_no_airflow(part):
    wrong = [
        f"{module.relative_to(PACKAGE)} imports {name}"
        for module in MODULES
        if part_of(module) == part
        for name in imports_of(module)
        if name.split(".")[0] == "airflow"
    ]
    assert wrong == []


@pytest.mark.parametrize("part", sorted(set(PURE) - {"cli"}))
def test_the_pure_side_reads_no_clock_and_logs_nothing(part):
    wrong = [
        f"{module.relative_to(PACKAGE)} imports {name}"
        for module in MODULES
        if part_of(module) == part
        for name in imports_of(module)
        if name in {"logging", "random", "time", "socket", "urllib.request", "requests"}
    ]
    # The quiet loggers of the parser are the one thing that a pure part says about logging.
    allowed = ["expressions/grammar.py imports logging"]
    assert [line for line in wrong if line not in allowed] == []


def test_modules_and_functions_stay_small():
    offenders = []
    for module in MODULES:
        text = module.read_text()
        lines = text.count("\n")
        if lines > MAX_MODULE_LINES:
            offenders.append(f"{module.relative_to(PACKAGE)}: {lines} lines")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef):
                length = node.end_lineno - _first_line(node) + 1
                if length > MAX_FUNCTION_LINES:
                    offenders.append(
                        f"{module.relative_to(PACKAGE)}: {node.name} has {length} lines"
                    )
    assert [line for line in offenders if not line.startswith(LITERALS)] == []


def _first_line(function: ast.FunctionDef) -> int:
    """Return where a function's code begins: what its docstring explains is no length."""
    first = function.body[0]
    has_docstring = ast.get_docstring(function) is not None and len(function.body) > 1
    return function.body[1].lineno if has_docstring else first.lineno


def test_test_modules_stay_small():
    tests = Path(__file__).parent
    offenders = [
        f"{path.relative_to(tests)}: {lines} lines"
        for path in sorted(tests.rglob("*.py"))
        if (lines := path.read_text().count("\n")) > MAX_TEST_MODULE_LINES
    ]
    assert offenders == []


def test_every_exception_is_in_the_tree_and_named_error():
    raised = [
        value
        for _, value in inspect.getmembers(errors, inspect.isclass)
        if issubclass(value, BaseException)
    ]
    for exception in raised:
        assert issubclass(exception, errors.MantleError)
        assert exception.__name__.endswith("Error")
        assert exception.__name__ in errors.__doc__
        assert exception.__doc__
