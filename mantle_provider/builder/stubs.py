"""One generated Python file per workflow: what Airflow 3.3 reads in place of the YAML.

The file carries the YAML, which Airflow's Code tab then shows, and the plan made from it, so
that neither the Dag processor nor a worker has to check the workflow again. A broken workflow's
file carries its diagnostics, and Airflow shows them as that file's import error.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from airflow.sdk import DAG
from airflow.sdk.definitions.context import get_parsing_context

from mantle_provider.builder.build import build_dag, has_foreign_operators
from mantle_provider.builder.paths import short_digest
from mantle_provider.errors import InvalidWorkflowError
from mantle_provider.plan import DagPlan

if TYPE_CHECKING:
    from mantle_provider.builder.operator_checks import MergedWorkflow

# Airflow's safe mode reads only files that hold both words "airflow" and "dag".
_HEADER = "# An airflow dag, generated from {name}: edit that file, not this one.\n"

# File systems take names of 255 bytes; more than ours stands behind.
_MAX_NAME_BYTES = 200

_QUOTES = ("'''", '"""')
_UNSHOWN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")
"""Characters that Python or an editor would not take as they stand: valid YAML has none but line
breaks of old Macs, and diagnostics none but what is no UTF-8 in the name of a file."""


def stub_text(name: str, text: str, plan: DagPlan, merged: MergedWorkflow | None = None) -> str:
    """Return the Python source that stands for a workflow file.

    Values that an environment gives are no part of it, since the Code tab shows it; they are read
    from the file beside it, see :func:`env_text`.

    :param name: the file, as diagnostics call it.
    :param text: the YAML, for Airflow's Code tab.
    :param merged: for a workflow whose operators stand in other files, too.
    """
    plan_json = json.dumps(plan.to_data(), separators=(",", ":"))
    arguments = f"YAML, {plan_json!r}"
    if plan.env:
        arguments += ", file=__file__"
    if merged is not None:
        arguments += f", merged={json.dumps(merged, separators=(',', ':'))!r}"
    return _source(name, text, "load_stub", arguments)


def stub_name(workflow: str) -> str:
    """Return what the stub of a workflow is called, wherever its file stands.

    Airflow looks for the file of a run, in every version of a bundle, where the Dag's file is now
    (3.3.2, ``ExecuteTask.make``): were it called like the workflow's file, no run would outlive
    that this one is moved. The two dots keep it from being imported in place of a user's module,
    since Airflow puts the folder of stubs on ``sys.path``.
    """
    if len(workflow) > _MAX_NAME_BYTES:
        workflow = f"{workflow[:_MAX_NAME_BYTES]}-{short_digest(workflow)}"
    return f"{workflow}.dag.py"


def broken_stub_name(file: str) -> str:
    """Return what the stub of a broken file is called: like the file, as far as that can be.

    :param file: path below the folder of workflows, with forward slashes.
    """
    # The stub of one file may not be called like a folder that holds another's.
    is_plain = len(os.fsencode(file)) <= _MAX_NAME_BYTES and ".py/" not in file
    return f"broken/{file if is_plain else short_digest(file)}.py"


def env_text(plan: DagPlan) -> str:
    """Return what the file beside a stub says, empty where there need not be one."""
    return json.dumps(dict(plan.env), sort_keys=True) if plan.env else ""


def env_name(stub_name: str) -> str:
    """Return the name of the file beside a stub, for ``a.dag.py`` it is ``a.dag.env.json``."""
    return f"{stub_name.removesuffix('.py')}.env.json"


def broken_stub_text(name: str, text: str, diagnostics: str) -> str:
    """Return the Python source that stands for a broken workflow file."""
    return _source(name, text, "load_broken_stub", _literal(diagnostics))


def _source(name: str, text: str, loader: str, arguments: str) -> str:
    return (
        f"{_HEADER.format(name=json.dumps(name))}"
        f"from mantle_provider.builder.stubs import {loader}\n\n"
        f"YAML = {_literal(text)}\n\n"
        f"dag = {loader}({name!r}, {arguments})\n"
    )


def load_stub(
    name: str, text: str, plan_json: str, *, file: str | None = None, merged: str | None = None
) -> DAG:
    """Return the Dag of a stub.

    Operators of the user's choice are looked at here, since this process is the one that imports
    user code. What is wrong with them becomes this file's import error.

    :param name: how diagnostics name the file.
    :param file: the stub, when there is a file of values beside it.
    :param merged: a :class:`MergedWorkflow` as JSON.
    """
    env = None if file is None else json.loads(Path(env_name(file)).read_text(encoding="utf-8"))
    plan = DagPlan.from_data(json.loads(plan_json), env)
    is_task_process = get_parsing_context().dag_id is not None
    if not is_task_process and has_foreign_operators(plan):
        # Imported here: no other stub needs the checking side, and no task does.
        from mantle_provider.builder import operator_checks  # noqa: PLC0415

        problems = (
            operator_checks.operator_problems(name, text)
            if merged is None
            else operator_checks.merged_operator_problems(name, json.loads(merged))
        )
        if problems:
            return load_broken_stub(name, problems)
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
        # Airflow takes no id of more than 250 characters; nobody sees this one.
        dag_id = f"broken.{''.join(filter(str.isalnum, name))[-200:]}"
        super().__init__(dag_id=dag_id, schedule=None)
        self.diagnostics = diagnostics

    def validate(self) -> NoReturn:
        raise InvalidWorkflowError(f"\n{self.diagnostics.rstrip()}")


def _literal(text: str) -> str:
    """Return a Python literal of a text, in lines as it stands where a raw string can hold it.

    There every line ends as Python reads it from a file, which moves no line and no column.
    """
    lines = text.replace("\r\n", "\n")
    if not _UNSHOWN.search(lines):
        for quotes in _QUOTES:
            if quotes not in lines:
                # Between line breaks: the text may begin and end with anything.
                return f"r{quotes}\n{lines}\n{quotes}[1:-1]"
    return repr(text)
