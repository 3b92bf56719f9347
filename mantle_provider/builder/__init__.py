"""From plans and files to Airflow Dags: builder, loader of folders, Dag bundle.

Imports nothing itself: Airflow imports :mod:`mantle_provider.builder.bundle` while it reads its
configuration, long before any Dag is built.
"""
