from mantle_provider.plan import DagPlan, TaskPlan, render_plan


def test_what_is_absent_is_not_shown():
    plan = DagPlan(dag_id="flow", version="0", tasks=(TaskPlan("a", "x.Y"),))

    assert render_plan(plan) == (
        "dag flow\n  version 0\n\ntask a\n  rule none_failed\n  operator x.Y\n"
    )


def test_text_of_several_lines_stays_on_one():
    plan = DagPlan(dag_id="flow", version="0", tasks=(), description='one\n"two"')

    assert render_plan(plan) == 'dag flow\n  version 0\n  description "one\\n\\"two\\""\n'


def test_a_foreign_operator_may_have_an_argument_called_parameters():
    task = TaskPlan(
        "a",
        "x.SQLOperator",
        step={"action": "airflow/operator"},
        arguments={"sql": "select 1", "parameters": {"x": 1}},
    )

    assert render_plan(DagPlan("flow", "0", (task,))).endswith(
        '  arguments\n    sql "select 1"\n    parameters {"x": 1}\n'
    )


def test_defaults_that_are_zero_or_false_are_shown():
    inputs = ({"name": "on", "default": False, "required": False, "enum": []},)

    assert render_plan(DagPlan("flow", "0", (), inputs=inputs)) == (
        'dag flow\n  version 0\n  input on {"default": false, "required": false}\n'
    )
