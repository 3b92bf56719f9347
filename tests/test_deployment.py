"""The files that the deployment page shows fit Airflow and this package."""

from __future__ import annotations

import json
from pathlib import Path

import yaml

from mantle_provider.provider_info import get_provider_info

FOLDER = Path(__file__).parents[1] / "docs" / "how-to" / "deploy"
COMPONENTS = {
    "airflow-apiserver",
    "airflow-dag-processor",
    "airflow-scheduler",
    "airflow-triggerer",
    "airflow-worker",
    "airflow-worker-large",
}
BUNDLE = {
    "name": "mantle",
    "classpath": "mantle_provider.builder.bundle.MantleDagBundle",
    "kwargs": {"path": "/opt/airflow/workflows"},
}
HEARTBEATS = {
    ("workers", "min_heartbeat_interval"): 1,
    ("scheduler", "task_instance_heartbeat_timeout"): 120,
}


def load(name):
    return yaml.safe_load((FOLDER / name).read_text())


def test_compose_gives_every_component_the_bundle_and_the_heartbeats():
    services = load("compose.override.yaml")["services"]
    assert services.keys() == COMPONENTS
    for service in services.values():
        options = dict(service["environment"])
        assert json.loads(options.pop("AIRFLOW__DAG_PROCESSOR__DAG_BUNDLE_CONFIG_LIST")) == [BUNDLE]
        assert options == {
            f"AIRFLOW__{section}__{option}".upper(): str(value)
            for (section, option), value in HEARTBEATS.items()
        }


def test_helm_gives_all_the_bundle_and_the_heartbeats():
    values = load("helm-values.yaml")
    assert values["dagProcessor"]["dagBundleConfigList"] == [BUNDLE]
    options = {
        (section, option): value
        for section, given in values["config"].items()
        for option, value in given.items()
    }
    assert options == HEARTBEATS


def test_the_settings_of_ours_that_the_page_names_exist():
    page = (FOLDER.parent / "deploy.md").read_text()
    assert "`[mantle] fail_fast_interval` | 5 |" in page
    options = get_provider_info()["config"]["mantle"]["options"]
    assert options["fail_fast_interval"]["default"] == "5"
