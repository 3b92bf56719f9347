"""The Dag we intend, as data: planned from a workflow, compared, printed, and built elsewhere."""

from __future__ import annotations

from mantle_provider.plan.model import DagPlan, TaskPlan
from mantle_provider.plan.planner import plan_workflow
from mantle_provider.plan.render import render_plan, render_plan_json

__all__ = ["DagPlan", "TaskPlan", "plan_workflow", "render_plan", "render_plan_json"]
