"""Drives Unterm through FastMCP's client: connects, lists the tools, runs a command, waits for another command, reads
the screen. sdk.mjs performs the same steps through other clients.

    fast.py stdio PROGRAM    # PROGRAM: unterm-cli
    fast.py http URL         # the token is in UNTERM_TOKEN; `sse` instead of `http` selects the transport of 2024
"""

import asyncio
import os
import sys

from fastmcp import Client
from fastmcp.client.transports import SSETransport, StdioTransport, StreamableHttpTransport


def transport(kind, target):
    if kind == "stdio":
        return StdioTransport(command=target, args=["mcp"], env=dict(os.environ))
    headers = {"Authorization": f"Bearer {os.environ['UNTERM_TOKEN']}"}
    return {"http": StreamableHttpTransport, "sse": SSETransport}[kind](target, headers=headers)


async def main(kind, target):
    async with Client(transport(kind, target)) as client:

        async def call(tool, **arguments):
            return (await client.call_tool(tool, arguments)).structured_content

        tools = await client.list_tools()
        assert len(tools) > 10, tools
        pane = (await call("pane_open", command=["bash"], cols=80, rows=24))["pane"]
        ran = await call("run", pane=pane, command="echo $((6 * 7)); (exit 3)")
        assert (ran["output"], ran["exit_code"]) == ("42", 3), ran
        asks = await call("run", pane=pane, command="read -r -p 'Go on? ' A; echo \"got $A\"")
        assert not asks["ended"] and asks["awaiting_input"], asks
        await call("input", pane=pane, text="yes\n")
        run = (await call("wait", handle=asks["handle"]))["run"]
        assert run["ended"] and run["output"].endswith("got yes"), run
        assert "got yes" in (await call("screen", pane=pane))["text"].splitlines()
        await call("pane_close", pane=pane)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
