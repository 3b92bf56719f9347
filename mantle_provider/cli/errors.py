"""What the commands raise when they cannot do what they were asked."""

from __future__ import annotations


class CommandError(Exception):
    """The command cannot do what it was asked; ``str()`` is one sentence for the user."""


class RestError(CommandError):
    """Airflow gave no answer, or another one than it should.

    :param status: the answer's HTTP status, ``None`` where there was no complete answer.
    """

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status
