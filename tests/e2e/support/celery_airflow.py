"""The suite's Airflow with workers of their own: PostgreSQL, Redis, CeleryExecutor.

Nothing but configuration and the processes differ. ``MANTLE_E2E_POSTGRES`` and
``MANTLE_E2E_REDIS`` name other servers than this machine's; each suite makes a database and takes
an empty Redis database, and gives both back.
"""

from __future__ import annotations

import os
import secrets
from contextlib import contextmanager
from io import StringIO
from typing import TYPE_CHECKING, Any

from local_airflow import LocalAirflow

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from redis import Redis
    from typing_extensions import Self

POSTGRES = os.environ.get("MANTLE_E2E_POSTGRES", "postgresql://postgres@127.0.0.1:5432")
REDIS = os.environ.get("MANTLE_E2E_REDIS", "redis://127.0.0.1:6379")
REDIS_DATABASES = range(1, 16)
DOOMED = "worker-doomed"
"""The worker that tests kill; it alone serves the queue ``doomed``."""


class CeleryAirflow(LocalAirflow):
    """One Airflow with two workers, and a third one for the queue ``doomed``."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self._database = f"mantle_e2e_{secrets.token_hex(4)}"
        self._redis_database = _empty_redis_database()
        super().__init__(*arguments, **options)

    def _settings(self, bundles: Sequence[Mapping[str, Any]]) -> dict[str, str]:
        database = f"{POSTGRES.replace('postgresql:', 'postgresql+psycopg2:')}/{self._database}"
        return {
            **super()._settings(bundles),
            "AIRFLOW__CELERY__BROKER_URL": f"{REDIS}/{self._redis_database}",
            "AIRFLOW__CELERY__RESULT_BACKEND": f"db+{database}",
            "AIRFLOW__CELERY__WORKER_CONCURRENCY": "8",
            "AIRFLOW__CELERY__WORKER_PREFETCH_MULTIPLIER": "1",
            "AIRFLOW__CORE__EXECUTOR": "CeleryExecutor,LocalExecutor",
            "AIRFLOW__CORE__PARALLELISM": "16",
            "AIRFLOW__CORE__MAX_ACTIVE_TASKS_PER_DAG": "16",
            "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": database,
        }

    def _commands(self) -> dict[str, tuple[str, ...]]:
        return {
            **super()._commands(),
            **{
                name: _worker(name, queues)
                for name, queues in (
                    ("worker-1", "default"),
                    ("worker-2", "default,reserved"),
                    (DOOMED, "doomed"),
                )
            },
        }

    def __enter__(self) -> Self:
        with _connected("postgres") as cursor:
            cursor.execute(f"CREATE DATABASE {self._database}")
        return super().__enter__()

    def stop(self) -> None:
        """End the components, then remove the databases."""
        super().stop()
        with _connected("postgres") as cursor:
            cursor.execute(f"DROP DATABASE IF EXISTS {self._database} WITH (FORCE)")
        _redis(self._redis_database).flushdb()

    def database_lines(self) -> Iterator[str]:
        """Yield all that the database holds, as text."""
        with _connected(self._database) as cursor:
            cursor.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
            for (table,) in cursor.fetchall():
                content = StringIO()
                cursor.copy_expert(f'COPY "{table}" TO STDOUT', content)
                yield from content.getvalue().splitlines()


def _worker(name: str, queues: str) -> tuple[str, ...]:
    # The API server reads the logs from the folder that all components share.
    return (
        "celery",
        "worker",
        "--celery-hostname",
        f"{name}@%h",
        "--queues",
        queues,
        "--skip-serve-logs",
        "--without-gossip",
        "--without-mingle",
    )


@contextmanager
def _connected(database: str) -> Iterator[Any]:
    """Yield a cursor whose statements take effect at once."""
    import psycopg2

    connection = psycopg2.connect(f"{POSTGRES}/{database}")
    connection.autocommit = True
    try:
        yield connection.cursor()
    finally:
        connection.close()


def _empty_redis_database() -> int:
    return next(number for number in REDIS_DATABASES if not _redis(number).dbsize())


def _redis(database: int) -> Redis:
    import redis

    return redis.Redis.from_url(f"{REDIS}/{database}")
