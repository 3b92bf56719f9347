"""YAML text, and where each value stands in it. Pure; knows nothing of the language.

Import from the modules: :mod:`.span` is needed below :mod:`mantle_provider.diagnostics`, and
:mod:`.reader` above it.
"""
