"""Where a step runs, as far as that can be told without a cluster."""

from __future__ import annotations

import pytest
from airflow.serialization.serialized_objects import DagSerialization

from mantle_provider.builder.build import build_dag
from mantle_provider.builder.executor_config import executor_config
from mantle_provider.check import check_text
from mantle_provider.plan.planner import plan_workflow

WORKFLOW = """
name: placed
airflow: { executor: KubernetesExecutor, queue: all, pool: shared }
steps:
  - name: large
    action: bash/run
    params: { command: make model }
    airflow:
      queue: large
      executor_config:
        pod_override:
          metadata:
            labels: { team: data }
          spec:
            nodeSelector: { disk: ssd }
            containers:
              - name: base
                resources:
                  requests: { cpu: "2", memory: 8Gi }
  - name: usual
    action: bash/run
    params: { command: ls }
hooks:
  on_finish:
    - name: clean
      action: bash/run
      params: { command: rm }
      airflow: { executor: LocalExecutor, pool: cleaning }
"""


@pytest.fixture
def dag():
    return build_dag(plan_workflow(check_text(WORKFLOW).workflow))


@pytest.fixture
def round_tripped(dag):
    """The Dag as the scheduler sees it."""
    return DagSerialization.from_dict(DagSerialization.to_dict(dag))


def test_what_a_step_says_beats_what_the_workflow_says(round_tripped):
    places = {
        task_id: (task.executor, task.queue, task.pool)
        for task_id in ("large", "usual", "workflow_outcome", "on_finish.clean")
        if (task := round_tripped.get_task(task_id))
    }
    shared = ("KubernetesExecutor", "all", "shared")
    assert places == {
        "large": ("KubernetesExecutor", "large", "shared"),
        "usual": shared,
        "workflow_outcome": shared,
        "on_finish.clean": ("LocalExecutor", "all", "cleaning"),
    }


def test_other_keys_arrive_unchanged():
    given = {"overrides": {"cpu": 2, "tags": ["a"]}, "note": None}
    assert executor_config(given) == given


def test_a_pod_that_is_an_object_already_stays():
    pod = object()
    assert executor_config({"pod_override": pod})["pod_override"] is pod


def test_a_pod_in_yaml_becomes_the_pod_that_the_executor_starts(round_tripped):
    """Rendered as KubernetesExecutor does it, with its own code and without a cluster."""
    pod_generator = pytest.importorskip("airflow.providers.cncf.kubernetes.pod_generator")
    from kubernetes.client import models as k8s

    override = pod_generator.PodGenerator.from_obj(round_tripped.get_task("large").executor_config)
    base = k8s.V1Pod(
        metadata=k8s.V1ObjectMeta(labels={"tier": "airflow"}),
        spec=k8s.V1PodSpec(containers=[k8s.V1Container(name="base", image="airflow:3.3.2")]),
    )
    pod = pod_generator.PodGenerator.reconcile_pods(base, override)
    assert pod.metadata.labels == {"tier": "airflow", "team": "data"}
    assert pod.spec.node_selector == {"disk": "ssd"}
    (container,) = pod.spec.containers
    assert (container.image, container.resources.requests) == (
        "airflow:3.3.2",
        {"cpu": "2", "memory": "8Gi"},
    )


def test_without_the_kubernetes_provider_a_pod_in_yaml_stays_as_it_is(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "airflow.providers.cncf.kubernetes.pod_generator", None)
    given = {"pod_override": {"spec": {"nodeSelector": {"disk": "ssd"}}}}
    assert executor_config(given) == given
