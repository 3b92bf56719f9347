"""How planning and building one large workflow grow with its steps."""

from __future__ import annotations

import tempfile
from pathlib import Path

from measuring import Figure, median_ratio, run_python
from workloads import workflow_text

SIZES = (250, 500, 1000, 2000)
ROUNDS = 5

_TIMED = """\
import gc, json, sys, time
from pathlib import Path
from mantle_provider.builder.build import build_dag
from mantle_provider.check import check_text
from mantle_provider.plan.planner import plan_workflow
import mantle_provider.operators.bash
text = Path(sys.argv[1]).read_text()
workflow = check_text(text).workflow
gc.collect()  # what the imports have left is no part of any size
began = time.perf_counter()
dag = build_dag(plan_workflow(workflow))
seconds = time.perf_counter() - began
assert len(dag.tasks) >= int(sys.argv[2])
print(json.dumps(seconds))
"""


def figures(*, is_quick: bool) -> list[Figure]:
    """Return the time of each step against that in the smallest workflow."""
    sizes = SIZES[:2] if is_quick else SIZES
    times: dict[int, list[float]] = {size: [] for size in sizes}
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        for _ in range(1 if is_quick else ROUNDS):
            for size in sizes:
                file = root / f"{size}.yaml"
                file.write_text(workflow_text(0, size))
                times[size].append(run_python(_TIMED, file, size, home=root))
    smallest = sizes[0]
    return [
        Figure(
            f"plan and build {size} steps, for each step",
            f"{median_ratio(times[size], times[smallest]) * smallest / size:.2f} times "
            f"that of {smallest} steps",
            "1.3" if size == SIZES[-1] else "",
        )
        for size in sizes
    ]
