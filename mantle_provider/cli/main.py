"""Arguments to commands, and every failure to an exit code.

Exit codes: 0 all is well, 1 errors found in a file or a run that ended badly, 2 the command could
not do what it was asked.
"""

from __future__ import annotations

import argparse
import os
import sys
from io import TextIOWrapper
from typing import TYPE_CHECKING

from mantle_provider import __version__
from mantle_provider.cli import commands
from mantle_provider.cli.errors import CommandError

if TYPE_CHECKING:
    from collections.abc import Sequence

EXIT_FAILURE = 2
EXIT_INTERRUPTED = 130
"""What a shell reports for a command that Ctrl-C ended."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    :param arguments: without the program's name; by default the process's own.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # A file may hold characters that the terminal's encoding lacks.
            stream.reconfigure(errors="backslashreplace")
    options = _parser().parse_args(arguments)
    try:
        code: int = options.command(options)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader, for example `head`, has gone: there is nobody left to tell. Without this
        # Python would complain when it flushes at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_FAILURE
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except CommandError as error:
        return _fail(str(error))
    except OSError as error:
        return _fail(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    except Exception as error:  # noqa: BLE001  # a user is never shown a traceback
        return _fail(f"internal failure, please report it: {type(error).__name__}: {error}")
    return code


def _fail(message: str) -> int:
    print(f"mantle: error: {message}", file=sys.stderr)
    return EXIT_FAILURE


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="mantle",
        description="Check and explain Mantle workflows for Airflow, and look after their runs.",
        epilog="Exit codes: 0 all is well, 1 errors found, or a run that is not as it should be,"
        " 2 wrong usage, no answer from Airflow, or internal failure.",
    )
    parser.add_argument("--version", action="version", version=f"mantle {__version__}")
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)

    validate = subparsers.add_parser("validate", help="check workflow files")
    validate.add_argument(
        "paths",
        nargs="+",
        metavar="PATH",
        help="a file, a folder with *.yaml and *.yml files at any depth, or - for standard input",
    )
    validate.add_argument(
        "--format",
        choices=("text", "json", "github"),
        default="text",
        help="how diagnostics are printed (default: text)",
    )
    _add_limits(validate)
    validate.set_defaults(command=commands.validate)

    plan = subparsers.add_parser("plan", help="print the Dag that a workflow becomes")
    plan.add_argument("path", metavar="FILE", help="a workflow file, or - for standard input")
    _add_format(plan, "how the plan is printed (default: text)")
    plan.add_argument(
        "--explain",
        action="store_true",
        help="also print where each value of the workflow stands, and in which file",
    )
    _add_limits(plan)
    plan.set_defaults(command=commands.plan)

    schema = subparsers.add_parser("schema", help="print the JSON Schema for editors")
    schema.add_argument(
        "kind",
        nargs="?",
        choices=("workflow", "defaults", "values"),
        default="workflow",
        help="the kind of file: a workflow, a defaults.yaml, or the values of an environment"
        " (default: workflow)",
    )
    schema.set_defaults(command=commands.schema)

    _add_run_commands(subparsers)
    return parser


def _add_run_commands(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    cancel = subparsers.add_parser("cancel", help="cancel a run in Airflow")
    _add_run(cancel)
    cancel.set_defaults(command=commands.cancel)

    status = subparsers.add_parser("status", help="print how a run in Airflow stands")
    _add_run(status)
    _add_format(status, "how the run is printed (default: text)")
    status.set_defaults(command=commands.status)

    result = subparsers.add_parser("result", help="print the result of a run in Airflow")
    _add_run(result)
    result.set_defaults(command=commands.result)


def _add_limits(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--allowed-actions",
        metavar="PATTERNS",
        default="*",
        help="actions that may be used, as shell patterns with commas between (default: *)",
    )
    parser.add_argument(
        "--environment",
        metavar="NAME",
        help="apply the values of this environment, from values/NAME.yaml (default: none)",
    )
    parser.add_argument(
        "--root",
        metavar="FOLDER",
        help="the folder of workflows, as Airflow knows it (default: a folder that is given; for"
        " a file the highest one with defaults.yaml or values, up to the working directory)",
    )


def _add_format(parser: argparse.ArgumentParser, explanation: str) -> None:
    parser.add_argument("--format", choices=("text", "json"), default="text", help=explanation)


def _add_run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("dag", metavar="DAG", help="the workflow's name, which is its Dag's id")
    parser.add_argument("run", metavar="RUN", help="the run's id, or latest")
    connection = parser.add_argument_group("connection to Airflow")
    connection.add_argument(
        "--url", help="Airflow's address (default: AIRFLOW_API_URL, or http://localhost:8080)"
    )
    connection.add_argument("--token", help="an API token (default: AIRFLOW_API_TOKEN)")
    connection.add_argument(
        "--username", help="who gets a token instead (default: AIRFLOW_API_USERNAME)"
    )
    connection.add_argument("--password", help="the password to it (default: AIRFLOW_API_PASSWORD)")
