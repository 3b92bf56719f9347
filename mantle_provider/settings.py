"""The ``[mantle]`` options of Airflow's configuration, read when they are asked for.

Declared, with their defaults, in :mod:`mantle_provider.provider_info`. The defaults stand here a
second time because a task process may read options before Airflow has loaded its providers.
"""

from __future__ import annotations

from airflow.sdk.configuration import conf

from mantle_provider.errors import ConfigurationError

_MEBIBYTE = 1_048_576


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


def env_from_variables() -> bool:
    """Whether ``env.X`` also reads the Airflow Variable ``mantle_env_X``."""
    return bool(conf.getboolean("mantle", "env_from_variables", fallback=False))


def _positive_int(option: str) -> int:
    text = conf.get("mantle", option, fallback=str(_MEBIBYTE))
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value < 1:
        raise ConfigurationError(
            f'[mantle] {option} is "{text}"; it must be a whole number above 0'
        )
    return value
