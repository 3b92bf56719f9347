"""The ``[mantle]`` options of Airflow's configuration, read when they are asked for.

Declared, with their defaults, in :mod:`mantle_provider.provider_info`. The defaults stand here a
second time because a task process may read options before Airflow has loaded its providers.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

from airflow.sdk.configuration import conf

from mantle_provider.errors import ConfigurationError

_MEBIBYTE = 1_048_576
_SHORTEST_INTERVAL_SECONDS = 0.1
_DAY_SECONDS = 86_400.0
_BUNDLE_STORAGE_DAYS = 30


def allowed_actions() -> tuple[str, ...]:
    """Return the globs of the actions that workflows may use."""
    globs = conf.get("mantle", "allowed_actions", fallback="*")
    return tuple(glob for part in globs.split(",") if (glob := part.strip()))


def max_output_bytes() -> int:
    """Return the largest output of a step, in bytes of its compact JSON."""
    return _positive_int("max_output_bytes")


def max_file_bytes() -> int:
    """Return the largest workflow file, in bytes."""
    return _positive_int("max_file_bytes")


def environment() -> str | None:
    """Return the named environment whose values apply, ``None`` for none."""
    return str(conf.get("mantle", "environment", fallback="") or "").strip() or None


def fail_fast_interval() -> float:
    """Return the seconds between two looks at the run by a step under ``fail_fast``."""
    text = conf.get("mantle", "fail_fast_interval", fallback="5")
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not _SHORTEST_INTERVAL_SECONDS <= value <= _DAY_SECONDS:
        raise ConfigurationError(
            f'[mantle] fail_fast_interval is "{text}"; it must be a number of seconds from 0.1'
        )
    return value


def bundle_storage() -> str | None:
    """Return the folder that keeps the versions of all bundles, if one is named."""
    return conf.get("mantle", "bundle_storage", fallback="").strip() or None


def bundle_storage_days() -> int:
    """Return the days that a version of a bundle is kept after its last use."""
    return _positive_int("bundle_storage_days", _BUNDLE_STORAGE_DAYS)


def artifacts_path() -> str:
    """Return the URL of the folder that artifacts are kept in, without a slash at its end.

    :raises ConfigurationError: when it is neither a URL nor an absolute path.
    """
    text = str(conf.get("mantle", "artifacts_path", fallback="") or "").strip()
    if not text:
        home = Path(os.environ.get("AIRFLOW_HOME") or "~/airflow").expanduser()
        return f"file://{(home / 'mantle_artifacts').absolute()}"
    if "://" in text:
        return text.rstrip("/")
    if not Path(text).is_absolute():
        raise ConfigurationError(
            f'[mantle] artifacts_path is "{text}"; it must be an absolute path, or a URL such as '
            "s3://conn@bucket/prefix"
        )
    return f"file://{text.rstrip('/')}"


def on_version_change() -> Literal["warn", "fail"]:
    """Return what is done about a run that goes on under another version of its workflow."""
    text = conf.get("mantle", "on_version_change", fallback="warn")
    if text == "warn":
        return "warn"
    if text == "fail":
        return "fail"
    raise ConfigurationError(f'[mantle] on_version_change is "{text}"; it must be warn or fail')


def env_from_variables() -> bool:
    """Whether ``env.X`` also reads the Airflow Variable ``mantle_env_X``."""
    return bool(conf.getboolean("mantle", "env_from_variables", fallback=False))


def _positive_int(option: str, default: int = _MEBIBYTE) -> int:
    text = conf.get("mantle", option, fallback=str(default))
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value < 1:
        raise ConfigurationError(
            f'[mantle] {option} is "{text}"; it must be a whole number above 0'
        )
    return value
