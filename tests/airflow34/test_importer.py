"""The importer of Airflow 3.4: ``scripts/test --airflow 3.4`` runs these tests on that version."""

from __future__ import annotations

import pytest

pytest.importorskip("airflow.sdk.importers", reason="needs Airflow 3.4")

from airflow.dag_processing.bundles.local import LocalDagBundle
from airflow.dag_processing.dagbag import BundleDagBag
from airflow.sdk.definitions.context import _AIRFLOW_PARSING_CONTEXT_DAG_ID
from airflow.sdk.importers import (
    DagImporterRegistry,
    DagImportError,
    DagSourceCode,
    FilesystemDagDefinition,
    reset_importer_registry,
)

from mantle_provider.builder.importer import MantleDagImporter

GOOD = """\
name: {name}
steps:
  - name: a
    action: bash/run
    params: {{ command: "true" }}
"""
CLASS_PATH = "mantle_provider.builder.importer.MantleDagImporter"


@pytest.fixture
def bundle(tmp_path):
    return LocalDagBundle(name="folder", path=str(tmp_path))


def write(bundle, name, text):
    path = bundle.path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return FilesystemDagDefinition(path=path)


def test_workflows_of_the_bundle_are_listed_without_ignored_ones(bundle):
    write(bundle, "etl/a.yaml", GOOD.format(name="a"))
    write(bundle, "b.yml", GOOD.format(name="b"))
    write(bundle, "drafts/c.yaml", GOOD.format(name="c"))
    write(bundle, ".airflowignore", "drafts/\n")
    write(bundle, "d.py", "")
    found = {item.path for item in MantleDagImporter().list_dag_definitions(bundle)}
    assert found == {bundle.path / "etl/a.yaml", bundle.path / "b.yml"}


def test_a_workflow_is_a_dag(bundle):
    definition = write(bundle, "a.yaml", GOOD.format(name="a"))
    result = MantleDagImporter().import_definition(definition, bundle)
    assert [dag.dag_id for dag in result.dags] == ["a"]
    assert [task.task_id for task in result.dags[0].tasks] == ["a"]
    assert (result.errors, result.warnings) == ([], [])


def test_included_files_are_dependencies(bundle):
    shared = write(bundle, "parts/shared.yaml", "echo hello\n")
    text = GOOD.format(name="a").replace('"true"', "!include parts/shared.yaml")
    definition = write(bundle, "a.yaml", text)
    result = MantleDagImporter().import_definition(definition, bundle)
    assert [dag.dag_id for dag in result.dags] == ["a"]
    assert result.dependencies == [shared]


def test_a_mistake_that_does_not_stop_a_workflow_is_a_warning(bundle):
    text = GOOD.format(name="a") + (
        "  - name: b\n"
        "    action: bash/run\n"
        '    params: { command: "true" }\n'
        "    depends_on: [a, a]\n"
    )
    definition = write(bundle, "a.yaml", text)
    result = MantleDagImporter().import_definition(definition, bundle)
    (warning,) = result.warnings
    assert (warning.warning_type, warning.line_number) == ("mantle:duplicate-dependency", 9)


def test_a_broken_workflow_is_one_error_with_line_and_column(bundle):
    text = GOOD.format(name="a").replace("action", "acton") + "  - name: b\n"
    definition = write(bundle, "a.yaml", text)
    result = MantleDagImporter().import_definition(definition, bundle)
    assert result.dags == []
    assert result.errors == [
        DagImportError(
            source_reference=str(bundle.path / "a.yaml"),
            message=(
                'a.yaml:4:5: error: unknown key "acton" in step; did you mean "action"? '
                "(steps[0].acton) [unknown-key]\n"
                " 4 |     acton: bash/run\n"
                "   |     ^^^^^\n"
                'a.yaml:6:5: error: step needs one of the keys "action" or "switch" '
                "(steps[1]) [missing-key]\n"
                " 6 |   - name: b\n"
                "   |     ^^^^^^^"
            ),
            error_type="mantle",
            line_number=4,
            column_number=5,
        )
    ]


def test_the_second_file_of_a_name_is_an_error_that_names_the_first(bundle, monkeypatch):
    first = write(bundle, "a.yaml", GOOD.format(name="same"))
    second = write(bundle, "b.yaml", GOOD.format(name="same"))
    importer = MantleDagImporter()
    assert [dag.dag_id for dag in importer.import_definition(first, bundle).dags] == ["same"]
    result = importer.import_definition(second, bundle)
    [error] = result.errors
    assert (result.dags, result.dependencies, error.line_number) == ([], [first], 1)
    assert error.message == (
        'b.yaml:1:7: error: two files have the workflow name "same"; rename one (name)'
        " [duplicate-workflow]\n 1 | name: same\n   |       ^^^^\n"
        "  note: a.yaml: first used here"
    )
    monkeypatch.setenv(_AIRFLOW_PARSING_CONTEXT_DAG_ID, "same")
    assert [dag.dag_id for dag in importer.import_definition(second, bundle).dags] == ["same"]


def test_a_foreign_file_defines_nothing(bundle):
    definition = write(bundle, "values.yaml", "a: 1\n")
    result = MantleDagImporter().import_definition(definition, bundle)
    assert (result.dags, result.errors) == ([], [])


def test_the_source_code_is_the_yaml(bundle):
    definition = write(bundle, "a.yaml", GOOD.format(name="a"))
    assert MantleDagImporter().get_source_code(definition) == DagSourceCode(
        source_code=GOOD.format(name="a"), language="yaml"
    )


def test_the_importer_answers_for_yaml_files_alone(bundle):
    importer = MantleDagImporter()
    names = ("a.yaml", "a.yml", "a.YAML", "a.py", "a")
    assert [importer.can_handle(name) for name in names] == [True, True, True, False, False]


def test_airflow_finds_the_importer_in_its_configuration(bundle, monkeypatch):
    option = "AIRFLOW__DAG_PROCESSOR__DAG_IMPORTER_CONFIGS"
    monkeypatch.setenv(option, f'[{{"classpath": "{CLASS_PATH}"}}]')
    assert isinstance(DagImporterRegistry.from_config().get_importer("a.yaml"), MantleDagImporter)
    write(bundle, "a.yaml", GOOD.format(name="a"))
    write(bundle, "b.yaml", "steps: [\n")
    reset_importer_registry()
    bag = BundleDagBag(str(bundle.path), bundle_path=bundle.path, bundle_name=bundle.name)
    reset_importer_registry()
    assert list(bag.dags) == ["a"]
    assert list(bag.import_errors) == ["b.yaml"]
    assert bag.import_errors["b.yaml"].startswith("b.yaml:")
    assert bag.dag_source_codes["a"].source_code == GOOD.format(name="a")
