"""Import what a workflow names by its dotted path."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from mantle_provider.errors import ConfigurationError


def import_name(path: str) -> Any:  # noqa: ANN401  # whatever the path names
    """Return the object at a dotted path, ``package.module.name``.

    :raises ConfigurationError: when there is no such module or name. An error inside the module
        is raised as it is, for it is the module's.
    """
    module_path, _, name = path.rpartition(".")
    if not module_path or not all(part.isidentifier() for part in path.split(".")):
        raise ConfigurationError(f'"{path}" is no dotted path; write "package.module.name"')
    try:
        module = import_module(module_path)
    except ModuleNotFoundError as error:
        # The module itself, or a parent of it, is missing; anything else is missing inside it.
        if error.name is None or not f"{module_path}.".startswith(f"{error.name}."):
            raise
        raise ConfigurationError(
            f'cannot import "{path}": there is no module "{error.name}"'
        ) from error
    try:
        return getattr(module, name)
    except AttributeError as error:
        raise ConfigurationError(
            f'cannot import "{path}": module "{module_path}" has no "{name}"'
        ) from error
