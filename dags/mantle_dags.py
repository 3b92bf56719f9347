"""Load the workflows beside this file, where no Dag bundle can be configured.

Airflow reads a Python file of the dags folder only if it holds the words "airflow" and "dag".
"""

from __future__ import annotations

from pathlib import Path

from mantle_provider import load_airflow_dags

globals().update(load_airflow_dags(Path(__file__).parent / "workflows"))
