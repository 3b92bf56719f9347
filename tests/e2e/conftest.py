"""One real Airflow for the whole suite, and the runs that its tests look at.

Tests only read: each names the run it is about with ``@pytest.mark.workflow(dag_id, **inputs)``
and gets it, finished, as the fixture ``run``. All runs start together when the first test asks,
so the suite takes as long as its slowest run and not as long as all of them.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SUPPORT = HERE / "support"
sys.path[:0] = [str(ROOT / "scripts"), str(SUPPORT)]

from celery_airflow import CeleryAirflow  # noqa: E402  # needs the path above
from demo_services import DemoServices  # noqa: E402
from e2e_metrics import MetricsInbox  # noqa: E402
from e2e_scripts import Director  # noqa: E402
from e2e_suite import (  # noqa: E402
    ENVIRONMENT,
    FILED_SECRET,
    PLANTED_SECRET,
    Run,
    Suite,
    run_key,
)
from e2e_wide import fan_in_workflow, wide_workflow  # noqa: E402
from local_airflow import LocalAirflow  # noqa: E402
from postgres_airflow import PostgresAirflow, has_postgres  # noqa: E402

from mantle_provider.cli import main  # noqa: E402

HOME = pytest.StashKey[Path]()
WORKFLOW_FOLDERS = (ROOT / "dags" / "workflows", HERE / "workflows")
AIRFLOWS = {
    "local": PostgresAirflow if has_postgres() else LocalAirflow,
    "celery": CeleryAirflow,
}
WIDTHS = {"local": 20, "celery": 100}
"""How many parallel steps one machine bears; SQLite does not bear many."""
TIMES = {
    # A lost worker is noticed so many seconds after its last heartbeat, 300 by default.
    "AIRFLOW__SCHEDULER__TASK_INSTANCE_HEARTBEAT_TIMEOUT": "40",
    "AIRFLOW__MANTLE__FAIL_FAST_INTERVAL": "2",
}


def pytest_addoption(parser):
    parser.addoption("--executor", choices=AIRFLOWS, default="local", help="what runs the tasks")


def pytest_configure(config):
    config.addinivalue_line("markers", "celery: needs workers that are machines of their own")
    config.addinivalue_line("markers", "workflow(dag_id, **inputs): the run that a test is about")
    config.addinivalue_line("markers", "last: runs after all other tests, in any random order")


def pytest_collection_modifyitems(config, items):
    if _executor(config) != "celery":
        unfit = [item for item in items if item.get_closest_marker("celery")]
        config.hook.pytest_deselected(items=unfit)
        items[:] = [item for item in items if item not in unfit]
    items.sort(key=lambda item: item.get_closest_marker("last") is not None)


def pytest_terminal_summary(terminalreporter, exitstatus, config):
    if HOME in config.stash and exitstatus != pytest.ExitCode.OK:
        terminalreporter.write_line(f"Logs of the suite's Airflow: {config.stash[HOME]}")


def _executor(config) -> str:
    # Unknown where pytest finds this file only while it collects.
    return config.getoption("executor", "local")


@pytest.fixture(scope="session")
def suite(request, tmp_path_factory):
    home = request.config.stash[HOME] = tmp_path_factory.mktemp("airflow") / "home"
    folder = tmp_path_factory.mktemp("workflows")
    executor = _executor(request.config)
    sources = [*WORKFLOW_FOLDERS, *([HERE / "celery_workflows"] if executor == "celery" else ())]
    for source in sources:
        shutil.copytree(source, folder, dirs_exist_ok=True)
    (folder / "wide.yaml").write_text(wide_workflow(WIDTHS[executor]))
    (folder / "fan-in.yaml").write_text(fan_in_workflow(40, failing=3))
    _write_values(folder)
    with DemoServices() as services, MetricsInbox() as metrics, Director() as director:
        connections = services.connections()
        airflow = AIRFLOWS[executor](
            home,
            bundles=[
                _bundle("mantle", "mantle_provider.builder.bundle.MantleDagBundle", folder),
                _bundle(
                    "dags-folder",
                    "airflow.dag_processing.bundles.local.LocalDagBundle",
                    _dags_folder(tmp_path_factory.mktemp("dags")),
                ),
            ],
            # The seed's workflow names its Slack credential so.
            connections={**connections, "slack-bot": connections["demo_slack"]},
            python_path=[ROOT / "dags", SUPPORT, HERE / "cluster"],
            settings={
                **metrics.settings(),
                **TIMES,
                "AIRFLOW__CORE__DEFAULT_TASK_RETRIES": "3",
                "MANTLE_ENV_SECRET": PLANTED_SECRET,
                "AIRFLOW__MANTLE__ENVIRONMENT": ENVIRONMENT,
            },
        )
        with airflow:
            suite = Suite(airflow, folder, services.inbox, metrics, director)
            suite.start(_workflow_marks(request.session.items))
            yield suite


@pytest.fixture(scope="session")
def airflow_class(request):
    """What a module starts that needs an Airflow of its own."""
    return AIRFLOWS[_executor(request.config)]


def _bundle(name: str, class_path: str, folder: Path) -> dict[str, object]:
    return {"name": name, "classpath": class_path, "kwargs": {"path": str(folder)}}


def _write_values(folder: Path) -> None:
    """Give a folder of workflows its values for the suite's environment."""
    (folder / "values").mkdir()
    (folder / "values" / f"{ENVIRONMENT}.yaml").write_text(f"env: {{filed: {FILED_SECRET}}}\n")


def _dags_folder(folder: Path) -> Path:
    """Fill a plain Dags folder, for the Python file that loads workflows where no bundle can."""
    shutil.copy(ROOT / "dags" / "mantle_dags.py", folder)
    shutil.copytree(HERE / "loader_workflows", folder / "workflows")
    _write_values(folder / "workflows")
    return folder


def _workflow_marks(items: list[pytest.Item]) -> dict[str, pytest.Mark]:
    marks = [item.get_closest_marker("workflow") for item in items]
    return {run_key(mark): mark for mark in marks if mark is not None}


@pytest.fixture
def run(request, suite) -> Run:
    mark = request.node.get_closest_marker("workflow")
    return suite.finished_run(mark.args[0], suite.run_ids[run_key(mark)])


@pytest.fixture
def mantle(suite, capsys, monkeypatch):
    """Run a command; return its exit code and what it printed."""
    monkeypatch.setenv("AIRFLOW_API_URL", suite.airflow.url)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    for name in ("TOKEN", "USERNAME", "PASSWORD"):
        monkeypatch.delenv(f"AIRFLOW_API_{name}", raising=False)
    return lambda *arguments: (main(arguments), *capsys.readouterr())
