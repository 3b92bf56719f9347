"""One generated Python file per workflow: what Airflow 3.3 reads in place of the YAML.

The file carries the YAML, which Airflow's Code tab then shows, and the plan made from it, so
that neither the Dag processor nor a worker has to check the workflow again. A broken workflow's
file carries its diagnostics, and Airflow shows them as that file's import error.
"""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, NoReturn

from airflow.sdk import DAG
from airflow.sdk.definitions.context import get_parsing_context

from mantle_provider.builder.build import build_dag
from mantle_provider.builder.operator_checks import check_operators, has_foreign_operators
from mantle_provider.check import check_text
from mantle_provider.diagnostics import render_text
from mantle_provider.errors import InvalidWorkflowError
from mantle_provider.plan import DagPlan, plan_workflow

if TYPE_CHECKING:
    from mantle_provider.builder.folder import WorkflowFile

log = logging.getLogger(__name__)

# Airflow's safe mode reads only files that hold both words "airflow" and "dag".
_HEADER = "# An airflow dag, generated from {name}: edit that file, not this one.\n"


def stub_text(file: WorkflowFile) -> str:
    """Return the Python source that stands for a workflow file."""
    header = _HEADER.format(name=json.dumps(file.name))
    yaml = f"YAML = {_literal(file.text)}\n"
    if file.workflow is None:
        diagnostics = _literal(render_text(file.report))
        return (
            f"{header}from mantle_provider.builder.stubs import load_broken_stub\n\n{yaml}\n"
            f"dag = load_broken_stub({file.name!r}, {diagnostics})\n"
        )
    plan = json.dumps(plan_workflow(file.workflow).to_data(), separators=(",", ":"))
    return (
        f"{header}from mantle_provider.builder.stubs import load_stub\n\n{yaml}\n"
        f"dag = load_stub({file.name!r}, YAML, {plan!r})\n"
    )


def load_stub(name: str, text: str, plan_json: str) -> DAG:
    """Return the Dag of a stub.

    Operators of the user's choice are looked at here, since this process is the one that imports
    user code. What is wrong with them becomes this file's import error.

    :param name: how diagnostics name the file.
    """
    plan = DagPlan.from_data(json.loads(plan_json))
    is_task_process = get_parsing_context().dag_id is not None
    if not is_task_process and has_foreign_operators(plan):
        result = check_text(text, name)
        found = check_operators(result.workflow) if result.workflow else []
        report = result.report.with_diagnostics(found)
        if report.errors:
            return load_broken_stub(name, render_text(report))
    return build_dag(plan)


def load_broken_stub(name: str, diagnostics: str) -> DAG:
    """Return a Dag that Airflow refuses with the diagnostics as the whole import error."""
    return _BrokenDag(name, diagnostics)


class _BrokenDag(DAG):
    """Refuses to be put into a Dag bag.

    Raised while the module loads, an error would be shown with a traceback through our code;
    raised here, Airflow shows its text alone.
    """

    def __init__(self, name: str, diagnostics: str) -> None:
        super().__init__(dag_id=f"broken.{''.join(filter(str.isalnum, name))}", schedule=None)
        self.diagnostics = diagnostics

    def validate(self) -> NoReturn:
        raise InvalidWorkflowError(f"\n{self.diagnostics.rstrip()}")


def _literal(text: str) -> str:
    """Return a Python literal of a text, in lines as it stands where a raw string can hold it."""
    is_plain = all(character.isprintable() or character in "\n\t" for character in text)
    if is_plain and "'''" not in text and not text.endswith(("'", "\\")):
        return f"r'''\n{text}'''[1:]"
    return repr(text)
