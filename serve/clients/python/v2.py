"""The Python SDK, version 2: it asks what is spoken, and speaks 2026-07-28 unless it is told to begin with `initialize`."""

import asyncio

from mcp import Client, StdioServerParameters, types

from walk import Walk, target


class Asking(Client):
    async def read(self, uri):
        return await self.read_resource(uri)

    def reference(self, prompt):
        return types.PromptReference(type="ref/prompt", name=prompt)


async def main():
    plan, url, version, command = target()
    server = url or StdioServerParameters(command=command[0], args=command[1:])
    mode = "auto" if version == "2026-07-28" else "legacy"
    async with Asking(server, mode=mode) as client:
        await Walk(plan).run(client, client.protocol_version, version)


asyncio.run(main())
