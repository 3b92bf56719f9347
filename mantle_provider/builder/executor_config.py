"""What a step hands to its executor, in the form that the executor takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

POD_OVERRIDE = "pod_override"


def executor_config(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return a step's ``executor_config`` with a pod written in YAML made into a pod.

    KubernetesExecutor takes ``pod_override`` as an object of the Kubernetes client only
    (``PodGenerator.from_obj``). Where its provider is not installed the executor cannot be used,
    and all stays as it is, as do all other keys everywhere.
    """
    config = dict(given)
    pod = config.get(POD_OVERRIDE)
    if isinstance(pod, Mapping):
        try:
            from airflow.providers.cncf.kubernetes.pod_generator import (  # type: ignore[import-not-found]  # noqa: PLC0415  # not a dependency
                PodGenerator,
            )
        except ImportError:
            return config
        config[POD_OVERRIDE] = PodGenerator.deserialize_model_dict(pod)
    return config
