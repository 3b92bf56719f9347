"""Workflows as Dag definitions of Airflow 3.4, which asks an importer what a file defines.

Can be imported on Airflow 3.3 too, which has no such importers: nothing of 3.4 is used before an
importer is made.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from airflow.sdk.definitions.context import get_parsing_context

from mantle_provider.builder.build import build_dag
from mantle_provider.builder.folder import (
    check_options,
    earlier_of_name,
    read_workflow_file,
    refuse_duplicate,
)
from mantle_provider.builder.operator_checks import check_operators
from mantle_provider.diagnostics import render_text
from mantle_provider.errors import ConfigurationError
from mantle_provider.plan.planner import plan_workflow
from mantle_provider.source.files import SUFFIXES

try:
    from airflow.sdk.importers import AbstractDagImporter
except ImportError:
    # Airflow 3.3. Remove when the minimum is 3.4.
    AbstractDagImporter = None

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mantle_provider.builder.folder import WorkflowFile
    from mantle_provider.diagnostics import Diagnostic, Report
    from mantle_provider.source.span import Span

# The class must be Airflow's own where there is one: its registry looks.
_Importer: Any = AbstractDagImporter or object


class MantleDagImporter(_Importer):  # type: ignore[misc]  # Airflow 3.3 has nothing to derive from
    """Imports workflows from any bundle, without Python files and without stubs.

    For ``[dag_processor] dag_importer_configs``, or the key ``importers`` of one bundle. Imitates
    Airflow's own ``YamlDagImporter``. A YAML file without ``steps``, ``hooks`` and ``triggers``
    defines nothing.

    :raises ConfigurationError: on Airflow 3.3, which has no importers.
    """

    supported_extensions = sorted(SUFFIXES)

    def __init__(self) -> None:
        if AbstractDagImporter is None:
            raise ConfigurationError(
                "MantleDagImporter needs Airflow 3.4; configure MantleDagBundle instead"
            )
        super().__init__()

    def can_handle(self, definition: Any) -> bool:  # noqa: ANN401  # a definition, a path or its text
        """Whether a definition is a file with the suffix of a workflow."""
        from airflow.sdk.importers import get_file_suffix  # noqa: PLC0415  # Airflow 3.4

        return get_file_suffix(definition) in self.supported_extensions

    def list_dag_definitions(self, bundle: Any, *, safe_mode: bool = True) -> Iterator[Any]:  # noqa: ANN401  # Airflow 3.4's types
        """Yield the files of a bundle that may be workflows.

        :param safe_mode: makes no difference: a file that does not parse is ours to answer for.
        """
        del safe_mode
        from airflow.sdk.importers import find_file_dag_definitions  # noqa: PLC0415

        yield from find_file_dag_definitions(bundle.path, self.supported_extensions)

    def import_definition(self, definition: Any, bundle: Any) -> Any:  # noqa: ANN401  # Airflow 3.4's types
        """Return the Dag of a workflow file, or one error that holds all its diagnostics."""
        from airflow.sdk.importers import (  # noqa: PLC0415
            DagImportResult,
            FilesystemDagDefinition,
        )

        result = DagImportResult(definition=definition)
        root = Path(bundle.path)
        path = root / definition.get_relative_loc(root)
        options = check_options()
        file = read_workflow_file(path, root, options)
        if file is None:
            return result
        names = file.sources
        # A task process builds what the Dag processor has already looked at.
        first = None if _is_task_process() else earlier_of_name(file, root, options)
        if first is not None:
            file = refuse_duplicate(file, first)
            names += (first,)
        # What was looked for and is not there would be no file to watch.
        sources = (root / name for name in names)
        result.dependencies = [
            FilesystemDagDefinition(path=source) for source in sources if source.is_file()
        ]
        report = _full_report(file)
        if file.workflow is None or report.errors:
            result.errors = [_import_error(definition, report)]
            return result
        result.warnings = list(_import_warnings(definition, report))
        with definition.import_context():
            result.dags = [build_dag(plan_workflow(file.workflow))]
        return result

    def get_source_code(self, definition: Any, dag_id: str | None = None) -> Any:  # noqa: ANN401  # Airflow 3.4's types
        """Return the workflow's YAML for Airflow's Code tab."""
        del dag_id
        from airflow.sdk.importers import DagSourceCode  # noqa: PLC0415

        return DagSourceCode(source_code=definition.read_text(), language="yaml")


def _is_task_process() -> bool:
    return get_parsing_context().dag_id is not None


def _full_report(file: WorkflowFile) -> Report:
    if file.workflow is None or _is_task_process():
        return file.report
    return file.report.with_diagnostics(check_operators(file.workflow))


def _import_error(definition: object, report: Report) -> Any:  # noqa: ANN401  # Airflow 3.4's type
    """Return all diagnostics as one error: Airflow keeps one for each file."""
    from airflow.sdk.importers import DagImportError  # noqa: PLC0415

    span = _own_span(report, report.errors[0])
    return DagImportError(
        source_reference=repr(definition),
        message=render_text(report).rstrip(),
        error_type="mantle",
        line_number=span.line if span else None,
        column_number=span.column if span else None,
    )


def _import_warnings(definition: object, report: Report) -> Iterator[Any]:
    from airflow.sdk.importers import DagImportWarning  # noqa: PLC0415

    for item in report.warnings:
        span = _own_span(report, item)
        yield DagImportWarning(
            source_reference=repr(definition),
            message=item.message,
            # With a name space before it, Airflow shows it as a warning of the Dag.
            warning_type=f"mantle:{item.code}",
            line_number=span.line if span else None,
        )


def _own_span(report: Report, item: Diagnostic) -> Span | None:
    """Return where in the workflow's own file a diagnostic stands, ``None`` in another one."""
    place = report.place(item)
    return place.span if place.name == report.name else None
