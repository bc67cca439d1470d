"""Connects the public Python SDK of the Model Context Protocol to Unterm, over stdio or HTTP."""

import os
import warnings
from contextlib import asynccontextmanager

from mcp import Client, MCPDeprecationWarning, StdioServerParameters
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp_types import Implementation

NEWEST = "2026-07-28"

# The tests also use features that newer revisions of the protocol have removed.
warnings.simplefilter("ignore", MCPDeprecationWarning)


class Door:
    """The address of an Unterm, with the transport and the protocol mode to use."""

    def __init__(self, mode, kind, target):
        self.mode, self.kind, self.target = mode, kind, target

    @asynccontextmanager
    async def client(self, toolset, name="driver", **callbacks):
        """Connects a client that sees one toolset. Disconnects it at the end of the `with` block."""
        callbacks |= {"mode": self.mode, "client_info": Implementation(name=name, version="1")}
        if self.kind == "stdio":
            arguments = ["mcp", "--toolset", toolset]
            server = StdioServerParameters(command=self.target, args=arguments, env=dict(os.environ))
            async with Client(server, **callbacks) as client:
                yield self.checked(client)
            return
        url = f"{self.target}?toolset={toolset}"
        token = {"Authorization": f"Bearer {os.environ['UNTERM_TOKEN']}"}
        if self.kind == "sse":
            async with Client(sse_client(url, headers=token), **callbacks) as client:
                yield self.checked(client)
            return
        async with create_mcp_http_client(headers=token) as http:
            async with Client(streamable_http_client(url, http_client=http), **callbacks) as client:
                yield self.checked(client)

    def checked(self, client):
        """Returns the client after checking its protocol revision and the server's name."""
        expected = "2025-11-25" if self.mode == "legacy" else NEWEST
        assert client.protocol_version == expected, client.protocol_version
        # If the mode is a revision, the client adopts it without a handshake, so the server has not sent its name.
        named = client.server_info
        assert named.name == "unterm" if named else self.mode == NEWEST, named
        return client


async def call(client, tool, **arguments):
    """Calls a tool that must succeed. Returns its typed reply, which the SDK has checked against the tool's schema."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, (tool, arguments, result.content)
    return result.structured_content
