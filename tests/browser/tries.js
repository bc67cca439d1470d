// Attacks that a foreign web page can try on a server of this machine, evaluated in that page: every kind of request
// that a browser lets it send, with a token and without. Returns what the page learns by each: `nothing`, or a status
// and a text.
async ({ server, token }) => {
    const bearer = { Authorization: `Bearer ${token}` };
    const json = { 'Content-Type': 'application/json' };
    const revision = '2026-07-28';
    const call = JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: {
            name: 'pane_open',
            arguments: {},
            _meta: {
                'io.modelcontextprotocol/protocolVersion': revision,
                'io.modelcontextprotocol/clientInfo': { name: 'elsewhere', version: '1' },
                'io.modelcontextprotocol/clientCapabilities': {},
            },
        },
    });
    const agent = {
        ...bearer,
        ...json,
        Accept: 'application/json, text/event-stream',
        'MCP-Protocol-Version': revision,
        'Mcp-Method': 'tools/call',
        'Mcp-Name': 'pane_open',
    };
    const stolen = JSON.stringify({ name: 'stolen', scope: 'admin' });
    const painted = JSON.stringify({ name: 'nord' });
    const plain = { mode: 'no-cors', credentials: 'include' };
    const learned = {};

    const fetched = async (path, options) => {
        const reply = await fetch(server + path, options);
        return reply.type === 'opaque' ? 'nothing' : `${reply.status} ${await reply.text()}`;
    };
    // An element that loads an address. A page learns only whether that succeeded (`loaded`).
    const loaded = (name, path) => new Promise((done) => {
        const element = document.createElement(name);
        element.onload = () => done('loaded');
        element.onerror = () => done('nothing');
        element.src = server + path;
        document.documentElement.append(element);
    });
    const socket = () => new Promise((done) => {
        const open = new WebSocket(`${server.replace('http', 'ws')}/mcp`);
        open.onopen = () => done('open');
        open.onerror = () => done('nothing');
    });
    const events = () => new Promise((done) => {
        const source = new EventSource(`${server}/api/events`);
        source.onopen = () => done('open');
        source.onerror = () => { source.close(); done('nothing'); };
    });
    // A form may post to any address, here with a body that can be parsed as JSON. Its frame reports when a reply
    // arrives.
    const posted = (path, body) => new Promise((done) => {
        const [frame, form, field] = ['iframe', 'form', 'input'].map((name) => document.createElement(name));
        frame.name = `answer${path}`;
        Object.assign(form, { action: server + path, method: 'post', enctype: 'text/plain', target: frame.name });
        Object.assign(field, { name: `${body.slice(0, -1)},"x":"`, value: '"}' });
        form.append(field);
        document.documentElement.append(frame, form);
        frame.onload = () => {
            let text = null;
            try {
                text = frame.contentDocument?.body.textContent;
            } catch {
                // The frame contains a page of another origin, which this page can't read.
            }
            done(text ? `shown: ${text}` : 'nothing');
        };
        form.submit();
    });

    const tries = {
        'look': () => fetched('/api/state'),
        'look with a token': () => fetched('/api/state', { headers: bearer }),
        'look blindly': () => fetched('/api/state', plain),
        'use a token as a code': () => fetched('/bootstrap.json', { headers: bearer }),
        'make a token': () => fetched('/api/tokens', { method: 'POST', headers: { ...bearer, ...json }, body: stolen }),
        'make a token blindly': () => fetched('/api/tokens', { ...plain, method: 'POST', body: stolen }),
        'set a theme': () => fetched('/api/theme', { method: 'POST', headers: bearer, body: painted }),
        'call a tool': () => fetched('/mcp', { method: 'POST', headers: agent, body: call }),
        'call a tool blindly': () => fetched('/mcp', { ...plain, method: 'POST', body: call }),
        'open a stream': () => fetched('/mcp', { headers: { ...bearer, Accept: 'text/event-stream' } }),
        'listen': events,
        'a socket': socket,
        'a script': () => loaded('script', '/page.js'),
        'a picture': () => loaded('img', '/favicon.ico?another'),
        'a form': () => posted('/api/theme', painted),
        'another form': () => posted('/mcp', call),
    };
    for (const [name, go] of Object.entries(tries)) {
        learned[name] = await go().catch(() => 'nothing');
    }
    return learned;
}
