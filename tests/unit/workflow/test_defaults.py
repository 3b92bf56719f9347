"""Which keys may have a default: a decision for each key of the language."""

from __future__ import annotations

from mantle_provider.workflow.defaults import (
    DEFAULTS_BLOCKS,
    HOOK_STEP_DEFAULTS,
    STEP_DEFAULTS,
    WORKFLOW_DEFAULTS,
    is_defaults,
)


def names(block):
    return {key.name for key in block.keys}


def test_a_new_key_has_no_default_before_someone_has_decided_so():
    assert names(WORKFLOW_DEFAULTS) == {
        "airflow",
        "callbacks",
        "error_handler",
        "fail_fast",
        "hooks",
        "inputs",
        "listeners",
        "max_parallel_executions",
        "on_limit",
        "order",
        "timeout",
        "token_budget",
    }
    assert names(STEP_DEFAULTS) == {
        "airflow",
        "callbacks",
        "max_parallel",
        "on_dep_failure",
        "on_error",
        "registry_credential",
        "retry",
        "timeout",
    }
    assert names(HOOK_STEP_DEFAULTS) == names(STEP_DEFAULTS) - {"on_dep_failure"}


def test_no_default_has_to_be_there():
    assert not any(key.is_required for block in DEFAULTS_BLOCKS for key in block.keys)


def test_defaults_are_known_by_the_name_of_the_file():
    paths = ("defaults.yaml", "a/defaults.yaml", r"a\defaults.yaml", "my-defaults.yaml", "a.yaml")
    assert [is_defaults(path) for path in paths] == [True, True, True, False, False]
