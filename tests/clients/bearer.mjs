// A loopback proxy that adds a token to every request, because the conformance suite has no option for extra headers.
//
//     UNTERM_TOKEN=… node bearer.mjs http://127.0.0.1:PORT
//
// Prints its port, and ends when its standard input ends. If Host or Origin names the proxy, the proxy replaces the
// name with the server's. It forwards every other name unchanged, so that the server can refuse the request.

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
    // If one side closes its connection, close the other side's too. A client that hangs up has canceled its request.
    reply.on("close", () => onward.destroy());
    onward.on("error", () => reply.destroy());
    request.pipe(onward);
});
proxy.listen(0, "127.0.0.1", () => console.log(proxy.address().port));
process.stdin.on("end", () => process.exit(0)).resume();
