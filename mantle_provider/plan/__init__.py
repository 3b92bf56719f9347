"""The Dag we intend, as data: planned from a workflow, compared, printed, and built elsewhere.

Making a plan needs the workflow language, having one does not: a task process, which has the plan
in its stub, imports only what stands here.
"""

from __future__ import annotations

from mantle_provider.plan.model import DagPlan, TaskPlan

__all__ = ["DagPlan", "TaskPlan"]
