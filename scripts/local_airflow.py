"""A real Airflow on this machine, for the demo and the end-to-end tests: start, ask, stop.

API servers, scheduler with LocalExecutor, Dag processor and triggerer over SQLite, each with a log
file of its own. Needs nothing beyond Airflow's own dependencies.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, suppress
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.error import HTTPError, URLError
from urllib.parse import quote
from urllib.request import ProxyHandler, Request, build_opener

import psutil  # type: ignore[import-untyped]  # Airflow needs it, so it is there

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path
    from types import TracebackType

    from typing_extensions import Self

ADDRESS = "127.0.0.1"
START_SECONDS = 180
STOP_SECONDS = 15
POLL_SECONDS = 0.5
REPEATS = 5

Answer = TypeVar("Answer")


class LocalAirflowError(Exception):
    """Airflow did not do what the caller waits for; the message names the log to read."""


def is_free(port: int) -> bool:
    """Whether nothing listens on a TCP port of this machine."""
    with socket.socket() as probe:
        return probe.connect_ex((ADDRESS, port)) != 0


def free_port() -> int:
    """Return a TCP port that nothing listens on now."""
    with socket.socket() as probe:
        probe.bind((ADDRESS, 0))
        port: int = probe.getsockname()[1]
        return port


class AirflowClient:
    """The part of Airflow's REST API that tells how runs went."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._token: str | None = None
        # A proxy from the environment must not see calls to this machine.
        self._opener = build_opener(ProxyHandler({}))

    def call(self, path: str, *, method: str = "GET", body: object = None) -> Any:  # noqa: ANN401  # JSON data
        """Send one request and return the JSON answer.

        An answer of 500 is asked for again: over SQLite a request that writes loses, and is
        rolled back, while another transaction holds the database.

        :raises urllib.error.HTTPError: for a status of 400 and more.
        """
        request = Request(
            self.url + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json", "Accept": "application/json"},
        )
        if self._token is not None:
            request.add_header("Authorization", f"Bearer {self._token}")
        for _ in range(REPEATS):
            try:
                return self._send(request)
            except HTTPError as error:
                if error.code != HTTPStatus.INTERNAL_SERVER_ERROR:
                    raise
            time.sleep(POLL_SECONDS)
        return self._send(request)

    def _send(self, request: Request) -> Any:  # noqa: ANN401  # JSON data
        with self._opener.open(request, timeout=120) as response:
            return json.load(response)

    def log_in(self) -> None:
        """Get a token; every user is an administrator here, so no password is asked for."""
        self._token = self.call("/auth/token")["access_token"]

    def health(self) -> dict[str, str | None]:
        """Return component -> status; empty while the API server does not answer."""
        try:
            answer = self.call("/api/v2/monitor/health")
        except (URLError, ConnectionError, TimeoutError):
            return {}
        return {name: component["status"] for name, component in answer.items()}

    def dag_ids(self) -> set[str]:
        """Return the ids of all Dags that are neither stale nor gone."""
        return {dag["dag_id"] for dag in self._dags()}

    def descriptions(self) -> dict[str, str | None]:
        """Return Dag id -> description."""
        return {dag["dag_id"]: dag["description"] for dag in self._dags()}

    def _dags(self) -> list[dict[str, Any]]:
        dags: list[dict[str, Any]] = self.call("/api/v2/dags?limit=1000")["dags"]
        return dags

    def import_errors(self) -> dict[str, str]:
        """Return file name -> the text of its import error."""
        answer = self.call("/api/v2/importErrors?limit=1000")
        return {error["filename"]: error["stack_trace"] for error in answer["import_errors"]}

    def unpause(self, dag_id: str) -> None:
        """Let a Dag run."""
        self._set_paused(dag_id, is_paused=False)

    def pause(self, dag_id: str) -> None:
        """Start no more runs of a Dag; those under way wait."""
        self._set_paused(dag_id, is_paused=True)

    def _set_paused(self, dag_id: str, *, is_paused: bool) -> None:
        self.call(f"/api/v2/dags/{dag_id}", method="PATCH", body={"is_paused": is_paused})

    def run_ids(self, dag_id: str, *, run_type: str) -> list[str]:
        """Return the runs of one type, for example ``scheduled``."""
        runs = self.call(f"/api/v2/dags/{dag_id}/dagRuns?run_type={run_type}")["dag_runs"]
        return [run["dag_run_id"] for run in runs]

    def trigger(self, dag_id: str, conf: Mapping[str, Any] | None = None) -> str:
        """Start a run and return its id."""
        answer = self.call(
            f"/api/v2/dags/{dag_id}/dagRuns",
            method="POST",
            body={"logical_date": None, "conf": dict(conf or {})},
        )
        run_id: str = answer["dag_run_id"]
        return run_id

    def make_pool(self, name: str, slots: int) -> None:
        """Make a pool."""
        self.call("/api/v2/pools", method="POST", body={"name": name, "slots": slots})

    def set_slots(self, pool: str, slots: int) -> None:
        """Make a pool larger or smaller; nothing starts in one without slots."""
        body = {"pool": pool, "slots": slots, "include_deferred": False}
        self.call(f"/api/v2/pools/{pool}?update_mask=slots", method="PATCH", body=body)

    def mark_failed(self, dag_id: str, run_id: str) -> None:
        """Do what a user does who marks a run as failed."""
        self.mark_run(dag_id, run_id, "failed")

    def mark_run(self, dag_id: str, run_id: str, state: str) -> None:
        """Do what a user does who marks a run as ``failed`` or ``success``."""
        self.call(_run_path(dag_id, run_id), method="PATCH", body={"state": state})

    def mark_task(self, dag_id: str, run_id: str, task_id: str, state: str) -> None:
        """Do what a user does who marks one task as ``failed`` or ``success``."""
        path = f"{_run_path(dag_id, run_id)}/taskInstances/{task_id}"
        self.call(path, method="PATCH", body={"new_state": state})

    def clear(
        self, dag_id: str, run_id: str, task_id: str, *, downstream: bool, only_failed: bool
    ) -> None:
        """Do what a user does who clears a task of a finished run, with these two options."""
        body = {
            "dry_run": False,
            "dag_run_id": run_id,
            "task_ids": [task_id],
            "include_downstream": downstream,
            "only_failed": only_failed,
        }
        self.call(f"/api/v2/dags/{dag_id}/clearTaskInstances", method="POST", body=body)

    def run(self, dag_id: str, run_id: str) -> dict[str, Any]:
        """Return a run as the REST API shows it."""
        run: dict[str, Any] = self.call(_run_path(dag_id, run_id))
        return run

    def run_state(self, dag_id: str, run_id: str) -> str:
        """Return the state of a run, for example ``success``."""
        state: str = self.run(dag_id, run_id)["state"]
        return state

    def task_instances(self, dag_id: str, run_id: str) -> list[dict[str, Any]]:
        """Return every task instance of a run."""
        answer = self.call(f"{_run_path(dag_id, run_id)}/taskInstances?limit=1000")
        instances: list[dict[str, Any]] = answer["task_instances"]
        return instances

    def task_states(self, dag_id: str, run_id: str) -> dict[str, str | None]:
        """Return task id -> state."""
        return {task["task_id"]: task["state"] for task in self.task_instances(dag_id, run_id)}

    def tries(self, dag_id: str, run_id: str, task_id: str) -> list[dict[str, Any]]:
        """Return every try of a task, oldest first."""
        path = f"{_run_path(dag_id, run_id)}/taskInstances/{task_id}/tries"
        tries: list[dict[str, Any]] = self.call(path)["task_instances"]
        return sorted(tries, key=lambda attempt: attempt["try_number"])

    def xcoms(self, dag_id: str, run_id: str, task_id: str) -> dict[str, Any]:
        """Return key -> value of everything a task pushed."""
        path = f"{_run_path(dag_id, run_id)}/taskInstances/{task_id}/xcomEntries"
        keys = [entry["key"] for entry in self.call(f"{path}?limit=1000")["xcom_entries"]]
        return {key: self.call(f"{path}/{key}?stringify=false")["value"] for key in keys}

    def log_text(self, dag_id: str, run_id: str, task_id: str, try_number: int = 1) -> str:
        """Return one try's log, one JSON event a line."""
        path = f"{_run_path(dag_id, run_id)}/taskInstances/{task_id}/logs/{try_number}"
        events = self.call(f"{path}?full_content=true")["content"]
        return "\n".join(json.dumps(event, ensure_ascii=False) for event in events)


def _run_path(dag_id: str, run_id: str) -> str:
    return f"/api/v2/dags/{dag_id}/dagRuns/{quote(run_id, safe='')}"


class LocalAirflow:
    """One Airflow with its own home, running from entry to exit of the ``with`` block.

    :param home: its ``AIRFLOW_HOME``; emptied at the start.
    :param bundles: entries of ``[dag_processor] dag_bundle_config_list``.
    :param connections: connection id -> the connection's JSON form.
    :param python_path: folders that workers import user code from.
    :param settings: further environment variables for every component.
    :param port: of the API server; a free one by default.
    """

    def __init__(  # noqa: PLR0913  # all but the first are named at every call
        self,
        home: Path,
        *,
        bundles: Sequence[Mapping[str, Any]],
        connections: Mapping[str, Mapping[str, Any]] | None = None,
        python_path: Sequence[Path] = (),
        settings: Mapping[str, str] | None = None,
        port: int | None = None,
    ) -> None:
        self.home = home
        self._port = port or free_port()
        self._execution_port = free_port()
        self.url = f"http://{ADDRESS}:{self._port}"
        self.client = AirflowClient(self.url)
        self.environment = {
            **_inherited_environment(),
            **self._settings(bundles),
            **{
                f"AIRFLOW_CONN_{connection_id.upper()}": json.dumps(connection)
                for connection_id, connection in (connections or {}).items()
            },
            "PYTHONPATH": os.pathsep.join(str(folder) for folder in python_path),
            **(settings or {}),
        }
        self._components: dict[str, subprocess.Popen[bytes]] = {}

    def _settings(self, bundles: Sequence[Mapping[str, Any]]) -> dict[str, str]:
        return {
            "AIRFLOW_HOME": str(self.home),
            "AIRFLOW__API__BASE_URL": self.url,
            "AIRFLOW__API__HOST": ADDRESS,
            "AIRFLOW__API__MAXIMUM_PAGE_LIMIT": "1000",
            "AIRFLOW__API__SECRET_KEY": secrets.token_hex(32),
            "AIRFLOW__API__WORKERS": "1",
            "AIRFLOW__API_AUTH__JWT_SECRET": secrets.token_hex(32),
            "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": (
                f"http://{ADDRESS}:{self._execution_port}/execution/"
            ),
            "AIRFLOW__CORE__EXECUTOR": "LocalExecutor",
            "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
            # SQLite answers "database is locked" to 32 parallel tasks.
            "AIRFLOW__CORE__PARALLELISM": "8",
            "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_ALL_ADMINS": "True",
            "AIRFLOW__DAG_PROCESSOR__DAG_BUNDLE_CONFIG_LIST": json.dumps(list(bundles)),
            # By default all Airflows of a machine share one folder in its temporary one.
            "AIRFLOW__DAG_PROCESSOR__DAG_BUNDLE_STORAGE_PATH": str(self.home / "bundles"),
            "AIRFLOW__DAG_PROCESSOR__MIN_FILE_PROCESS_INTERVAL": "30",
            "AIRFLOW__DAG_PROCESSOR__REFRESH_INTERVAL": "5",
            # All components write into one SQLite file: let them wait for each other longer than
            # the five seconds after which "database is locked" is an error.
            "AIRFLOW__DATABASE__MAX_DB_RETRIES": "20",
            "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": f"sqlite:///{self.home}/airflow.db?timeout=60",
            "AIRFLOW__LOGGING__TRIGGER_LOG_SERVER_PORT": str(free_port()),
            "AIRFLOW__LOGGING__WORKER_LOG_SERVER_PORT": str(free_port()),
            "AIRFLOW__SCHEDULER__SCHEDULER_IDLE_SLEEP_TIME": "0.5",
            "AIRFLOW__USAGE_DATA_COLLECTION__ENABLED": "False",
            # Airflow 3.3 loses short deferrals that end within this interval (5 s by default).
            "AIRFLOW__WORKERS__MIN_HEARTBEAT_INTERVAL": "1",
            "NO_PROXY": ADDRESS,
            "no_proxy": ADDRESS,
        }

    def _commands(self) -> dict[str, tuple[str, ...]]:
        """Return component -> the arguments of ``airflow`` that start it."""
        return {
            # Two servers, since one that serves users and tasks can block itself over SQLite: a
            # user's call waits, in the event loop, for a task's transaction, whose end waits for
            # the event loop (Airflow 3.3.2: action_logging).
            "api-server": ("api-server", "--apps", "core", "--port", str(self._port)),
            "execution-api-server": (
                "api-server",
                "--apps",
                "execution",
                "--port",
                str(self._execution_port),
            ),
            "scheduler": ("scheduler",),
            "dag-processor": ("dag-processor",),
            "triggerer": ("triggerer",),
        }

    def __enter__(self) -> Self:
        shutil.rmtree(self.home, ignore_errors=True)
        self.home.mkdir(parents=True)
        try:
            self.run_once("db", "migrate")
            for component in self._commands():
                self.start_component(component)
            self.wait(
                self.client.health,
                "all components to be healthy",
                seconds=START_SECONDS,
                is_good=lambda health: health and set(health.values()) == {"healthy"},
            )
            # The first call makes the execution API build its routes, longer than a task's client
            # waits for an answer.
            self.wait(self._serves_tasks, "the execution API to answer", seconds=START_SECONDS)
            self.client.log_in()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self,
        exception_type: type[BaseException] | None,
        exception: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    def start_component(self, component: str) -> None:
        """Start one component, for the first time or again."""
        arguments = self._commands()[component]
        self._components[component] = self._start(*arguments, log_path=self.log_path(component))

    def restart_component(self, component: str) -> None:
        """End one component in good order and start it again."""
        process = self._components.pop(component)
        process.terminate()
        process.wait(STOP_SECONDS * 4)
        self.start_component(component)

    def kill_component(self, component: str) -> None:
        """End one component and all that it has started at once, as a lost machine would."""
        process = self._components.pop(component)
        _kill_sessions({process.pid})
        process.wait()

    def log_path(self, component: str) -> Path:
        """Return where a component's output goes."""
        return self.home / f"{component}.log"

    def wait(
        self,
        ask: Callable[[], Answer],
        what: str,
        *,
        seconds: float,
        is_good: Callable[[Answer], object] = bool,
    ) -> Answer:
        """Ask again and again until the answer is good, and return it.

        :param what: completes the sentence "waited 30 s for ...".
        :raises LocalAirflowError: when the time is over, with the last answer, or a component
            has died.
        """
        deadline = time.monotonic() + seconds
        while not is_good(answer := ask()):
            self._check_components()
            if time.monotonic() > deadline:
                raise LocalAirflowError(
                    f"waited {seconds:g} s for {what}; last seen: {answer}; logs: {self.home}"
                )
            time.sleep(POLL_SECONDS)
        return answer

    def database_lines(self) -> Iterator[str]:
        """Yield all that the database holds, as text."""
        with closing(sqlite3.connect(self.home / "airflow.db")) as database:
            yield from database.iterdump()

    def _serves_tasks(self) -> bool:
        """Whether the execution API answers; without a token that is a refusal."""
        url = f"{self.environment['AIRFLOW__CORE__EXECUTION_API_SERVER_URL']}variables/any"
        try:
            AirflowClient(url).call("")
        except HTTPError:
            return True
        except (URLError, ConnectionError, TimeoutError):
            return False
        return True

    def _check_components(self) -> None:
        for component, process in tuple(self._components.items()):
            if process.poll() is not None:
                raise LocalAirflowError(
                    f"Airflow's {component} ended with {process.returncode};"
                    f" see {self.log_path(component)}"
                )

    def stop(self) -> None:
        """End the components and everything they started."""
        for process in self._components.values():
            with suppress(ProcessLookupError):
                process.terminate()
        deadline = time.monotonic() + STOP_SECONDS
        for process in self._components.values():
            with suppress(subprocess.TimeoutExpired):
                process.wait(max(0.1, deadline - time.monotonic()))
        _kill_sessions({process.pid for process in self._components.values()})
        for process in self._components.values():
            process.wait()

    def run_once(self, *arguments: str) -> None:
        """Run one command of Airflow to its end.

        :raises LocalAirflowError: when it fails, with the log to read.
        """
        log_path = self.log_path(arguments[0])
        process = self._start(*arguments, log_path=log_path)
        if process.wait(START_SECONDS) != 0:
            raise LocalAirflowError(f"airflow {' '.join(arguments)} failed; see {log_path}")

    def _start(self, *arguments: str, log_path: Path) -> subprocess.Popen[bytes]:
        with log_path.open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "airflow", *arguments],
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )


def _kill_sessions(leaders: set[int]) -> None:
    """Kill every process of some sessions.

    Airflow gives each task a process group of its own, so only the session finds them all.
    """
    for pid in psutil.pids():
        with suppress(ProcessLookupError, PermissionError):
            if os.getsid(pid) in leaders:
                os.kill(pid, signal.SIGKILL)


def _inherited_environment() -> dict[str, str]:
    """Return our environment without what would configure another Airflow or its workflows."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("AIRFLOW_", "MANTLE_"))
    }
