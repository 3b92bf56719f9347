"""The suite's Airflow with workers of their own: PostgreSQL, Redis, CeleryExecutor.

Nothing but configuration and the processes differ. ``MANTLE_E2E_REDIS`` names another server than
this machine's; each suite takes an empty Redis database, and gives it back.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from postgres_airflow import PostgresAirflow

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from redis import Redis

REDIS = os.environ.get("MANTLE_E2E_REDIS", "redis://127.0.0.1:6379")
REDIS_DATABASES = range(1, 16)
DOOMED = "worker-doomed"
"""The worker that tests kill; it alone serves the queue ``doomed``."""


class CeleryAirflow(PostgresAirflow):
    """One Airflow with two workers, and a third one for the queue ``doomed``."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self._redis_database = _empty_redis_database()
        super().__init__(*arguments, **options)

    def _settings(self, bundles: Sequence[Mapping[str, Any]]) -> dict[str, str]:
        return {
            **super()._settings(bundles),
            "AIRFLOW__CELERY__BROKER_URL": f"{REDIS}/{self._redis_database}",
            "AIRFLOW__CELERY__RESULT_BACKEND": f"db+{self.database_url}",
            "AIRFLOW__CELERY__WORKER_CONCURRENCY": "8",
            "AIRFLOW__CELERY__WORKER_PREFETCH_MULTIPLIER": "1",
            "AIRFLOW__CORE__EXECUTOR": "CeleryExecutor,LocalExecutor",
            "AIRFLOW__CORE__PARALLELISM": "16",
            "AIRFLOW__CORE__MAX_ACTIVE_TASKS_PER_DAG": "16",
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

    def stop(self) -> None:
        """End the components, then empty their Redis database."""
        super().stop()
        _redis(self._redis_database).flushdb()


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


def _empty_redis_database() -> int:
    return next(number for number in REDIS_DATABASES if not _redis(number).dbsize())


def _redis(database: int) -> Redis:
    import redis

    return redis.Redis.from_url(f"{REDIS}/{database}")
