"""Every workflow in ``cases/plans`` against the plan beside it, as ``mantle plan`` prints it.

``pytest --update-cases`` writes the plans anew; the difference is then for review.
"""

import json
from pathlib import Path

import pytest

from mantle_provider.check import check_file
from mantle_provider.plan import DagPlan
from mantle_provider.plan.planner import plan_workflow
from mantle_provider.plan.render import render_plan

CASES = sorted((Path(__file__).parent / "cases" / "plans").glob("*.yaml"))


@pytest.fixture(params=CASES, ids=lambda path: path.stem)
def case(request):
    return request.param


def plan_file(path):
    result = check_file(path)
    assert result.workflow is not None, [*result.report.diagnostics]
    return plan_workflow(result.workflow)


def test_the_plan_is_the_one_beside_the_workflow(case, request):
    expected = case.with_suffix(".plan")
    rendered = render_plan(plan_file(case))
    if request.config.getoption("--update-cases"):
        expected.write_text(rendered, encoding="utf-8")

    assert rendered == expected.read_text(encoding="utf-8")


def test_the_file_is_named_as_its_workflow(case):
    assert plan_file(case).dag_id == case.stem


def test_the_plan_survives_json(case):
    plan = plan_file(case)

    assert DagPlan.from_data(json.loads(json.dumps(plan.to_data()))) == plan


def test_tasks_stand_after_what_they_depend_on_and_ids_are_unique(case):
    seen = set()
    for task in plan_file(case).tasks:
        assert set(task.upstream) <= seen
        assert task.task_id not in seen
        seen.add(task.task_id)
