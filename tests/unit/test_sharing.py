"""Includes, defaults and environments, where the projects of tests/cases do not show them."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mantle_provider.check import CheckOptions, check_file, check_text
from mantle_provider.cli.explain import render_origins
from mantle_provider.diagnostics import Report, render_json, render_text
from mantle_provider.folder import WorkflowFolder
from mantle_provider.plan.planner import plan_workflow

STEP = "name: a\naction: bash/run\nparams: {command: echo}\n"
WORKFLOW = "name: flow\nsteps:\n  - {name: a, action: bash/run, params: {command: echo}}\n"


def codes(result):
    return [item.code for item in result.report.diagnostics]


# Includes


def test_an_include_is_the_value_of_the_other_file(project):
    project.write("step.yaml", STEP)
    included = project.workflow("flow.yaml", "name: flow\nsteps: [!include step.yaml]\n")
    written = check_text(WORKFLOW).workflow
    assert included == written
    assert plan_workflow(included).version == plan_workflow(written).version


def test_a_whole_workflow_can_be_included_and_renamed(project):
    project.write("base.yaml", WORKFLOW)
    workflow = project.workflow("flow.yaml", "<<: !include base.yaml\nname: other\ntimeout: 1h\n")
    assert (workflow.name, workflow.timeout) == ("other", timedelta(hours=1))
    assert not project.check("same.yaml", "!include base.yaml\n").is_foreign


def test_a_part_is_named_by_keys_and_numbers(project):
    project.write(
        "parts.yaml", f"a: {{list: [x, y]}}\nb:\n  - {STEP.replace(chr(10), chr(10) + '    ')}"
    )
    text = (
        "name: flow\nsteps: [!include parts.yaml#b.0]\n"
        "airflow: {owner: !include parts.yaml#a.list.1}\n"
    )
    workflow = project.workflow("flow.yaml", text)
    assert (workflow.steps[0].name, workflow.airflow.owner) == ("a", "y")


@pytest.mark.parametrize("number", ["2", "00", "-1", "²", "9" * 5000])
def test_a_number_that_no_entry_has_is_reported(project, number):
    project.write("parts.yaml", "list: [x, y]\n")
    text = f"{WORKFLOW}x-a: !include parts.yaml#list.{number}\n"
    assert codes(project.check("flow.yaml", text)) == ["missing-include"]


def test_paths_begin_at_the_file_that_includes(project):
    project.write("shared/step.yaml", "<<: !include ../common.yaml\nname: a\n")
    project.write("common.yaml", "action: bash/run\nparams: !include shared/params.yaml\n")
    project.write("shared/params.yaml", "command: echo\n")
    project.write("team/flow.yaml", "name: flow\nsteps: [!include ../shared/step.yaml]\n")
    result = project.check("team/flow.yaml")
    assert result.workflow == check_text(WORKFLOW).workflow
    assert set(result.sources) == {
        "shared/step.yaml",
        "common.yaml",
        "shared/params.yaml",
        "team/defaults.yaml",
        "defaults.yaml",
    }


def test_parts_of_one_file_may_include_each_other(project):
    project.write(
        "parts.yaml",
        "a:\n  <<: !include parts.yaml#b\n  name: a\n"
        "b: {action: bash/run, params: {command: echo}}\n",
    )
    assert (
        project.workflow("flow.yaml", "name: flow\nsteps: [!include parts.yaml#a]\n").steps[0].name
        == "a"
    )


def test_an_anchor_on_an_include_may_be_used_again(project):
    project.write("params.yaml", "command: echo\n")
    text = (
        "name: flow\nsteps:\n  - {name: a, action: bash/run, params: &p !include params.yaml}\n"
        "  - {name: b, action: bash/run, params: *p}\n"
    )
    workflow = project.workflow("flow.yaml", text)
    assert [step.params for step in workflow.steps] == [{"command": "echo"}] * 2


def test_what_an_anchor_outside_of_the_part_includes_is_there(project):
    project.write("params.yaml", "command: echo\n")
    project.write(
        "parts.yaml",
        "x: &x {params: !include params.yaml}\na:\n  <<: *x\n  name: a\n  action: bash/run\n",
    )
    workflow = project.workflow("flow.yaml", "name: flow\nsteps: [!include parts.yaml#a]\n")
    assert workflow.steps[0].params == {"command": "echo"}


def test_anchors_do_not_cross_files(project):
    project.write("step.yaml", "name: a\naction: bash/run\nparams: *params\n")
    text = "x-params: &params {command: echo}\nname: flow\nsteps: [!include step.yaml]\n"
    assert codes(project.check("flow.yaml", text)) == ["unknown-anchor"]


def test_only_the_part_that_is_wanted_has_to_be_right(project):
    project.write("parts.yaml", "wrong: !include nowhere.yaml\nright:\n  owner: me\n")
    text = f"{WORKFLOW}airflow: !include parts.yaml#right\n"
    assert project.workflow("flow.yaml", text).airflow.owner == "me"


def test_merged_keys_stand_in_the_other_file(project):
    project.write("more.yaml", "timeout: 1h\nnope: 1\n")
    result = project.check("flow.yaml", f"<<: !include more.yaml\n{WORKFLOW}")
    assert render_text(result.report) == (
        'more.yaml:2:1: error: unknown key "nope" in workflow (nope) [unknown-key]\n'
        " 2 | nope: 1\n"
        "   | ^^^^\n"
        "  note: flow.yaml:1:14: included here\n"
    )


def test_json_names_the_file_of_each_place(project):
    project.write("step.yaml", "name: 5\n")
    result = project.check("flow.yaml", "name: flow\nsteps: [!include step.yaml]\n")
    text = render_json([result.report])
    assert '"file": "step.yaml"' in text
    assert '"message": "included here"' in text


def test_a_link_inside_the_folder_is_followed_and_one_out_of_it_is_not(project, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside") / "step.yaml"
    outside.write_text(STEP)
    project.write("real.yaml", STEP)
    (project.root / "inside.yaml").symlink_to(project.root / "real.yaml")
    (project.root / "out.yaml").symlink_to(outside)
    text = "name: flow\nsteps: [!include {}]\n"
    assert codes(project.check("flow.yaml", text.replace("{}", "inside.yaml"))) == []
    [item] = project.check("flow.yaml", text.replace("{}", "out.yaml")).report.diagnostics
    assert (item.code, item.message) == (
        "invalid-include",
        'cannot include "out.yaml": a symbolic link leads out of the folder',
    )


def test_a_folder_cannot_be_included(project):
    project.write("a.yaml/b.txt", "")
    [item] = project.check("flow.yaml", f"{WORKFLOW}hooks: !include a.yaml\n").report.diagnostics
    assert (item.code, item.message) == (
        "invalid-include",
        'cannot include "a.yaml": Is a directory',
    )


def test_an_empty_file_and_several_documents_cannot_be_included(project):
    project.write("empty.yaml", "# nothing\n")
    project.write("two.yaml", "a: 1\n---\nb: 1\n")
    text = f"{WORKFLOW}hooks: !include empty.yaml\nairflow: !include two.yaml\n"
    found = project.check("flow.yaml", text).report.diagnostics
    assert [(item.code, item.message) for item in found] == [
        ("empty-document", "the file is empty; there is nothing to include"),
        ("several-documents", "a file to include holds one document, but a second one begins here"),
    ]


def test_included_files_are_together_no_larger_than_one_file_may_be(project):
    project.write("long.yaml", "- " + "x" * 150 + "\n")
    once, twice = "x-a: !include long.yaml\n", "x-b: !include long.yaml\n"
    assert codes(project.check("flow.yaml", WORKFLOW + once, max_file_bytes=200)) == []
    result = project.check("flow.yaml", WORKFLOW + once + twice, max_file_bytes=200)
    [item] = result.report.diagnostics
    assert (item.code, item.message) == (
        "include-limit",
        "the included files are together larger than 200 bytes, the most that is read",
    )


@pytest.mark.parametrize(
    ("limit", "message"),
    [
        (9999, "the included files are together larger than 9999 bytes, the most that is read"),
        (10**6, "more than 2000 times a file is included"),
    ],
)
def test_too_many_and_too_large_includes_are_said_once(project, limit, message):
    for number in range(12):
        include = f"!include {number + 1}.yaml"
        project.write(f"{number}.yaml", f"[{include}, {include}, {include}, {include}]\n")
    project.write("12.yaml", "1\n")
    text = "name: flow\nsteps: !include 0.yaml\n"
    [item] = project.check("flow.yaml", text, max_file_bytes=limit).report.diagnostics
    assert (item.code, item.message) == ("include-limit", message)


def test_a_file_whose_name_begins_with_two_dots_is_inside(project):
    project.write("..part.yaml", STEP)
    project.workflow("flow.yaml", "name: flow\nsteps: [!include ..part.yaml]\n")


@pytest.mark.parametrize(("files", "expected"), [(20, []), (21, ["include-limit"])])
def test_twenty_files_may_include_one_another_in_a_row(project, files, expected):
    for number in range(1, files):
        project.write(f"{number}.yaml", f"- !include {number + 1}.yaml\n")
    project.write(f"{files}.yaml", "- end\n")
    assert codes(project.check("flow.yaml", f"{WORKFLOW}x-a: !include 1.yaml\n")) == expected


def test_levels_count_through_files(project):
    project.write("deep.yaml", "[" * 60 + "]" * 60)
    text = f"{WORKFLOW}x-a: {'[' * 60}!include deep.yaml{']' * 60}\n"
    [item] = project.check("flow.yaml", text).report.diagnostics
    assert (item.code, item.document.name) == ("too-deep", "deep.yaml")


def test_a_text_without_a_folder_includes_nothing():
    [item] = check_text(f"{WORKFLOW}hooks: !include a.yaml\n").report.diagnostics
    assert item.message == "only workflows and defaults in a folder can include other files"


def test_a_file_of_parts_is_left_alone_unless_it_cannot_be_told(project):
    assert project.check("list.yaml", f"- {STEP.replace(chr(10), chr(10) + '  ')}").is_foreign
    assert project.check("map.yaml", "fetch: {name: a}\n").is_foreign
    assert project.check("broken.yaml", "fetch: !include nowhere.yaml\n").is_foreign
    result = project.check("root.yaml", "name: a\n<<: !include nowhere.yaml\n")
    assert not result.is_foreign
    assert codes(result) == ["missing-include"]


def test_a_mistake_in_a_whole_workflow_that_is_included_is_shown_there(project):
    project.write("base.yaml", f"{WORKFLOW}timeout: soon\n")
    report = project.check("flow.yaml", "!include base.yaml\n").report
    [item] = report.diagnostics
    place = report.place(item)
    assert (place.name, place.span.line, item.code) == ("base.yaml", 4, "invalid-duration")


def test_a_path_that_no_file_can_have_is_refused(project):
    [item] = project.check(
        "flow.yaml", f'{WORKFLOW}hooks: !include "a\\0.yaml"\n'
    ).report.diagnostics
    assert item.code == "invalid-include"


# Defaults


def test_the_nearest_defaults_win_key_by_key(project):
    project.write("defaults.yaml", "workflow: {timeout: 1h, airflow: {owner: all, pool: p}}\n")
    project.write("team/defaults.yaml", "workflow: {airflow: {owner: team}}\n")
    workflow = project.workflow("team/flow.yaml", WORKFLOW)
    assert (workflow.timeout, workflow.airflow.owner, workflow.airflow.pool) == (
        timedelta(hours=1),
        "team",
        "p",
    )


def test_a_key_without_a_value_takes_a_default_away(project):
    project.write(
        "defaults.yaml", "workflow: {airflow: {tags: [x]}}\nstep: {retry: {max_attempts: 3}}\n"
    )
    text = (
        "name: flow\nairflow: {tags: []}\nsteps:\n"
        "  - {name: a, action: bash/run, params: {command: echo}, retry: }\n"
    )
    workflow = project.workflow("flow.yaml", text)
    assert (workflow.airflow.tags, workflow.steps[0].retry) == ((), None)


def test_each_section_holds_for_its_steps(project):
    project.write(
        "defaults.yaml",
        "workflow: {hooks: {on_failure: [{name: h, action: bash/run, params: {command: echo}}]}}\n"
        "step: {timeout: 1m, on_dep_failure: cancel_branch}\n"
        "hook_step: {timeout: 2s}\n",
    )
    text = (
        "name: flow\nbefore_start: [{name: b, action: bash/run, params: {command: echo}}]\n"
        "steps:\n  - {name: a, action: bash/run, params: {command: echo}}\n"
        "  - {name: c, action: bash/run, params: {command: echo}, depends_on: [a]}\n"
        "hooks: {on_finish: [{name: f, action: bash/run, params: {command: echo}}]}\n"
    )
    workflow = project.check("flow.yaml", text).workflow
    steps = [*workflow.before_start, *workflow.steps]
    hooks = [*workflow.hooks.on_failure, *workflow.hooks.on_finish]
    assert [step.timeout for step in steps] == [timedelta(minutes=1)] * 3
    assert [step.on_dep_failure for step in steps] == ["fail_run", *["cancel_branch"] * 2]
    assert [step.timeout for step in hooks] == [timedelta(seconds=2)] * 2


def test_defaults_count_in_the_version(project):
    before = plan_workflow(project.workflow("flow.yaml", WORKFLOW)).version
    project.write("defaults.yaml", "step: {timeout: 1m}\n")
    after = plan_workflow(project.workflow("flow.yaml")).version
    project.write("defaults.yaml", "# other words\nstep: {timeout: 60s}\n")
    assert before != after == plan_workflow(project.workflow("flow.yaml")).version


def test_a_default_time_zone_gives_way_to_that_of_a_trigger(project):
    project.write("defaults.yaml", "workflow: {airflow: {timezone: Europe/Berlin}}\n")
    text = f"{WORKFLOW}triggers: [{{type: cron, schedule: '@daily'%}}]\n"
    own = project.workflow("flow.yaml", text.replace("%", ", timezone: Asia/Tokyo"))
    assert plan_workflow(own).schedules == (("@daily", "Asia/Tokyo"),)
    assert plan_workflow(project.workflow("flow.yaml", text.replace("%", ""))).schedules == (
        ("@daily", "Europe/Berlin"),
    )


def test_a_default_without_effect_on_one_workflow_is_no_mistake(project):
    project.write("defaults.yaml", "workflow: {airflow: {catchup: true}, on_limit: queue}\n")
    assert codes(project.check("flow.yaml", WORKFLOW)) == []
    project.write("shared.yaml", "on_dep_failure: cancel_branch\n")
    text = (
        "name: flow\nsteps:\n"
        "  - {name: a, action: bash/run, params: {command: echo}}\n"
        "  - {name: b, action: bash/run, params: {command: echo}, depends_on: [a]}\n"
        "  - {name: c, action: bash/run, params: {command: echo}, depends_on: [b],"
        " on_dep_failure: fail_run}\n"
    )
    for defaults in ("step: {on_dep_failure: cancel_branch}\n", "step: !include shared.yaml\n"):
        project.write("defaults.yaml", defaults)
        assert codes(project.check("flow.yaml", text)) == []


def test_defaults_may_be_empty_and_may_include(project):
    project.write("defaults.yaml", "# none yet\n")
    assert project.workflow("flow.yaml", WORKFLOW) == check_text(WORKFLOW).workflow
    project.write("shared.yaml", "a: {owner: me}\n")
    project.write("defaults.yaml", "workflow: {airflow: !include shared.yaml#a}\n")
    result = project.check("flow.yaml")
    assert result.workflow.airflow.owner == "me"
    assert result.sources == ("defaults.yaml", "shared.yaml")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("- a\n", "root-not-a-mapping"),
        ("step: [\n", "invalid-yaml"),
        ("step: {timout: 1m}\n", "unknown-key"),
        ("step: {timeout: 1}\n", "invalid-duration"),
        ("a: 1\n---\nb: 1\n", "several-documents"),
    ],
)
def test_broken_defaults_are_an_error_of_each_workflow_below(project, text, code):
    project.write("defaults.yaml", text)
    result = project.check("team/flow.yaml", WORKFLOW)
    assert codes(result) == [code]
    assert result.workflow is None
    assert result.report.place(result.report.diagnostics[0]).name == "defaults.yaml"


def test_defaults_are_never_a_workflow(project):
    result = project.check("defaults.yaml", "steps: []\n")
    assert result.is_foreign
    assert codes(result) == ["unknown-key"]
    assert project.check("team/defaults.yaml", "step: {}\n").report.diagnostics == ()


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("defaults.yml", "step: {timeout: 5m}\n"),
        ("etl/Defaults.YAML", "workflow: {}\nhook_step: {}\n"),
    ],
)
def test_defaults_that_nobody_would_read_are_reported(project, path, text):
    result = project.check(path, text)
    assert (codes(result), result.is_foreign) == (["misnamed-defaults"], False)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("defaults.yml", "step: {}\nport: 80\n"),
        ("defaults.yml", "{}\n"),
        ("default.yaml", "step: {}\n"),
    ],
)
def test_what_need_not_be_defaults_is_left_alone(project, path, text):
    assert project.check(path, text).is_foreign


def test_defaults_that_are_gone_by_now_are_nothing(project):
    folder = WorkflowFolder(project.root)
    assert check_text(b"step: 5", "defaults.yaml", folder=folder).report.diagnostics == ()


def test_defaults_leave_alone_what_is_no_list_of_steps(project):
    project.write("defaults.yaml", "step: {timeout: 1m}\nworkflow: {hooks: {timeout: 1m}}\n")
    result = project.check("flow.yaml", "name: flow\nsteps: 5\nhooks: 5\n")
    assert codes(result) == ["wrong-type", "wrong-type"]
    assert codes(project.check("other.yaml", WORKFLOW)) == []


def test_defaults_that_cannot_be_read_are_reported(project, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside") / "defaults.yaml"
    outside.write_text("step: {}\n")
    (project.root / "defaults.yaml").symlink_to(outside)
    [item] = project.check("flow.yaml", WORKFLOW).report.diagnostics
    assert (item.code, item.message) == (
        "unreadable-file",
        "cannot read the file: a symbolic link leads out of the folder",
    )


def test_notes_on_a_mistake_in_a_shared_file_point_into_it(project):
    project.write("defaults.yaml", "step: {timeout: 1m}\nstep: {}\n")
    project.write("values/prod.yaml", "env:\n  token: a\n  token: b\n")
    text = render_text(project.check("flow.yaml", WORKFLOW, environment="prod").report)
    assert [line for line in text.splitlines() if "first defined" in line] == [
        "  note: defaults.yaml:1:1: first defined here",
        "  note: values/prod.yaml:2:3: first defined here",
    ]


# Whatever the files say


@settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.data())
def test_no_damage_to_a_shared_file_makes_the_check_fail(project, data):
    """Only diagnostics come of it, and each can be shown."""
    files = {
        "flow.yaml": f"<<: !include part.yaml\n{WORKFLOW}x-a: !include part.yaml#a.b\n",
        "part.yaml": "a: {b: &c [1, !include other.yaml]}\ndescription: text\nx-d: *c\n",
        "other.yaml": "- !include part.yaml#description\n",
        "defaults.yaml": "workflow: {airflow: {tags: [a]}}\nstep: {retry: {max_attempts: 3}}\n",
        "values/prod.yaml": "inputs: {a: 1}\nenv: {b: c}\n",
    }
    damaged = data.draw(st.sampled_from(sorted(files)))
    text = files[damaged]
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(start + 8, len(text))))
    pieces = ["", "[", "{", "}", ": ", "\n", "- ", "*c", "&c ", "!include ", "part.yaml", "#", "\0"]
    files[damaged] = text[:start] + data.draw(st.sampled_from(pieces)) + text[end:]
    for name, content in files.items():
        project.write(name, content)
    result = project.check("flow.yaml", environment="prod")
    assert (result.workflow is None) == bool(result.report.errors) or result.is_foreign
    render_text(result.report)
    render_json([result.report])


# The folder of a single file


def test_the_folder_of_a_file_is_the_highest_with_defaults_or_values(project, monkeypatch):
    project.write("flows/values/prod.yaml", "env: {a: x}\n")
    project.write("flows/team/defaults.yaml", "step: {timeout: 1m}\n")
    project.write("flows/team/flow.yaml", WORKFLOW)
    options = CheckOptions(environment="prod")
    for here, path in [
        (".", "flows/team/flow.yaml"),
        ("flows", "team/flow.yaml"),
        ("flows", "./team/flow.yaml"),
        (".", project.root / "flows/team/flow.yaml"),
    ]:
        monkeypatch.chdir(project.root / here)
        workflow = check_file(path, options).workflow
        assert (workflow.env, workflow.steps[0].timeout) == ({"A": "x"}, timedelta(minutes=1))
    monkeypatch.chdir(project.root / "flows/team")
    assert codes(check_file("flow.yaml", options)) == ["missing-environment"]


def test_a_file_outside_the_working_directory_has_only_its_own_folder(project, monkeypatch):
    project.write("defaults.yaml", "step: {timeout: 1m}\n")
    project.write("team/flow.yaml", WORKFLOW)
    (project.root / "here").mkdir()
    monkeypatch.chdir(project.root / "here")
    assert check_file("../team/flow.yaml").workflow.steps[0].timeout is None


def test_a_file_is_named_by_its_path_below_the_folder(project):
    folder = WorkflowFolder(project.root)
    project.write("a/b.yaml", "")
    assert folder.path_of(project.root / "a/b.yaml") == "a/b.yaml"
    assert folder.path_of(project.root / "c.yaml") == "c.yaml"
    with pytest.raises(ValueError, match="is not below"):
        folder.path_of(project.root.parent / "c.yaml")


# Where values stand


def test_long_values_are_shortened_and_a_report_without_a_file_has_none(project):
    text = WORKFLOW.replace("echo", "x" * 100) + "x-notes: [none]\n"
    report = project.check("flow.yaml", text).report
    assert "x-notes" not in render_origins(report, (), None)
    assert f'  steps[0].params.command: "{"x" * 58}…  (flow.yaml:3:51)\n' in render_origins(
        report, (), None
    )
    assert render_origins(Report("flow.yaml"), (), None) == ""
