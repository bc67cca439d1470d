"""Calls tools of a fleet's hub through the public Python SDK of the Model Context Protocol, over HTTP with
server-sent events (the transport of 2024).

    fleet.py URL CALLS    # CALLS: JSON, a list of [tool, arguments]; the token is in UNTERM_TOKEN

Prints the names of the tools and the reply to each call, as JSON.
"""

import json
import os
import sys
import warnings

import anyio
from mcp import Client, MCPDeprecationWarning
from mcp.client.sse import sse_client
from mcp_types import Implementation

# This test uses the deprecated transport of 2024 on purpose.
warnings.simplefilter("ignore", MCPDeprecationWarning)


async def main(url, calls):
    token = {"Authorization": f"Bearer {os.environ['UNTERM_TOKEN']}"}
    who = Implementation(name="fleet", version="1")
    async with Client(sse_client(url, headers=token), mode="legacy", client_info=who) as client:
        tools = [tool.name for tool in (await client.list_tools()).tools]
        replies = []
        for tool, arguments in calls:
            result = await client.call_tool(tool, arguments)
            replies.append({"text": result.content[0].text, "is_error": bool(result.is_error)})
        print(json.dumps({"tools": tools, "replies": replies}))


anyio.run(main, sys.argv[1], json.loads(sys.argv[2]))
