"""What Airflow reads to list this provider: one literal, no imports."""

from __future__ import annotations

from typing import Any


def get_provider_info() -> dict[str, Any]:
    """Return the provider's description in Airflow's ``provider_info`` schema."""
    return {
        "package-name": "airflow-provider-mantle",
        "name": "Mantle",
        "description": "Mantle workflow YAML as Airflow Dags, with exact lifecycle hooks.",
        "integrations": [
            {
                "integration-name": "Mantle",
                "external-doc-url": "https://github.com/dvflw/mantle",
                "tags": ["software"],
            }
        ],
        "config": {
            "mantle": {
                "description": "Options of airflow-provider-mantle.",
                "options": {
                    "allowed_actions": {
                        "description": (
                            "Comma-separated globs of the actions that workflows may use, for "
                            "example ``http/*, python/call``. Enforced when a file is checked and "
                            "again when a step runs."
                        ),
                        "version_added": "0.1.0",
                        "type": "string",
                        "example": "http/*, python/call",
                        "default": "*",
                    },
                    "max_output_bytes": {
                        "description": (
                            "Largest output of a step, in bytes of its compact JSON. A larger "
                            "one fails the step."
                        ),
                        "version_added": "0.1.0",
                        "type": "integer",
                        "example": None,
                        "default": "1048576",
                    },
                    "max_file_bytes": {
                        "description": "Largest workflow file, in bytes.",
                        "version_added": "0.1.0",
                        "type": "integer",
                        "example": None,
                        "default": "1048576",
                    },
                    "environment": {
                        "description": (
                            "Named environment of this Airflow. The file "
                            "``values/<environment>.yaml`` of each folder of workflows then gives "
                            "inputs other defaults, and ``env.X`` its values. Empty: none."
                        ),
                        "version_added": "0.1.0",
                        "type": "string",
                        "example": "prod",
                        "default": "",
                    },
                    "fail_fast_interval": {
                        "description": (
                            "Seconds between two looks at the run by a step of a workflow with "
                            "``fail_fast``. Each look is one call to the API server."
                        ),
                        "version_added": "0.1.0",
                        "type": "float",
                        "example": None,
                        "default": "5",
                    },
                    "bundle_storage": {
                        "description": (
                            "Folder that keeps the stubs of each version of a "
                            "``MantleDagBundle``, so that a run keeps the graph it started with. "
                            "Workers on other machines need it shared, unless the bundle has an "
                            "inner bundle with versions. Empty: in the bundle's own storage, "
                            "below ``[dag_processor] dag_bundle_storage_path``."
                        ),
                        "version_added": "0.1.0",
                        "type": "string",
                        "example": "/mnt/shared/mantle",
                        "default": "",
                    },
                    "bundle_storage_days": {
                        "description": (
                            "Days that a version is kept after a task or the Dag processor has "
                            "used it. Must be longer than a run may wait without starting a task."
                        ),
                        "version_added": "0.1.0",
                        "type": "integer",
                        "example": None,
                        "default": "30",
                    },
                    "artifacts_path": {
                        "description": (
                            "Where the files under ``artifacts`` are kept: a URL that "
                            "``ObjectStoragePath`` reads, for example ``s3://conn@bucket/prefix``, "
                            "or an absolute path. Empty: the folder ``mantle_artifacts`` in "
                            "``AIRFLOW_HOME``, which fits one machine only; with several workers, "
                            "name a store that all of them reach."
                        ),
                        "version_added": "0.1.0",
                        "type": "string",
                        "example": "s3://conn@bucket/prefix",
                        "default": "",
                    },
                    "on_version_change": {
                        "description": (
                            "What is done about a run that goes on under another version of its "
                            "workflow than the one it started with, which a versioned Dag bundle "
                            "rules out. ``warn``: the outcome says so in its log and state. "
                            "``fail``: steps that start under the other version fail, and with "
                            "them the workflow; hooks run."
                        ),
                        "version_added": "0.1.0",
                        "type": "string",
                        "example": "fail",
                        "default": "warn",
                    },
                    "env_from_variables": {
                        "description": (
                            "Whether ``env.X`` also reads the Airflow Variable ``mantle_env_X``. "
                            "The environment variable ``MANTLE_ENV_X`` and the named environment "
                            "win."
                        ),
                        "version_added": "0.1.0",
                        "type": "boolean",
                        "example": None,
                        "default": "False",
                    },
                },
            }
        },
    }
