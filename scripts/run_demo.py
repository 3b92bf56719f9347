"""Run every example workflow in a real Airflow and print how each one ended.

Started by ``scripts/demo`` inside the environment that it made.
"""

from __future__ import annotations

import argparse
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from demo_services import DemoServices
from examples import Example, blocks_that_ran, read_examples
from local_airflow import LocalAirflow, LocalAirflowError, free_port, is_free

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).resolve().parent.parent
WORKFLOWS = ROOT / "dags" / "workflows"
HOME = ROOT / ".demo" / "airflow"
DEFAULT_PORT = 8080
PARSE_SECONDS = 120
RUN_SECONDS = 420
FINAL_STATES = ("success", "failed")


@dataclass(frozen=True)
class Outcome:
    """How the run of one example ended."""

    example: Example
    state: str
    runs: tuple[str, ...]
    url: str

    @property
    def is_as_promised(self) -> bool:
        """Whether the run did what the head comment of its file says."""
        return (self.state, self.runs) == (self.example.ends, self.example.runs)


def run_demo(port: int, *, once: bool) -> int:
    """Run all examples; 0 when each ended as it promises, 1 when one did not."""
    examples = read_examples(WORKFLOWS)
    bundle = {
        "name": "mantle",
        "classpath": "mantle_provider.builder.bundle.MantleDagBundle",
        "kwargs": {"path": str(WORKFLOWS)},
    }
    with DemoServices() as services:
        print(f"Starting Airflow on port {port} (about half a minute) ...", flush=True)
        with LocalAirflow(
            HOME,
            bundles=[bundle],
            connections=services.connections(),
            python_path=[WORKFLOWS.parent],
            port=port,
        ) as airflow:
            if not _are_loaded(airflow, examples):
                return 1
            print(f"Running {len(examples)} workflows; watch them at {airflow.url} ...", flush=True)
            outcomes = _run(airflow, examples)
            _print_table(outcomes)
            if not once:
                print(f"\nWhat the workflows sent: {services.http_url}/received")
                print(f"Airflow stays up at {airflow.url} until you press Ctrl-C.", flush=True)
                signal.pause()
    return 0 if all(outcome.is_as_promised for outcome in outcomes) else 1


def _are_loaded(airflow: LocalAirflow, examples: Sequence[Example]) -> bool:
    """Wait for every example to be a Dag or an import error; print the errors."""
    names = {example.dag_id for example in examples}
    airflow.wait(
        lambda: len(names & airflow.client.dag_ids()) + len(airflow.client.import_errors()),
        f"{len(names)} workflows to be loaded",
        seconds=PARSE_SECONDS,
        is_good=lambda loaded: loaded >= len(names),
    )
    errors = airflow.client.import_errors()
    for text in errors.values():
        print(text)
    return not errors


def _run(airflow: LocalAirflow, examples: Sequence[Example]) -> list[Outcome]:
    client = airflow.client
    run_ids = {}
    for example in examples:
        client.unpause(example.dag_id)
        run_ids[example.dag_id] = client.trigger(example.dag_id)

    def states() -> dict[str, str]:
        return {dag_id: client.run_state(dag_id, run_id) for dag_id, run_id in run_ids.items()}

    final = airflow.wait(
        states,
        "all runs to end",
        seconds=RUN_SECONDS,
        is_good=lambda seen: all(state in FINAL_STATES for state in seen.values()),
    )
    return [
        Outcome(
            example=example,
            state=final[example.dag_id],
            runs=blocks_that_ran(client.task_states(example.dag_id, run_ids[example.dag_id])),
            url=f"{airflow.url}/dags/{example.dag_id}/runs/{run_ids[example.dag_id]}",
        )
        for example in examples
    ]


def _print_table(outcomes: Sequence[Outcome]) -> None:
    head = ("workflow", "expected", "outcome", "hooks that ran", "run")
    rows = [head, *(_cells(outcome) for outcome in outcomes)]
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    print()
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        print("  ".join(cells).rstrip())


def _cells(outcome: Outcome) -> tuple[str, str, str, str, str]:
    example = outcome.example
    return (
        example.dag_id,
        example.ends,
        outcome.state if outcome.is_as_promised else f"{outcome.state} (NOT AS EXPECTED)",
        ", ".join(outcome.runs) or "-",
        outcome.url,
    )


def main() -> int:
    """Read the command line and run the demo."""
    parser = argparse.ArgumentParser(prog="scripts/demo", description=__doc__)
    parser.add_argument("--once", action="store_true", help="stop when all runs have ended")
    parser.add_argument("--port", type=int, help=f"of Airflow's UI, {DEFAULT_PORT} if it is free")
    arguments = parser.parse_args()
    if arguments.port is not None and not is_free(arguments.port):
        parser.error(f"port {arguments.port} is in use; choose another, or none to get a free one")
    port = arguments.port or (DEFAULT_PORT if is_free(DEFAULT_PORT) else free_port())
    # A terminated demo must clean up too, and only an exception runs the way out.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    started = time.monotonic()
    try:
        return run_demo(port, once=arguments.once)
    except LocalAirflowError as error:
        print(f"The demo failed after {time.monotonic() - started:.0f} s: {error}")
        print(f"All logs: {HOME}")
        return 1
    except KeyboardInterrupt:
        print("\nStopped.")
        return 0


if __name__ == "__main__":
    sys.exit(main())
