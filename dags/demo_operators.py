"""Operators that the example workflows run; the demo puts this folder on the workers' path."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from airflow.sdk import Asset, BaseOperator

from mantle_provider import StepCallbacks, WorkflowContext

if TYPE_CHECKING:
    from collections.abc import Sequence

    from airflow.sdk.definitions.context import Context

    from mantle_provider import WorkflowState

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


class WritePartsOperator(StepCallbacks, BaseOperator):
    """Writes the parts of a report, and removes them when they are of no use.

    The folder is noted with the run: the process that cleans up may be another one.
    """

    def __init__(self, *, parts: int, **kwargs: Any) -> None:  # noqa: ANN401  # BaseOperator's arguments
        super().__init__(**kwargs)
        self.parts = parts
        self.folder: Path | None = None

    def execute(self, context: Context) -> dict[str, Any]:
        """Return the folder and how many files are in it."""
        self.folder = Path(tempfile.mkdtemp(prefix="mantle-parts-"))
        WorkflowContext(context).properties["parts-folder"] = str(self.folder)
        for number in range(self.parts):
            (self.folder / f"part-{number}.txt").write_text(f"part {number}\n")
        return {"folder": str(self.folder), "parts": self.parts}

    def on_finish(self, succeeded: bool) -> None:  # noqa: FBT001  # passed by keyword
        """Remove what an attempt that failed has written."""
        if not succeeded and self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)

    def on_workflow_finish(self, state: WorkflowState) -> None:
        """Remove the parts of a report that will not be finished."""
        folder = state.properties.get("parts-folder")
        if not state.is_succeeded and folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
