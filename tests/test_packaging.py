"""What the distribution promises: names, entry points, lazy imports, and what stays unimported."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from importlib.metadata import entry_points, metadata
from pathlib import Path

import pytest

import mantle_provider
from mantle_provider.provider_info import get_provider_info

ROOT = Path(__file__).parents[1]
DISTRIBUTION = "airflow-provider-mantle"


def test_the_version_stands_in_one_place():
    assert metadata(DISTRIBUTION)["Version"] == mantle_provider.__version__


def test_the_provider_is_named_by_its_distribution():
    """Airflow skips a provider whose package name is not the canonical one (AIRFLOW 28)."""
    assert get_provider_info()["package-name"] == DISTRIBUTION


@pytest.mark.parametrize(
    ("group", "name", "value"),
    [
        (
            "apache_airflow_provider",
            "provider_info",
            "mantle_provider.provider_info:get_provider_info",
        ),
        ("console_scripts", "mantle", "mantle_provider.cli:main"),
    ],
)
def test_entry_points(group, name, value):
    found = [point for point in entry_points(group=group) if point.name == name]
    assert value in [point.value for point in found]


@pytest.mark.parametrize("name", mantle_provider.__all__)
def test_public_names_load_when_first_used(name):
    assert getattr(mantle_provider, name) is not None
    assert name in dir(mantle_provider)


def test_an_unknown_public_name_is_an_attribute_error():
    with pytest.raises(AttributeError) as caught:
        mantle_provider.nothing  # noqa: B018  # the access is the test
    assert str(caught.value) == "module 'mantle_provider' has no attribute 'nothing'"


@pytest.mark.parametrize(
    ("code", "unwanted"),
    [
        ("import mantle_provider", ("airflow", "celpy", "yaml")),
        ("import mantle_provider.provider_info", ("airflow", "celpy", "yaml")),
        ("from mantle_provider.check import check_text; check_text('name: a')", ("airflow",)),
        (
            "from mantle_provider.cli import main; import sys; sys.argv[1:] = ['--version']\n"
            "try: main()\nexcept SystemExit: pass",
            ("airflow", "celpy"),
        ),
        ("import mantle_provider.expressions", ("airflow", "celpy", "lark")),
        (
            "import mantle_provider.builder.stubs, mantle_provider.operators.bash",
            (
                "celpy",
                "lark",
                "mantle_provider.check",
                "mantle_provider.expressions.checker",
                "mantle_provider.plan.planner",
                "mantle_provider.rules",
                "mantle_provider.workflow.model",
            ),
        ),
    ],
    ids=["package", "provider-info", "check", "cli", "expressions", "task"],
)
def test_imports_stay_light(code, unwanted):
    """Airflow imports the package while it starts, `mantle validate` runs without Airflow, and
    every task waits for its imports: it has its plan, and checks nothing.
    """
    check = f"import sys; print([name for name in {unwanted!r} if name in sys.modules])"
    finished = subprocess.run(
        [sys.executable, "-W", "error", "-c", f"{code}\n{check}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert finished.stdout.splitlines()[-1] == "[]"


def test_the_wheel_holds_the_package_alone(tmp_path):
    """An entry beside the package would land in everybody's site-packages."""
    build = "from hatchling.build import build_wheel; import sys; print(build_wheel(sys.argv[1]))"
    finished = subprocess.run(
        [sys.executable, "-c", build, tmp_path],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    name = finished.stdout.split()[-1]
    with zipfile.ZipFile(tmp_path / name) as wheel:
        tops = {entry.split("/")[0] for entry in wheel.namelist()}
        files = {entry for entry in wheel.namelist() if entry.startswith("mantle_provider/")}
    version = mantle_provider.__version__
    assert tops == {"mantle_provider", f"airflow_provider_mantle-{version}.dist-info"}
    package = ROOT / "mantle_provider"
    found = [path for path in package.rglob("*") if path.is_file() and path.suffix != ".pyc"]
    assert files == {path.relative_to(ROOT).as_posix() for path in found}


def test_options_declare_what_settings_reads(monkeypatch):
    from mantle_provider import settings

    options = get_provider_info()["config"]["mantle"]["options"]
    assert set(options) == {
        "allowed_actions",
        "artifacts_path",
        "bundle_storage",
        "bundle_storage_days",
        "env_from_variables",
        "environment",
        "fail_fast_interval",
        "max_file_bytes",
        "max_output_bytes",
        "on_version_change",
    }
    assert settings.allowed_actions() == ("*",)
    assert str(settings.max_output_bytes()) == options["max_output_bytes"]["default"]
    assert str(settings.max_file_bytes()) == options["max_file_bytes"]["default"]
    assert settings.env_from_variables() is False
    assert settings.environment() is None
    assert settings.fail_fast_interval() == 5.0
    assert settings.on_version_change() == options["on_version_change"]["default"]


def test_what_to_do_about_another_version_is_warn_or_fail(monkeypatch):
    from mantle_provider import settings
    from mantle_provider.errors import ConfigurationError

    monkeypatch.setenv("AIRFLOW__MANTLE__ON_VERSION_CHANGE", "ignore")
    with pytest.raises(ConfigurationError) as caught:
        settings.on_version_change()
    assert str(caught.value) == '[mantle] on_version_change is "ignore"; it must be warn or fail'
    assert settings.bundle_storage() is None
    assert settings.bundle_storage_days() == 30


@pytest.mark.parametrize("text", ["0", "-1", "many"])
def test_a_wrong_limit_is_named_with_what_it_must_be(monkeypatch, text):
    from mantle_provider import settings
    from mantle_provider.errors import ConfigurationError

    monkeypatch.setenv("AIRFLOW__MANTLE__MAX_OUTPUT_BYTES", text)
    with pytest.raises(ConfigurationError) as caught:
        settings.max_output_bytes()
    assert str(caught.value) == (
        f'[mantle] max_output_bytes is "{text}"; it must be a whole number above 0'
    )
