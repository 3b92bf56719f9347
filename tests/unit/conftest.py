"""A folder of workflow files, for the tests of what they share."""

from __future__ import annotations

import pytest

from mantle_provider.check import CheckOptions, check_text
from mantle_provider.diagnostics import render_text
from mantle_provider.folder import WorkflowFolder


@pytest.fixture
def project(tmp_path):
    """A folder with files, and the check of one of them."""

    class Project:
        root = tmp_path

        def write(self, path, text):
            file = tmp_path / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
            return file

        def check(self, path="flow.yaml", text=None, **options):
            if text is not None:
                self.write(path, text)
            options = CheckOptions(**options)
            folder = WorkflowFolder(tmp_path, max_file_bytes=options.max_file_bytes)
            return check_text((tmp_path / path).read_bytes(), path, options, folder)

        def workflow(self, *arguments, **options):
            result = self.check(*arguments, **options)
            assert render_text(result.report) == ""
            return result.workflow

    return Project()
