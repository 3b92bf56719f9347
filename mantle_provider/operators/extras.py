"""What to say when the provider of an action is not installed."""

from __future__ import annotations

from mantle_provider.errors import ConfigurationError


def missing_extra(action: str, extra: str) -> ConfigurationError:
    """Return the error that names the package to install."""
    return ConfigurationError(
        f'{action} needs the extra "{extra}": pip install "airflow-provider-mantle[{extra}]"'
    )
