// Drives Unterm through both major versions of the TypeScript SDK, and through mcp-remote: connects, lists the tools,
// runs a command, waits for another command, reads the screen.
//
//     node sdk.mjs FOLDER stdio PROGRAM    # FOLDER: with node_modules; PROGRAM: unterm-cli
//     node sdk.mjs FOLDER http URL         # the token is in UNTERM_TOKEN; `sse` instead of `http` selects the transport of 2024
//     node sdk.mjs FOLDER remote URL       # over stdio to mcp-remote, which forwards by HTTP; or `remote-sse`

import assert from "node:assert/strict";
import { createRequire } from "node:module";

const [folder, kind, target] = process.argv.slice(2);
const require = createRequire(`${folder}/`);
const headers = { Authorization: `Bearer ${process.env.UNTERM_TOKEN}` };
const info = { name: "typescript", version: "1" };

/** The modules of each major version of the SDK. */
const versions = {
    1: {
        ...require("@modelcontextprotocol/sdk/client/index.js"),
        ...require("@modelcontextprotocol/sdk/client/stdio.js"),
        ...require("@modelcontextprotocol/sdk/client/streamableHttp.js"),
        ...require("@modelcontextprotocol/sdk/client/sse.js"),
    },
    2: {
        ...require("@modelcontextprotocol/client"),
        ...require("@modelcontextprotocol/client/stdio"),
    },
};

/** Creates the transport that the command line selects. */
function transport(sdk) {
    const remote = (strategy) => {
        const proxy = `${folder}/node_modules/mcp-remote/dist/proxy.js`;
        const bearer = "Authorization: Bearer ${UNTERM_TOKEN}";
        return [process.execPath, proxy, target, "--transport", strategy, "--header", bearer];
    };
    const spawned = ([command, ...args]) => new sdk.StdioClientTransport({ command, args, env: { ...process.env } });
    switch (kind) {
        case "stdio":
            return spawned([target, "mcp"]);
        case "remote":
            return spawned(remote("http-only"));
        case "remote-sse":
            return spawned(remote("sse-only"));
        case "http":
            return new sdk.StreamableHTTPClientTransport(new URL(target), { requestInit: { headers } });
        case "sse":
            return new sdk.SSEClientTransport(new URL(target), { requestInit: { headers } });
        default:
            throw new Error(`there is no kind ${kind}`);
    }
}

async function drive(version, options) {
    const sdk = versions[version];
    const client = new sdk.Client(info, options);
    await client.connect(transport(sdk));
    const call = async (name, args) => {
        const result = await client.callTool({ name, arguments: args });
        assert.ok(!result.isError, JSON.stringify(result));
        return result.structuredContent;
    };
    const { tools } = await client.listTools();
    assert.ok(tools.length > 10, `${tools.length} tools`);
    const { pane } = await call("pane_open", { command: ["bash"], cols: 80, rows: 24 });
    const ran = await call("run", { pane, command: "echo $((6 * 7)); (exit 3)" });
    assert.deepEqual([ran.output, ran.exit_code], ["42", 3]);
    const asks = await call("run", { pane, command: "read -r -p 'Go on? ' A; echo \"got $A\"" });
    assert.ok(!asks.ended && asks.awaiting_input, JSON.stringify(asks));
    await call("input", { pane, text: "yes\n" });
    const { run } = await call("wait", { handle: asks.handle });
    assert.ok(run.ended && run.output.endsWith("got yes"), JSON.stringify(run));
    const { text } = await call("screen", { pane });
    assert.ok(text.split("\n").includes("got yes"), text);
    await call("pane_close", { pane });
    await client.close();
}

await drive(1, {});
await drive(2, {});
// Revision 2026-07-28 does not allow the transport of 2024, and mcp-remote supports only older revisions.
if (kind === "stdio" || kind === "http") await drive(2, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
process.exit(0);
