"""An operator that the example workflows run; the demo puts this folder on the workers' path."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from airflow.sdk import Asset, BaseOperator

if TYPE_CHECKING:
    from collections.abc import Sequence

    from airflow.sdk.definitions.context import Context

STOCK = Asset("demo-stock")


class PublishStock(BaseOperator):
    """Lets the asset ``demo-stock`` have an event that tells of a region."""

    template_fields: Sequence[str] = ("region", "pieces")

    def __init__(self, *, region: str, pieces: int, **kwargs: Any) -> None:  # noqa: ANN401  # BaseOperator's arguments
        super().__init__(outlets=[STOCK], **kwargs)
        self.region = region
        self.pieces = pieces

    def execute(self, context: Context) -> None:
        """Hand the event's content to Airflow, which makes the event when the task succeeds."""
        context["outlet_events"][STOCK].extra = {"region": self.region, "pieces": self.pieces}
