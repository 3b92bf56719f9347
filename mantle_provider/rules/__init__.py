"""What a workflow may not say although it can be decoded: one check per file. Pure.

A rule's file has the name of the code it reports. A new rule is one file, one line here, and one
entry in :mod:`mantle_provider.diagnostics.catalogue`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mantle_provider.rules import (
    action_not_allowed,
    condition_not_boolean,
    conflicting_keys,
    dependency_cycle,
    duplicate_artifact,
    duplicate_dependency,
    duplicate_hook,
    duplicate_listener,
    duplicate_step,
    dynamic_reference,
    hook_key,
    hook_timeout,
    ineffective_key,
    ineffective_policy,
    invalid_cron,
    invalid_default,
    invalid_expression,
    invalid_param,
    invalid_timezone,
    invalid_transition,
    listed_order,
    missing_credential,
    missing_default,
    missing_else,
    missing_param,
    name_too_long,
    not_yet_supported,
    operator_argument,
    out_of_scope,
    policy_without_dependency,
    reserved_input,
    router_key,
    self_dependency,
    several_timezones,
    step_not_before,
    template_in_condition,
    template_not_allowed,
    undefined_artifact,
    undefined_field,
    undefined_hook,
    undefined_input,
    undefined_step,
    unguarded_reference,
    unknown_action,
    unknown_param,
    unreachable_case,
    unused_credential,
)
from mantle_provider.rules.subject import Subject

if TYPE_CHECKING:
    from mantle_provider.diagnostics.diagnostic import Diagnostic
    from mantle_provider.workflow.decode import Draft

RULES = (
    action_not_allowed.check,
    condition_not_boolean.check,
    conflicting_keys.check,
    dependency_cycle.check,
    duplicate_artifact.check,
    duplicate_dependency.check,
    duplicate_hook.check,
    duplicate_listener.check,
    duplicate_step.check,
    dynamic_reference.check,
    hook_key.check,
    hook_timeout.check,
    ineffective_key.check,
    ineffective_policy.check,
    invalid_cron.check,
    invalid_default.check,
    invalid_expression.check,
    invalid_param.check,
    invalid_timezone.check,
    invalid_transition.check,
    listed_order.check,
    missing_credential.check,
    missing_default.check,
    missing_else.check,
    missing_param.check,
    name_too_long.check,
    not_yet_supported.check,
    operator_argument.check,
    out_of_scope.check,
    policy_without_dependency.check,
    reserved_input.check,
    router_key.check,
    self_dependency.check,
    several_timezones.check,
    step_not_before.check,
    template_in_condition.check,
    template_not_allowed.check,
    undefined_artifact.check,
    undefined_field.check,
    undefined_hook.check,
    undefined_input.check,
    undefined_step.check,
    unguarded_reference.check,
    unknown_action.check,
    unknown_param.check,
    unreachable_case.check,
    unused_credential.check,
)
"""Every rule, in the order of its name; the report sorts what they find."""


def run_rules(draft: Draft, allowed_actions: tuple[str, ...] = ("*",)) -> list[Diagnostic]:
    """Run every rule over a draft.

    :param allowed_actions: shell patterns of the actions that may be used.
    """
    subject = Subject(draft, allowed_actions)
    return [found for rule in RULES for found in rule(subject)]
