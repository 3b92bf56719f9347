"""Functions that the example workflows call; the demo puts this folder on the workers' path."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any


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
