"""Fixtures and options that all tests share."""

from __future__ import annotations


def pytest_addoption(parser):
    parser.addoption(
        "--update-cases",
        action="store_true",
        help="write the expected files of the cases instead of comparing with them",
    )
