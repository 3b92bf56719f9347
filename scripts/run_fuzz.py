"""Check that no damaged workflow and no damaged expression does harm.

Each text must be answered with diagnostics or a workflow, within two seconds and 300 MB beyond
what the process needs at its start. Started by ``scripts/fuzz``.
"""

from __future__ import annotations

import argparse
import json
import resource
import signal
import sys
import traceback
from contextlib import suppress
from itertools import islice
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, NoReturn

from mutants import ROOT, corpus, mutants

from mantle_provider.check import check_text
from mantle_provider.diagnostics import render_text
from mantle_provider.errors import ExpressionError
from mantle_provider.expressions import compile_expression, compile_template
from mantle_provider.plan.planner import plan_workflow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

SECONDS = 2
MEGABYTES = 300
CONTEXT = {
    "steps": {"a": {"output": {"result": "x" * 100, "rows": [*range(100)]}, "error": None}},
    "hooks": {},
    "inputs": {"x": 1, "day": "monday"},
    "trigger": None,
    "env": {},
    "artifacts": {},
    "execution": {"id": "r", "status": "failed"},
}
EXPRESSIONS = (
    "steps['a'].output.rows.filter(x, x > 3).map(x, x * 2)",
    "default(steps.a.output.result, 'none').toUpper().split(',')[0]",
    "inputs.x > 2 && has(inputs.day) ? string(timestamp('2026-01-01T00:00:00Z')) : ''",
    "obj('a', [1, 2, {'b': jsonEncode(inputs)}]).a[2].b + string(1.5e3) + '\\u00e9'",
    "steps.a.output.rows.all(x, steps.a.output.rows.exists(y, y == x))",
)


def main() -> int:
    """Read the command line; 0 when nothing was harmed, 1 with every text that did harm."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mutants", type=int, default=10_000, help="how many damaged texts")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    _check_file(corpus()[0])
    _check_expression(EXPRESSIONS[0])
    _limit_memory()
    half = options.mutants // 2
    files = islice(mutants(corpus(), Random(options.seed)), half)
    texts = islice(mutants([*EXPRESSIONS], Random(options.seed)), options.mutants - half)
    harmful = [*_harmful(_check_file, files), *_harmful(_check_expression, texts)]
    print(f"{options.mutants} damaged texts, {len(harmful)} did harm")
    for number, text in enumerate(harmful):
        path = ROOT / f"fuzz-{number}.txt"
        path.write_text(text, encoding="utf-8", errors="surrogatepass")
        print(f"  {path.name}: {text[:200]!r}")
    return 1 if harmful else 0


def _harmful(check: Callable[[str], None], texts: Iterable[str]) -> list[str]:
    """Return the texts that take too long, need too much, or raise."""
    signal.signal(signal.SIGALRM, _take_too_long)
    found = []
    for text in texts:
        signal.setitimer(signal.ITIMER_REAL, SECONDS)
        try:
            check(text)
        except Exception:  # noqa: BLE001  # whatever is raised is what is looked for
            found.append(text)
            traceback.print_exc()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    return found


def _take_too_long(*_: object) -> NoReturn:
    raise TimeoutError(f"took longer than {SECONDS} s")


def _limit_memory() -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + MEGABYTES * 1024 * 1024
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def _check_file(text: str) -> None:
    result = check_text(text.encode("utf-8", "surrogatepass"), "damaged.yaml")
    rendered = render_text(result.report)
    if bool(result.report.errors) == (result.workflow is not None):
        raise AssertionError(f"neither a workflow nor an error, or both: {rendered}")
    if result.workflow is not None:
        json.dumps(plan_workflow(result.workflow).to_data())


def _check_expression(text: str) -> None:
    for compile_text in (compile_expression, compile_template):
        with suppress(ExpressionError):
            compile_text(text).evaluate(CONTEXT)


if __name__ == "__main__":
    sys.exit(main())
