"""The suite's Airflow over PostgreSQL, which bears many writers where SQLite does not.

With all the suite's runs at once SQLite answers "database is locked" now and then, and Airflow's
scheduler ends with it. ``MANTLE_E2E_POSTGRES`` names another server than this machine's; without
one the suite runs over SQLite. To start one on Debian: ``apt-get install postgresql``.
"""

from __future__ import annotations

import os
import secrets
from contextlib import contextmanager
from io import StringIO
from typing import TYPE_CHECKING, Any

import psycopg2
from local_airflow import LocalAirflow

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from typing_extensions import Self

POSTGRES = os.environ.get("MANTLE_E2E_POSTGRES", "postgresql://postgres@127.0.0.1:5432")


def has_postgres() -> bool:
    """Whether the server answers and lets us in."""
    try:
        with connected("postgres"):
            return True
    except psycopg2.OperationalError:
        return False


class PostgresAirflow(LocalAirflow):
    """One Airflow whose database is made for it and removed after it."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self._database = f"mantle_e2e_{secrets.token_hex(4)}"
        super().__init__(*arguments, **options)

    @property
    def database_url(self) -> str:
        """Where the database is, in SQLAlchemy's words."""
        return f"{POSTGRES.replace('postgresql:', 'postgresql+psycopg2:')}/{self._database}"

    def _settings(self, bundles: Sequence[Mapping[str, Any]]) -> dict[str, str]:
        return {
            **super()._settings(bundles),
            "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": self.database_url,
        }

    def __enter__(self) -> Self:
        with connected("postgres") as cursor:
            cursor.execute(f"CREATE DATABASE {self._database}")
        return super().__enter__()

    def stop(self) -> None:
        """End the components, then remove the database."""
        super().stop()
        with connected("postgres") as cursor:
            cursor.execute(f"DROP DATABASE IF EXISTS {self._database} WITH (FORCE)")

    def database_lines(self) -> Iterator[str]:
        """Yield all that the database holds, as text."""
        with connected(self._database) as cursor:
            cursor.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
            for (table,) in cursor.fetchall():
                content = StringIO()
                cursor.copy_expert(f'COPY "{table}" TO STDOUT', content)
                yield from content.getvalue().splitlines()


@contextmanager
def connected(database: str) -> Iterator[Any]:
    """Yield a cursor whose statements take effect at once."""
    connection = psycopg2.connect(f"{POSTGRES}/{database}")
    connection.autocommit = True
    try:
        yield connection.cursor()
    finally:
        connection.close()
