"""The importer on Airflow 3.3; tests/airflow34 has the tests of what it does."""

from __future__ import annotations

import pytest

from mantle_provider.builder.importer import MantleDagImporter
from mantle_provider.errors import ConfigurationError


def test_the_importer_says_what_to_use_on_airflow_3_3():
    message = "MantleDagImporter needs Airflow 3.4; configure MantleDagBundle instead"
    with pytest.raises(ConfigurationError, match=f"^{message}$"):
        MantleDagImporter()
