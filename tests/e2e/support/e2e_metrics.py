"""A StatsD server that keeps what Airflow sends about workflows."""

from __future__ import annotations

import socket
import threading
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self

ADDRESS = "127.0.0.1"
PREFIX = "suite"
_BUFFER_BYTES = 4 * 1024 * 1024
_LONGEST_DATAGRAM = 65_536


class MetricsInbox:
    """Listens from entry to exit of the ``with`` block; filled by a thread."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        # On a busy machine the thread may be late, and what finds no room is lost.
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER_BYTES)
        self._socket.bind((ADDRESS, 0))

    def settings(self) -> dict[str, str]:
        """Return what makes an Airflow send its metrics here, with labels."""
        return {
            "AIRFLOW__METRICS__STATSD_ON": "True",
            "AIRFLOW__METRICS__STATSD_HOST": ADDRESS,
            "AIRFLOW__METRICS__STATSD_PORT": str(self._socket.getsockname()[1]),
            "AIRFLOW__METRICS__STATSD_PREFIX": PREFIX,
            "AIRFLOW__METRICS__STATSD_INFLUXDB_ENABLED": "True",
        }

    def of_workflow(self, workflow: str) -> Counter[str]:
        """Return each line about a workflow and how often it came, times left out."""
        label = f",workflow={workflow}"
        lines = (line for line in tuple(self.lines) if f"{label}," in line or f"{label}:" in line)
        return Counter(line if line.endswith("|c") else _without_value(line) for line in lines)

    def __enter__(self) -> Self:
        threading.Thread(target=self._listen, daemon=True).start()
        return self

    def __exit__(
        self,
        exception_type: type[BaseException] | None,
        exception: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._socket.close()

    def _listen(self) -> None:
        while True:
            try:
                datagram = self._socket.recv(_LONGEST_DATAGRAM)
            except OSError:
                return
            lines = datagram.decode().splitlines()
            self.lines += [line for line in lines if line.startswith(f"{PREFIX}.mantle_")]


def _without_value(line: str) -> str:
    name, _, value = line.rpartition(":")
    return f"{name}:|{value.partition('|')[2]}"
