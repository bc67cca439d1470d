// A loopback proxy that adds a token to every request: the conformance suite has no option for headers of its own.
//
//     UNTERM_TOKEN=… node bearer.mjs http://127.0.0.1:PORT
//
// Prints the port it listens on, and ends when its standard input does. Its own name in Host and Origin becomes the
// server's; every other one is passed on as it is, for the server to refuse.

import http from "node:http";

const server = new URL(process.argv[2]);
const token = process.env.UNTERM_TOKEN;

const proxy = http.createServer((request, reply) => {
    const own = `127.0.0.1:${proxy.address().port}`;
    const headers = { ...request.headers, authorization: `Bearer ${token}` };
    if (headers.host === own || headers.host === `localhost:${proxy.address().port}`) headers.host = server.host;
    if (headers.origin?.endsWith(own)) headers.origin = server.origin;
    const passed = { host: server.hostname, port: server.port, method: request.method, path: request.url, headers };
    const onward = http.request(passed, (answer) => {
        reply.writeHead(answer.statusCode, answer.rawHeaders);
        answer.pipe(reply);
    });
    // Whoever goes first takes the other side along: a client that hangs up has given its request up.
    reply.on("close", () => onward.destroy());
    onward.on("error", () => reply.destroy());
    request.pipe(onward);
});
proxy.listen(0, "127.0.0.1", () => console.log(proxy.address().port));
process.stdin.on("end", () => process.exit(0)).resume();
