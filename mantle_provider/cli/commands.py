"""The commands: each takes the parsed arguments and returns an exit code.

What a command needs beyond checking is imported when it runs, so that ``validate`` starts fast.
"""

from __future__ import annotations

import sys
from contextlib import closing
from typing import TYPE_CHECKING

from mantle_provider.check import CheckOptions, CheckResult, check_file, check_text
from mantle_provider.cli.errors import CommandError
from mantle_provider.cli.files import (
    STDIN,
    Folders,
    InputFile,
    find_files,
    missing_paths,
    read_stdin,
)
from mantle_provider.cli.progress import counted
from mantle_provider.diagnostics.diagnostic import Diagnostic
from mantle_provider.diagnostics.render import render_github, render_json, render_text
from mantle_provider.diagnostics.report import Report, tell_once
from mantle_provider.rules.duplicate_workflow import check_names
from mantle_provider.workflow.environments import invalid_name, is_environment_name

if TYPE_CHECKING:
    import argparse


EXIT_OK = 0
EXIT_ERRORS = 1


def validate(options: argparse.Namespace) -> int:
    """Check files, print what is wrong with them, and say how many there were."""
    _refuse_missing(options.paths)
    limits = _limits(options)
    folders = Folders(options.root)
    reports = []
    left_alone = 0
    with closing(counted([*find_files(options.paths)])) as files:
        for file in files:
            result = _check(file, limits, folders)
            if result.is_foreign and not file.is_named and not result.is_settings:
                # Folders hold other YAML files too; the Dag loader leaves them alone as well.
                left_alone += 1
            else:
                reports.append(result.report)
    reports = tell_once(check_names(reports))
    _print_reports(reports, options.format)
    if options.format == "text":
        print(_summary(reports, left_alone), file=sys.stderr)
    return _exit_code(reports)


def plan(options: argparse.Namespace) -> int:
    """Print the plan of one valid workflow, or what is wrong with it."""
    _refuse_missing([options.path])
    if options.explain and options.format == "json":
        raise CommandError("--explain is for people, and --format json for programs: choose one")
    folders = Folders(options.root)
    result = _check(InputFile(options.path), _limits(options), folders)
    print(render_text(result.report), end="", file=sys.stderr)
    if result.workflow is None:
        return EXIT_ERRORS
    from mantle_provider.plan.planner import plan_workflow  # noqa: PLC0415  # see above
    from mantle_provider.plan.render import render_plan, render_plan_json  # noqa: PLC0415

    render = render_plan_json if options.format == "json" else render_plan
    print(render(plan_workflow(result.workflow)), end="")
    if options.explain:
        from mantle_provider.cli.explain import render_origins  # noqa: PLC0415  # see above

        origins = render_origins(result.report, result.workflow.env, options.environment)
        print(f"\n{origins}", end="")
    return EXIT_OK


def schema(options: argparse.Namespace) -> int:
    """Print the JSON Schema of workflows, or of another kind of file."""
    import json  # noqa: PLC0415  # see above

    from mantle_provider.workflow.schema import file_schema  # noqa: PLC0415  # see above

    print(json.dumps(file_schema(options.kind), indent=2, ensure_ascii=False))
    return EXIT_OK


def cancel(options: argparse.Namespace) -> int:
    """End one run as a user does who marks it failed in Airflow."""
    from mantle_provider.cli.connection import connect  # noqa: PLC0415  # see above
    from mantle_provider.cli.runs import AirflowRuns  # noqa: PLC0415  # see above

    runs = AirflowRuns(connect(options))
    run = runs.find(options.dag, options.run)
    name = f'run "{run.run_id}" of "{run.dag_id}"'
    if run.is_finished:
        print(f"mantle: error: {name} has ended already: {run.state}", file=sys.stderr)
        return EXIT_ERRORS
    runs.cancel(run)
    print(f"cancelled {name}")
    return EXIT_OK


def status(options: argparse.Namespace) -> int:
    """Print how one run and its steps and hooks stand."""
    from mantle_provider.cli.connection import connect  # noqa: PLC0415  # see above
    from mantle_provider.cli.runs import AirflowRuns  # noqa: PLC0415  # see above
    from mantle_provider.cli.status import read_report  # noqa: PLC0415  # see above
    from mantle_provider.cli.status_text import (  # noqa: PLC0415  # see above
        render_report,
        render_report_json,
    )

    runs = AirflowRuns(connect(options))
    report = read_report(runs, runs.find(options.dag, options.run))
    render = render_report_json if options.format == "json" else render_report
    print(render(report), end="")
    return EXIT_ERRORS if report.is_bad else EXIT_OK


def result(options: argparse.Namespace) -> int:
    """Print the result of one run as JSON, or why it has none."""
    import json  # noqa: PLC0415  # see above

    from mantle_provider.cli.connection import connect  # noqa: PLC0415  # see above
    from mantle_provider.cli.result import read_result  # noqa: PLC0415  # see above
    from mantle_provider.cli.runs import AirflowRuns  # noqa: PLC0415  # see above

    runs = AirflowRuns(connect(options))
    run = runs.find(options.dag, options.run)
    report = read_result(runs, run)
    if report.problem is not None:
        print(
            f'mantle: error: run "{run.run_id}" of "{run.dag_id}": {report.problem}',
            file=sys.stderr,
        )
        return EXIT_ERRORS
    print(json.dumps(report.value, indent=2, ensure_ascii=False))
    return EXIT_OK


def _refuse_missing(paths: list[str]) -> None:
    missing = missing_paths(paths)
    if missing:
        raise CommandError(f"no such file or folder: {', '.join(missing)}")


def _limits(options: argparse.Namespace) -> CheckOptions:
    patterns = [pattern.strip() for pattern in options.allowed_actions.split(",")]
    name = options.environment
    if name is not None and not is_environment_name(name):
        raise CommandError(invalid_name(name))
    return CheckOptions(allowed_actions=tuple(filter(None, patterns)), environment=name)


def _check(file: InputFile, limits: CheckOptions, folders: Folders) -> CheckResult:
    folder = folders.of(file)
    if file.path != STDIN:
        try:
            return check_file(file.path, limits, folder)
        except OSError as error:
            if file.is_named:
                raise
            problem = Diagnostic("unreadable-file", f"cannot read the file: {error.strerror}")
            return CheckResult(Report(file.path, (problem,)))
    if folder is None and limits.environment is not None:
        raise CommandError("an environment belongs to a folder: name it with --root")
    return check_text(read_stdin(), "<stdin>", limits, folder)


def _print_reports(reports: list[Report], output_format: str) -> None:
    if output_format == "json":
        print(render_json(reports), end="")
        return
    render = render_github if output_format == "github" else render_text
    for report in reports:
        print(render(report), end="")


def _summary(reports: list[Report], left_alone: int) -> str:
    errors = sum(len(report.errors) for report in reports)
    warnings = sum(len(report.warnings) for report in reports)
    counts = [_count(errors, "error")]
    if warnings:
        counts.append(_count(warnings, "warning"))
    if left_alone:
        counts.append(f"{_count(left_alone, 'file')} left alone, being no workflow")
    return f"{_count(len(reports), 'file')} checked: {', '.join(counts)}"


def _count(number: int, noun: str) -> str:
    return f"{number or 'no'} {noun}{'' if number == 1 else 's'}"


def _exit_code(reports: list[Report]) -> int:
    return EXIT_OK if all(report.is_ok for report in reports) else EXIT_ERRORS
