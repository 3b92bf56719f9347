"""Arguments to commands, and every failure to an exit code.

Exit codes: 0 no errors, 1 errors found in a file, 2 wrong usage or internal failure.
"""

from __future__ import annotations

import argparse
import os
import sys
from io import TextIOWrapper
from typing import TYPE_CHECKING

from mantle_provider import __version__
from mantle_provider.cli import commands

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
        code: int = options.run(options)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader, for example `head`, has gone: there is nobody left to tell. Without this
        # Python would complain when it flushes at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_FAILURE
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except commands.UsageError as error:
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
        description="Check and explain Mantle workflows for Airflow.",
        epilog="Exit codes: 0 no errors, 1 errors found, 2 wrong usage or internal failure.",
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
    validate.set_defaults(run=commands.validate)

    plan = subparsers.add_parser("plan", help="print the Dag that a workflow becomes")
    plan.add_argument("path", metavar="FILE", help="a workflow file, or - for standard input")
    _add_limits(plan)
    plan.set_defaults(run=commands.plan)

    schema = subparsers.add_parser("schema", help="print the JSON Schema for editors")
    schema.set_defaults(run=commands.schema)
    return parser


def _add_limits(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--allowed-actions",
        metavar="PATTERNS",
        default="*",
        help="actions that may be used, as shell patterns with commas between (default: *)",
    )
