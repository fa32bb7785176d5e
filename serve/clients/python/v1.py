"""The Python SDK, version 1: it knows revisions up to 2025-11-25."""

import asyncio

from mcp import ClientSession, StdioServerParameters, types
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from pydantic import AnyUrl

from walk import Walk, target


class Session(ClientSession):
    async def read(self, uri):
        return await self.read_resource(AnyUrl(uri))

    def reference(self, prompt):
        return types.PromptReference(type="ref/prompt", name=prompt)


async def main():
    plan, url, version, command = target()
    if url:
        transport = streamable_http_client(url)
    else:
        transport = stdio_client(StdioServerParameters(command=command[0], args=command[1:]))
    async with transport as streams, Session(streams[0], streams[1]) as session:
        started = await session.initialize()
        await Walk(plan).run(session, str(started.protocolVersion), version)


asyncio.run(main())
