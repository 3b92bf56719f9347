"""A server that answers like Airflow's REST API about one Dag, in the shapes of Airflow 3.3.2."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

DAG_ID = "nightly-report"
RUN_ID = "manual__2026-11-30T12:12:14.180485+00:00"
TOKEN = "token-4711"
USERNAME, PASSWORD = "ada", "pass-0815"


@dataclass(frozen=True)
class Reply:
    """An answer other than the usual one."""

    status: int = 200
    body: bytes = b"{}"
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ReceivedRequest:
    method: str
    path: str
    token: str | None
    body: Any


def make_run(run_id=RUN_ID, state="failed", duration=20.595796, dag_id=DAG_ID):
    return {
        "dag_run_id": run_id,
        "dag_id": dag_id,
        "logical_date": None,
        "start_date": "2026-11-30T12:12:15Z",
        "end_date": None if duration is None else "2026-11-30T12:12:36.147347Z",
        "duration": duration,
        "run_after": "2026-11-30T12:12:14.180485Z",
        "run_type": "manual",
        "state": state,
    }


def make_task(task_id, state, *, tries=1, duration=1.5, end="2026-11-30T12:12:24.456748Z"):
    is_unfinished = state in {None, "scheduled", "queued", "running"}
    return {
        "task_id": task_id,
        "dag_id": DAG_ID,
        "dag_run_id": RUN_ID,
        "map_index": -1,
        "start_date": "2026-11-30T12:12:17.672755Z",
        "end_date": None if is_unfinished else end,
        "duration": duration if tries else 0.0,
        "state": state,
        "try_number": tries,
        "max_tries": 0,
    }


class FakeAirflow:
    """Serves from entry to exit of the ``with`` block.

    :ivar runs: what ``make_run`` returns, the latest first.
    :ivar tasks: what ``make_task`` returns.
    :ivar xcoms: (task id, key) -> value; all of them stored at ``xcom_time``.
    :ivar downstream: task id -> the tasks that wait for it; ``None`` for a Dag that is gone.
    :ivar replies: (method, path) -> what is answered there instead.
    """

    def __init__(self) -> None:
        self.runs = [make_run()]
        self.tasks: list[dict[str, Any]] = []
        self.xcoms: dict[tuple[str, str], Any] = {}
        self.xcom_time = "2026-11-30T12:12:28.447374Z"
        self.downstream: dict[str, list[str]] | None = {}
        self.dag_ids = [DAG_ID, "hourly-report"]
        self.page_limit = 100
        self.gives_token_to_everybody = False
        self.replies: dict[tuple[str, str], Reply] = {}
        self.requests: list[ReceivedRequest] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self):
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()

    def _handler(self):
        fake = self

        class Handler(BaseHTTPRequestHandler):
            def answer(self):
                length = int(self.headers.get("Content-Length") or 0)
                authorization = self.headers.get("Authorization")
                request = ReceivedRequest(
                    method=self.command,
                    path=self.path,
                    token=authorization and authorization.removeprefix("Bearer "),
                    body=json.loads(self.rfile.read(length)) if length else None,
                )
                fake.requests.append(request)
                reply = fake.answer(request)
                self.send_response(reply.status)
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(reply.body)))
                self.end_headers()
                self.wfile.write(reply.body)

            do_GET = do_PATCH = do_POST = answer  # noqa: N815  # http.server's names

            def log_message(self, *_):
                pass

        return Handler

    def answer(self, request: ReceivedRequest) -> Reply:
        url = urlsplit(request.path)
        planned = self.replies.get((request.method, url.path))
        if planned:
            return planned
        segments = [unquote(segment) for segment in url.path.split("/")[1:]]
        query = {name: values[-1] for name, values in parse_qs(url.query).items()}
        if segments == ["auth", "token"]:
            return self._log_in(request)
        if request.token != TOKEN:
            return as_json({"detail": "Invalid JWT token"}, 403)
        assert segments[:3] == ["api", "v2", "dags"]
        return self._about_dags(segments[3:], query, request.body)

    def _log_in(self, request: ReceivedRequest) -> Reply:
        if request.method == "POST":
            is_known = request.body == {"username": USERNAME, "password": PASSWORD}
        else:
            is_known = self.gives_token_to_everybody
        if is_known:
            return as_json({"access_token": TOKEN}, 201)
        return as_json({"detail": f"Invalid credentials {request.body}"}, 401)

    def _about_dags(self, segments: list[str], query: dict[str, str], body: Any) -> Reply:
        if not segments:
            return as_json({"dags": [{"dag_id": dag_id} for dag_id in self.dag_ids]})
        if segments[0] != DAG_ID:
            return as_json({"detail": f"The Dag with ID: `{segments[0]}` was not found"}, 404)
        match segments[1:]:
            case ["tasks"]:
                return self._dag_tasks()
            case ["dagRuns"]:
                assert query["order_by"] == "-run_after"
                return as_json({"dag_runs": self.runs[: int(query["limit"])]})
            case ["dagRuns", run_id, *rest]:
                run = next((run for run in self.runs if run["dag_run_id"] == run_id), None)
                if run is None:
                    return as_json({"detail": f"run_id: `{run_id}` was not found"}, 404)
                return self._about_run(run, rest, query, body)
        raise AssertionError(segments)

    def _dag_tasks(self) -> Reply:
        if self.downstream is None:
            return as_json({"detail": "The Dag was not found"}, 404)
        tasks = [
            {"task_id": task_id, "downstream_task_ids": followers}
            for task_id, followers in self.downstream.items()
        ]
        return as_json({"tasks": tasks, "total_entries": len(tasks)})

    def _about_run(self, run: dict, rest: list[str], query: dict[str, str], body: Any) -> Reply:
        match rest:
            case []:
                run.update(body or {})
                return as_json(run)
            case ["taskInstances"]:
                start = int(query["offset"])
                end = start + min(int(query["limit"]), self.page_limit)
                page = self.tasks[start:end]
                return as_json({"task_instances": page, "total_entries": len(self.tasks)})
            case ["taskInstances", task_id, "xcomEntries", key]:
                assert query == {"stringify": "False"}
                if (task_id, key) not in self.xcoms:
                    return as_json({"detail": f"XCom entry with key: `{key}` not found"}, 404)
                value = self.xcoms[task_id, key]
                return as_json({"key": key, "timestamp": self.xcom_time, "value": value})
        raise AssertionError(rest)


def as_json(data: object, status: int = 200) -> Reply:
    return Reply(status, json.dumps(data).encode(), {"Content-Type": "application/json"})
