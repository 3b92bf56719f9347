"""Functions that the example workflows call; the demo puts this folder on the workers' path."""

from __future__ import annotations

import smtplib
import tempfile
from datetime import datetime, timedelta, timezone
from email.message import EmailMessage
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from mantle_provider import WorkflowContext, WorkflowState


def total_by_customer(orders: list[dict[str, Any]]) -> dict[str, int]:
    """Return customer id -> sum of the totals; a map, so it is the step's output as it is."""
    totals: dict[str, int] = {}
    for order in orders:
        customer = str(order["customer"])
        totals[customer] = totals.get(customer, 0) + order["total"]
    return totals


def discount(total: int, *, percent: int) -> float:
    """Return what is taken off; no map, so the step's output is ``{"result": ...}``."""
    return total * percent / 100


def moment_in(*, seconds: int) -> str:
    """Return a moment in the near future in ISO 8601, for a sensor to wait for."""
    return (datetime.now(timezone.utc) + timedelta(seconds=seconds)).isoformat()


def same_rows(extracted: list[Any], loaded: list[Any]) -> None:
    """Fail unless what has arrived is what was sent."""
    if extracted != loaded:
        raise ValueError(f"{len(extracted)} rows were sent, but {len(loaded)} have arrived")


def mail_end(context: WorkflowContext, state: WorkflowState) -> None:
    """Mail how a run ended, after a failure with each step that failed and its causes."""
    lines = [f"{context.workflow} {state.status} ({context.run_id})"]
    for name in state.failed_steps:
        node = state.nodes[name]
        cause = node.failure_cause
        lines.append(f"{name} ({node.effect}): {cause.message if cause else node.reason}")
        causes = cause.causes if cause else ()
        lines += [f"  because of {below.type}: {below.message}" for below in causes]
    message = EmailMessage()
    message["From"], message["To"] = "airflow@example.com", "team@example.com"
    message["Subject"] = f"{context.workflow} {state.status}"
    message.set_content("\n".join(lines))
    server = context.connection("demo_mail")
    with smtplib.SMTP(server.host, server.port) as client:
        client.login(server.login, server.password)
        client.send_message(message)


def download_path(context: WorkflowContext) -> Path:
    """Return where a run downloads to: the same for each attempt and in each process."""
    return Path(tempfile.gettempdir()) / f"mantle-download-{context.run_id}"


def download_half(context: WorkflowContext) -> NoReturn:
    """Write the first half of a file, and fail."""
    download_path(context).write_text("first half")
    raise ConnectionError("the line is dead")


def remove_download(*, succeeded: bool, context: WorkflowContext) -> None:
    """Remove the file of a download that did not come to its end."""
    if not succeeded:
        download_path(context).unlink(missing_ok=True)
