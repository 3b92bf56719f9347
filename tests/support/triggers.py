"""Triggers that the tests wait for."""

from __future__ import annotations

import asyncio

from airflow.triggers.base import BaseTrigger, TriggerEvent


class Recording(BaseTrigger):
    def __init__(self):
        super().__init__()
        self.calls = []

    def serialize(self):
        return f"{type(self).__module__}.{type(self).__name__}", {}

    async def cleanup(self):
        self.calls.append("cleanup")

    async def on_kill(self):
        self.calls.append("on_kill")


class Count(Recording):
    def __init__(self, to):
        super().__init__()
        self.to = to

    async def run(self):
        for number in range(self.to):
            yield TriggerEvent(number)


class Never(Recording):
    async def run(self):
        await asyncio.Event().wait()
        yield TriggerEvent("never")


class Broken(Recording):
    async def run(self):
        raise ValueError("broken")
        yield TriggerEvent("never")
