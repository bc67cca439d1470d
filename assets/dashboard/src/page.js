// The hub's dashboard: its state, the requests it sends, and the live view of a pane. All texts come from the server, and are
// shown as text, never as markup. What a pane prints is hostile: it must not make the page send, open, copy or rename anything.
'use strict';

const TABS = ['machines', 'mirror', 'tokens', 'passkeys', 'audit'];
const LANGUAGE = 'unterm-dashboard-language';
// The secret of the sign-in, which each request carries. A cookie would go to every server on this host.
const SECRET = 'unterm-dashboard-secret';
// The calls that the mirror keeps.
const CALLS_KEPT = 500;
// Milliseconds between two updates of the mirror, and between two requests for the overview.
const CALLS_APART = 200;
const OVERVIEWS_APART = 250;
// Milliseconds until the first attempt to reconnect. Each further one waits twice as long, up to the limit.
const RETRY = 250;
const RETRY_LIMIT = 5000;
// Milliseconds without a key press until the audit log is searched.
const SEARCH_DELAY = 250;
// Milliseconds until a request counts as unanswered.
const REQUEST_TIMEOUT = 15000;
// The same for the release of a line: the command of a tool may take this long.
const RELEASE_TIMEOUT = 75000;
const AUDIT_PAGE = 100;
const PASSKEY_LOGIN = '/api/login/passkey';
const RIGHTS = ['list', 'read', 'send', 'admin'];
// Seconds until a token expires; empty: never.
const ENDS = ['3600', '86400', '604800', '2592000', '7776000', ''];
const blankToken = () => ({ name: '', rights: ['list', 'read', 'send'], some: false, machines: [], ends: '2592000' });
const NOTHING = { hub: '', version: '', may_act: false, stopped: false, machines: [], conversations: [], lines: [], tokens: [], passkeys: [], passkey_host: null };
const blankPasskey = () => ({ name: '', isReadOnly: false });
const CLOSED = { machine: '', sid: '', status: '', reason: '', gap: '', fault: '', typing: false };
// Shown when even the words can't be loaded.
const NO_WORDS = { 'error.offline': 'The hub does not respond.' };

const sleep = (milliseconds) => new Promise((go) => setTimeout(go, milliseconds));

/** Sends a request. Throws the server's reason when it refuses, and an error marked `offline` when it does not answer. */
async function send(path, request) {
    // The browser's own words ("Failed to fetch") help nobody.
    const secret = sessionStorage.getItem(SECRET);
    const headers = { ...request.headers, ...(secret && { Authorization: `Bearer ${secret}` }) };
    const offline = (error) => { throw error.name === 'AbortError' ? error : Object.assign(new Error('offline'), { offline: true }); };
    const reply = await fetch(path, { ...request, headers }).catch(offline);
    if (reply.ok) return reply;
    const text = await reply.text().catch(offline);
    let reason;
    try {
        reason = JSON.parse(text).error;
    } catch {
        // A proxy in between answers with a page of its own.
    }
    throw Object.assign(new Error(reason || reply.statusText || String(reply.status)), { status: reply.status });
}

/** The JSON of a reply; undefined if the reply has no content. */
async function ask(path, body, timeout = REQUEST_TIMEOUT) {
    const post = body === undefined ? {} : { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) };
    const reply = await send(path, { ...post, signal: AbortSignal.timeout(timeout) });
    return reply.status === 204 ? undefined : reply.json();
}

/**
 * Reads a stream of server-sent events, and awaits `handle(name, data)` for each in turn, so that a slow page slows the sender
 * down. EventSource can't do that, and hides why the server refused. Returns when the stream ends.
 */
async function readEvents(path, signal, opened, handle) {
    const reply = await send(path, { headers: { Accept: 'text/event-stream' }, signal });
    opened();
    const text = reply.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = '';
    try {
        for (;;) {
            const { value, done } = await text.read();
            if (done) return;
            const events = (rest + value).split('\n\n');
            rest = events.pop();
            for (const event of events) {
                const field = (name) => event.split('\n').filter((line) => line.startsWith(`${name}:`)).map((line) => line.slice(name.length + 1).replace(/^ /, ''));
                const [name] = field('event');
                if (name && !signal.aborted) await handle(name, field('data').join('\n'));
            }
        }
    } finally {
        // A browser opens few connections to a server: one that is not closed would keep the next request waiting.
        text.cancel().catch(() => {});
    }
}

/** Waits until the page is shown, or is not needed any more. */
function shown(signal) {
    if (!document.hidden) return Promise.resolve();
    return new Promise((go) => {
        document.addEventListener('visibilitychange', go, { once: true, signal });
        signal.addEventListener('abort', go, { once: true });
    }).then(() => (signal.aborted ? undefined : shown(signal)));
}

/** A function that runs `load`: at most one run is under way, and one waits behind it. `load` must not throw. */
function coalesced(load) {
    let [gate, behind] = [Promise.resolve(), null];
    return () => {
        behind ??= gate.then(() => {
            behind = null;
            const run = load();
            gate = Promise.all([run, sleep(OVERVIEWS_APART)]);
            return run;
        });
        return behind;
    };
}

/** The part of an address between two slashes; empty if it is malformed. */
function decoded(part) {
    try {
        return decodeURIComponent(part);
    } catch {
        return '';
    }
}

/** The code of the available language that fits best; empty if none does. */
function bestLanguage(wanted, languages) {
    const codes = languages.map((language) => language.code);
    const [primary, ...rest] = wanted.toLowerCase().split('-');
    const isTraditional = primary === 'zh' && rest.some((part) => ['hant', 'tw', 'hk', 'mo'].includes(part));
    if (isTraditional && codes.includes('zh-TW')) return 'zh-TW';
    const isExact = (code) => code.toLowerCase() === wanted.toLowerCase();
    return codes.find(isExact) ?? codes.find((code) => code.toLowerCase().split('-')[0] === primary) ?? '';
}

// Passkeys. WebAuthn's own conversions from and to JSON are missing in older browsers, and in the answers of some password managers.

const HAS_PASSKEYS = Boolean(window.PublicKeyCredential && navigator.credentials);
const toBytes = (base64url) => Uint8Array.from(atob(base64url.replaceAll('-', '+').replaceAll('_', '/')), (letter) => letter.charCodeAt(0));
const fromBytes = (bytes) => bytes && btoa(String.fromCharCode(...new Uint8Array(bytes))).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');

/** The JSON of a browser's answer, with these fields of its response. */
function passkeyAnswer(credential, fields) {
    const response = Object.fromEntries(fields.map((name) => [name, fromBytes(credential.response[name])]));
    return { id: credential.id, rawId: fromBytes(credential.rawId), type: credential.type, response };
}

/** Lets the browser make a passkey. */
async function makePasskey(options) {
    const excludeCredentials = (options.excludeCredentials ?? []).map((known) => ({ ...known, id: toBytes(known.id) }));
    const publicKey = { ...options, challenge: toBytes(options.challenge), user: { ...options.user, id: toBytes(options.user.id) }, excludeCredentials };
    return passkeyAnswer(await navigator.credentials.create({ publicKey }), ['attestationObject', 'clientDataJSON']);
}

/** Lets the user choose a passkey, and signs the challenge with it. */
async function usePasskey(options) {
    const publicKey = { ...options, challenge: toBytes(options.challenge) };
    return passkeyAnswer(await navigator.credentials.get({ publicKey }), ['authenticatorData', 'clientDataJSON', 'signature', 'userHandle']);
}

// The live view of a pane.

const FONT = '"JetBrains Mono", ui-monospace, "Cascadia Mono", Menlo, Consolas, monospace';
// Pixels. The text shrinks within this range until the columns of the pane fit; below it, the view scrolls.
const FONT_SIZES = { least: 8, most: 14 };
// Cells. A pane that reports more is cut.
const GRID_LIMIT = { cols: 1000, rows: 500 };
const SCROLLBACK = 1000;
const DARK = matchMedia('(prefers-color-scheme: dark)');
const COLORS = {
    dark: {
        background: '#181825', foreground: '#cdd6f4', cursor: '#f5e0dc', cursorAccent: '#181825', selectionBackground: '#585b70',
        black: '#45475a', red: '#f38ba8', green: '#a6e3a1', yellow: '#f9e2af', blue: '#89b4fa', magenta: '#f5c2e7', cyan: '#94e2d5', white: '#bac2de',
        brightBlack: '#6c7086', brightRed: '#f38ba8', brightGreen: '#a6e3a1', brightYellow: '#f9e2af', brightBlue: '#89b4fa', brightMagenta: '#f5c2e7', brightCyan: '#94e2d5', brightWhite: '#ffffff',
    },
    light: {
        background: '#ffffff', foreground: '#1c1c28', cursor: '#1c1c28', cursorAccent: '#ffffff', selectionBackground: '#bcd3f5',
        black: '#1c1c28', red: '#b3261e', green: '#1a7f37', yellow: '#8a5a00', blue: '#1d5fd0', magenta: '#8839ef', cyan: '#0f7a85', white: '#8c8fa1',
        brightBlack: '#5a5a6a', brightRed: '#d20f39', brightGreen: '#1f883d', brightYellow: '#9a6700', brightBlue: '#1e66f5', brightMagenta: '#9d4edd', brightCyan: '#179299', brightWhite: '#dcdce4',
    },
};
const colorsNow = () => (DARK.matches ? COLORS.dark : COLORS.light);

// The sequences that are queries, or that reach beyond the screen. The page swallows them: only the terminal in which the program
// runs may answer, and no pane may set links, colours or the clipboard here. Source: xterm's ctlseqs.
const SWALLOWED_CSI = [
    { final: 'c' }, { prefix: '>', final: 'c' }, { prefix: '=', final: 'c' }, // DA1, DA2, DA3
    { final: 'n' }, { prefix: '?', final: 'n' }, // DSR, DECDSR
    { intermediates: '$', final: 'p' }, { prefix: '?', intermediates: '$', final: 'p' }, // DECRQM
    { final: 't' }, { prefix: '>', final: 't' }, // XTWINOPS, XTSMTITLE
    { final: 'x' }, { prefix: '>', final: 'q' }, { prefix: '?', final: 'u' }, // DECREQTPARM, XTVERSION, kitty keyboard query
    { prefix: '?', final: 'S' }, { intermediates: '*', final: 'y' }, { prefix: '?', final: 'm' }, // XTSMGRAPHICS, DECRQCRA, XTQMODKEYS
];
// DECRQSS, XTGETTCAP, DECRSTS
const SWALLOWED_DCS = [{ intermediates: '$', final: 'q' }, { intermediates: '+', final: 'q' }, { intermediates: '$', final: 'u' }];
// Titles, palette, folder, links, colours, pointer, clipboard, and what resets colours.
const SWALLOWED_OSC = [0, 1, 2, 4, 5, 7, 8, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 21, 22, 50, 52, 60, 61, 104, 105, 110, 111, 112, 133, 777, 1337];
// Reports of the mouse and of the focus: a program switches them on, the user does not type them.
const REPORT = /^\x1b\[(?:[IO]$|<[\d;]+[Mm]|M[^]{3}|\d+;\d+;\d+M)/;

// Pastes, by the rules of Unterm's own window (`mux/src/input/paste.rs`).
const LINE_END = /\r\n|\r|\n/g;
// How many characters of a text a question shows.
const PASTE_SHOWN = 1000;
const PASTE_END = /(?:\x1b\[|\x9b)201~/;
// All but the tab and the line ends.
const CONTROLS = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/g;

/** What is typed for a pasted text: no text can end its own paste or press a key other than Enter. */
function encodePaste(text, isBracketed) {
    const clean = text.replace(LINE_END, '\n').replace(CONTROLS, '').replace(/\n/g, '\r');
    return isBracketed ? `\x1b[200~${clean}\x1b[201~` : clean;
}

/** Why to ask before a text is pasted, as the key of a message. `null`: it only inserts text. */
function pasteRisk(text, isBracketed) {
    if (PASTE_END.test(text)) return 'paste.attack';
    if (isBracketed) return null;
    if (text.search(LINE_END) >= 0) return 'paste.lines';
    return text.search(CONTROLS) >= 0 ? 'paste.controls' : null;
}

/**
 * A terminal in `host` that shows a pane. Passes what the user types to `typed`, and calls `left` for the key that ends typing.
 * Before a pasted text would press keys, `asks` decides, given the key of the reason and the text.
 */
function makeTerminal(Terminal, host, { typed, left, asks }) {
    const term = new Terminal({
        cols: 80, rows: 24, scrollback: SCROLLBACK, fontFamily: FONT, fontSize: FONT_SIZES.most, theme: colorsNow(), minimumContrastRatio: 4.5,
        disableStdin: true, cursorBlink: false, linkHandler: { activate: () => {} }, logLevel: 'off',
    });
    const swallow = () => true;
    SWALLOWED_CSI.forEach((id) => term.parser.registerCsiHandler(id, swallow));
    SWALLOWED_DCS.forEach((id) => term.parser.registerDcsHandler(id, swallow));
    SWALLOWED_OSC.forEach((number) => term.parser.registerOscHandler(number, swallow));
    let isTyping = false;
    term.onData((data) => {
        if (isTyping && !REPORT.test(data)) typed(data);
    });
    term.attachCustomKeyEventHandler((event) => {
        if (!isTyping) return false;
        if (event.key !== 'Enter' || !event.ctrlKey || !event.shiftKey) return true;
        event.preventDefault();
        if (event.type === 'keydown') left();
        return false;
    });
    // xterm.js would paste the text with the sequences in it.
    const paste = async (event) => {
        event.preventDefault();
        event.stopPropagation();
        const text = event.clipboardData?.getData('text/plain') ?? '';
        if (!isTyping || !text) return;
        const isBracketed = term.modes.bracketedPasteMode;
        const risk = pasteRisk(text, isBracketed);
        if (risk && !await asks(risk, text)) return;
        // The program may have changed the mode while the user decided, and would then take the text for keys.
        if (!isTyping || (isBracketed && !term.modes.bracketedPasteMode)) return;
        typed(encodePaste(text, term.modes.bracketedPasteMode));
    };
    host.addEventListener('paste', paste, true);
    // On the alternate screen, xterm.js would turn the wheel into arrow keys.
    term.attachCustomWheelEventHandler(() => term.buffer.active.type === 'normal');
    term.open(host);

    const pen = document.createElement('canvas').getContext('2d');
    pen.font = `100px ${FONT}`;
    // The width of a cell at a font size of one pixel.
    const cell = pen.measureText('0'.repeat(100)).width / 10000;
    const fit = () => {
        const room = host.clientWidth - 1;
        if (room <= 0) return;
        const size = Math.floor((room / (term.cols * cell)) * 4) / 4;
        const fontSize = Math.max(FONT_SIZES.least, Math.min(FONT_SIZES.most, size));
        if (fontSize !== term.options.fontSize) term.options.fontSize = fontSize;
    };
    const resized = new ResizeObserver(fit);
    resized.observe(host);
    const dress = () => { term.options.theme = colorsNow(); };
    DARK.addEventListener('change', dress);

    const bounded = (given, least, most) => Math.max(least, Math.min(most, Math.trunc(Number(given)) || least));
    /** Writes the bytes of a base64 text, and resolves when they are shown. */
    const write = (base64) => {
        const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
        return new Promise((done) => term.write(bytes, done));
    };
    return {
        write,
        /** Replaces all that is shown. */
        show({ cols, rows, data }) {
            term.reset();
            term.resize(bounded(cols, 2, GRID_LIMIT.cols), bounded(rows, 1, GRID_LIMIT.rows));
            fit();
            return write(data);
        },
        setTyping(on) {
            isTyping = on;
            term.options.disableStdin = !on;
            if (on) term.focus();
            else term.blur();
        },
        close() {
            isTyping = false;
            host.removeEventListener('paste', paste, true);
            resized.disconnect();
            DARK.removeEventListener('change', dress);
            term.dispose();
            host.replaceChildren();
        },
    };
}

/**
 * A function that sends typed text in its order: one request at a time, and the next with all that was typed meanwhile. If a
 * request fails, the text behind it is dropped, since it may make no sense, or do harm, without the text that is missing. If a
 * rule of the machine blocks the line, `releases` decides whether the text is sent again.
 */
function typist(machine, sid, { failed, releases }) {
    let [waiting, isSending] = ['', false];
    return async (text) => {
        waiting += text;
        if (isSending) return;
        isSending = true;
        while (waiting) {
            const now = waiting;
            waiting = '';
            try {
                const body = { machine, sid, text: now };
                let reply = await ask('/api/sessions/type', body);
                while (reply?.blocked && await releases(reply.blocked)) reply = await ask('/api/sessions/type', { ...body, released: reply.blocked.line });
                if (reply?.blocked) waiting = '';
            } catch (error) {
                waiting = '';
                failed(error);
            }
        }
        isSending = false;
    };
}

// What belongs to the open page but must not be observed.
let listening = new AbortController();
let watching = new AbortController();
let terminal = null;
let heard = [];

document.addEventListener('alpine:init', () => {
    Alpine.data('page', () => ({
        view: '',
        words: NO_WORDS,
        languages: [],
        language: '',
        online: false,
        said: '',
        problem: '',
        code: '',
        loginFault: '',
        tab: 'machines',
        tabs: TABS,
        hub: NOTHING,
        invite: null,
        question: { title: '', text: '', yes: '', work: null },
        calls: [],
        callNumber: 0,
        rights: RIGHTS,
        ends: ENDS,
        newToken: blankToken(),
        made: null,
        isPasskeyOffered: false,
        newPasskey: blankPasskey(),
        isAddingPasskey: false,
        entries: [],
        hasOlder: false,
        auditQuery: '',
        auditTurn: 0,
        older: 0,
        isAuditLoaded: false,
        live: { ...CLOSED },
        liveTitle: '',
        liveFolder: '',

        async init() {
            this.refresh = coalesced(() => this.load());
            addEventListener('hashchange', () => this.route());
            for (let wait = RETRY; ; wait = Math.min(wait * 2, RETRY_LIMIT)) {
                try {
                    await this.loadWords(localStorage.getItem(LANGUAGE) ?? navigator.language);
                    break;
                } catch (error) {
                    this.problem = this.explain(error);
                    await sleep(wait);
                }
            }
            this.problem = '';
            if (this.codeOfLink()) return this.route();
            await this.enter();
        },

        // Words.
        async loadWords(wanted) {
            const load = (code) => ask(`/api/words?language=${encodeURIComponent(code)}`);
            let came = await load(wanted);
            const best = bestLanguage(wanted, came.languages);
            if (best && best !== came.language) came = await load(best);
            Object.assign(this, { words: came.words, languages: came.languages, language: came.language });
            document.documentElement.lang = came.language;
            this.nameDocument();
        },
        async setLanguage(code) {
            localStorage.setItem(LANGUAGE, code);
            await this.act(() => this.loadWords(code), '');
        },
        /** A text with its `{name}`s replaced. */
        t(key, given = {}) {
            const put = (text, [name, value]) => text.replaceAll(`{${name}}`, () => value);
            return Object.entries(given).reduce(put, this.words[key] ?? key);
        },
        /** The words for a value of the server's. One that this page does not have is shown as it is. */
        named(group, value) {
            return this.words[`${group}.${value}`] ?? String(value ?? '');
        },
        when(text) {
            const date = new Date(text);
            return isNaN(date) ? '' : date.toLocaleString(this.language, { dateStyle: 'medium', timeStyle: 'short' });
        },
        clock(date) {
            return date.toLocaleTimeString(this.language);
        },
        /** A time to the second; without its date if that is today. */
        whenExactly(text) {
            const date = new Date(text);
            if (isNaN(date)) return '';
            return date.toDateString() === new Date().toDateString() ? this.clock(date) : date.toLocaleString(this.language);
        },
        say(text) {
            this.said = text;
            clearTimeout(this.quiet);
            this.quiet = setTimeout(() => { this.said = ''; }, 4000);
        },
        explain(error) {
            return error.offline ? this.t('error.offline') : error.message;
        },
        fail(error) {
            if (error.name === 'AbortError') return;
            if (error.status === 401) return this.lock();
            this.said = '';
            this.problem = this.explain(error);
        },
        dismiss() {
            this.problem = '';
            this.focus('main');
        },
        /** Does something, then loads what it changed, and says that it is done or what went wrong. Returns whether it is done. */
        async act(work, said) {
            try {
                await work();
                this.problem = '';
                if (said) this.say(this.t(said));
                return true;
            } catch (error) {
                this.fail(error);
                return false;
            }
        },
        async change(path, body, said) {
            const done = await this.act(() => ask(path, body), said);
            await this.refresh();
            return done;
        },
        /** Does something when the changes made so far are on the page. Alpine shows elements in the next frame; a hidden page has none. */
        whenShown(work) {
            this.$nextTick(() => (document.visibilityState === 'visible' ? requestAnimationFrame(work) : setTimeout(work)));
        },
        /** Moves the keyboard to an element that may be new. */
        focus(id) {
            this.whenShown(() => document.getElementById(id)?.focus());
        },
        /** Does so if the element that had it is gone or disabled. */
        keepFocus(id) {
            this.whenShown(() => {
                const has = document.activeElement;
                if (!has || has === document.body || has.disabled) document.getElementById(id)?.focus();
            });
        },
        async copy(text, id) {
            try {
                await navigator.clipboard.writeText(text);
                this.say(this.t('ui.copied'));
            } catch {
                // Over plain HTTP, a page has no clipboard of its own, but may copy what is selected.
                getSelection().selectAllChildren(document.getElementById(id));
                if (document.execCommand('copy')) this.say(this.t('ui.copied'));
                else this.problem = this.t('ui.not_copied');
            }
        },

        // Signing in and out.
        codeOfLink() {
            return new URLSearchParams(location.hash.slice(1)).get('code');
        },
        async signIn(code) {
            try {
                const { token } = await ask('/api/login', { code: code.trim().toUpperCase() });
                sessionStorage.setItem(SECRET, token);
            } catch (error) {
                // A wrong code does not end a session.
                if (this.view === 'open') this.problem = this.explain(error);
                else this.lock();
                this.loginFault = this.explain(error);
                return;
            }
            Object.assign(this, { code: '', loginFault: '', problem: '' });
            await this.enter();
            this.focus('main');
        },
        /** Opens the page if there is a session, else the sign-in. */
        async enter() {
            for (let wait = RETRY; ; wait = Math.min(wait * 2, RETRY_LIMIT)) {
                try {
                    this.put(await ask('/api/overview'));
                    break;
                } catch (error) {
                    this.fail(error);
                    if (error.status === 401) return;
                    await sleep(wait);
                }
            }
            this.problem = '';
            this.view = 'open';
            this.listen();
            this.route();
        },
        /** Shows the sign-in, and forgets all that only a signed-in user may see. */
        lock() {
            sessionStorage.removeItem(SECRET);
            if (this.view === 'locked') return;
            listening.abort();
            this.closeLive();
            heard = [];
            document.getElementById('confirm').close();
            Object.assign(this, { view: 'locked', online: false, hub: NOTHING, calls: [], entries: [], isAuditLoaded: false, invite: null, made: null, problem: '' });
            this.nameDocument();
            this.focus('code');
            this.offerPasskey();
        },
        async signOut() {
            if (await this.act(() => ask('/api/logout', {}), '')) this.lock();
        },

        // The overview.
        async load() {
            try {
                this.put(await ask('/api/overview'));
                if (this.problem === this.t('error.offline')) this.problem = '';
            } catch (error) {
                this.fail(error);
            }
        },
        put(hub) {
            const [before, linesBefore] = [this.pending().length, this.hub.lines.length];
            this.hub = hub;
            const waiting = this.pending().length;
            if (waiting > before) this.say(this.t('mirror.pending', { count: waiting }));
            if (hub.lines.length > linesBefore) this.say(this.t('lines.waiting', { count: hub.lines.length }));
            const session = this.sessionOf(this.live);
            if (session) Object.assign(this, { liveTitle: session.title || session.sid, liveFolder: session.cwd ?? '' });
            this.nameDocument();
        },
        nameDocument() {
            const waiting = this.pending().length + this.hub.lines.length;
            document.title = `${waiting > 0 ? `(${waiting}) ` : ''}${this.hub.hub ? `${this.hub.hub} – ` : ''}Unterm`;
        },
        /** Listens for changes and calls, and reconnects when the connection ends. */
        async listen() {
            listening.abort();
            listening = new AbortController();
            const { signal } = listening;
            let wait = RETRY;
            let isFirst = true;
            const opened = () => {
                this.online = true;
                wait = RETRY;
                // Changes and calls may have been missed while the page was not connected.
                if (!isFirst) this.hearSoon(null);
                isFirst = false;
                this.refresh();
            };
            const handle = (name, data) => {
                if (name === 'changed') this.refresh();
                if (name === 'call') this.hearSoon(JSON.parse(data));
                if (name === 'lost') {
                    this.hearSoon(null);
                    this.refresh();
                }
            };
            while (!signal.aborted) {
                try {
                    await readEvents('/api/events', signal, opened, handle);
                } catch (error) {
                    if (error.status === 401) return this.lock();
                }
                if (signal.aborted) return;
                this.online = false;
                await sleep(wait);
                wait = Math.min(wait * 2, RETRY_LIMIT);
            }
        },

        // Sections.
        route() {
            const code = this.codeOfLink();
            if (code) {
                // The code must not stay in the address or the history.
                history.replaceState(null, '', location.pathname);
                return this.signIn(code);
            }
            if (this.view !== 'open') return;
            const [name, machine, sid] = location.hash.slice(1).split('/').map(decoded);
            if (name === 'live' && machine && sid) return this.watch(machine, sid);
            const { machine: left, sid: leftSid } = this.live;
            const isInside = document.activeElement?.closest('#view-live');
            this.closeLive();
            this.tab = TABS.includes(name) ? name : 'machines';
            if (isInside && this.tab === 'machines') this.focusWatch(`${left}/${leftSid}`);
            if (this.tab === 'audit') this.loadAudit();
        },
        open(name) {
            if (location.hash === `#${name}`) this.route();
            else location.hash = name;
        },
        isTab(name) {
            return this.tab === name;
        },
        /** Whether a section is shown. The live view covers them. */
        shows(name) {
            return this.tab === name && !this.live.sid;
        },
        arrows(event) {
            const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1, Home: -TABS.length, End: TABS.length }[event.key];
            if (!step) return;
            event.preventDefault();
            const name = TABS[Math.max(0, Math.min(TABS.length - 1, TABS.indexOf(this.tab) + step))];
            this.open(name);
            document.getElementById(`tab-${name}`).focus();
        },

        // Questions before what can't be undone.
        confirm(title, text, yes, work) {
            this.question = { title, text, yes, work };
            document.getElementById('confirm').showModal();
        },
        async answer(isYes) {
            document.getElementById('confirm').close();
            if (isYes) await this.question.work();
        },

        // The emergency stop.
        stopText() {
            return this.hub.stopped ? this.t('stop.release') : this.t('stop.stop');
        },
        async pressStop() {
            if (!this.hub.stopped) return this.setStopped(true, 'stop.stopped');
            this.confirm(this.t('stop.sure.title'), this.t('stop.sure'), this.t('stop.release'), () => this.setStopped(false, 'stop.released'));
        },
        async setStopped(stopped, said) {
            await this.change('/api/stop', { stopped }, said);
        },

        // Machines.
        isConnected(machine) {
            return machine.status === 'connected';
        },
        programs(machine) {
            return Object.entries(machine.scan ?? {}).map(([name, found]) => ({ name, version: found?.version ?? '', isRunning: found?.running === true }));
        },
        programText(program) {
            const running = program.isRunning ? ` – ${this.t('machines.running')}` : '';
            return `${program.name} ${program.version}`.trim() + running;
        },
        sessions(machine) {
            return machine.sessions ?? [];
        },
        nameOf(id) {
            return this.hub.machines.find((machine) => machine.id === id)?.name ?? id;
        },
        async makeInvite() {
            await this.act(async () => {
                const made = await ask('/api/machines/invite', {});
                const until = new Date(Date.now() + made.expires_seconds * 1000);
                clearTimeout(this.inviteEnd);
                this.inviteEnd = setTimeout(() => { if (this.invite) this.invite.isExpired = true; }, made.expires_seconds * 1000);
                this.invite = { ...made, until, isExpired: false };
                this.focus('copy-command');
            }, 'invite.made');
        },
        inviteText() {
            if (!this.invite) return '';
            return this.invite.isExpired ? this.t('invite.expired') : this.t('invite.valid', { time: this.clock(this.invite.until) });
        },
        closeInvite() {
            this.invite = null;
            this.focus('add-machine');
        },
        askRemove(machine) {
            const work = async () => {
                await this.change('/api/machines/remove', { id: machine.id }, 'machines.removed');
                this.keepFocus('machines-title');
            };
            this.confirm(this.t('machines.remove.title', { name: machine.name }), this.t('machines.remove.sure'), this.t('machines.remove'), work);
        },

        // The live view.
        liveAddress(machine, sid) {
            return `#live/${encodeURIComponent(machine)}/${encodeURIComponent(sid)}`;
        },
        sessionOf({ machine, sid }) {
            return this.hub.machines.find((one) => one.id === machine)?.sessions?.find((session) => session.sid === sid);
        },
        liveText() {
            const { status, reason } = this.live;
            return status ? this.t(`live.${status}`, { reason }) : '';
        },
        mayType() {
            return this.hub.may_act && this.live.status === 'open';
        },
        async watch(machine, sid) {
            this.closeLive();
            const session = this.sessionOf({ machine, sid });
            Object.assign(this, { tab: 'machines', live: { ...CLOSED, machine, sid, status: 'connecting' }, liveTitle: session?.title || sid, liveFolder: session?.cwd ?? '' });
            this.focus('live-title');
            watching = new AbortController();
            const { signal } = watching;
            try {
                const { Terminal } = await import('/xterm.js');
                await new Promise((go) => this.whenShown(go));
                if (signal.aborted) return;
                const type = typist(machine, sid, { failed: (error) => this.notTyped(error, signal), releases: (blocked) => this.releases(blocked) });
                terminal = makeTerminal(Terminal, document.getElementById('screen'), { typed: type, left: () => this.setTyping(false), asks: (risk, text) => this.asksToPaste(risk, text) });
            } catch {
                this.endLive('refused', this.t('error.offline'), signal);
                return;
            }
            await this.stream(machine, sid, signal);
        },
        /** Shows the output of a pane until it ends, and reconnects when the connection is lost. */
        async stream(machine, sid, signal) {
            const path = `/api/sessions/live?machine=${encodeURIComponent(machine)}&sid=${encodeURIComponent(sid)}`;
            const handlers = {
                screen: (data) => {
                    this.live.status = 'open';
                    return terminal.show(JSON.parse(data));
                },
                bytes: (data) => terminal.write(data),
                gap: () => { this.live.gap = this.t('live.gap', { time: this.clock(new Date()) }); },
                end: (data) => this.endLive('ended', data, signal),
                refused: (data) => this.endLive('refused', data, signal),
            };
            let wait = RETRY;
            while (!signal.aborted) {
                await shown(signal);
                if (signal.aborted) return;
                // Closed while the page is hidden: tabs share the few connections to a server.
                const hidden = new AbortController();
                const hide = () => { if (document.hidden) hidden.abort(); };
                document.addEventListener('visibilitychange', hide);
                try {
                    await readEvents(path, AbortSignal.any([signal, hidden.signal]), () => { wait = RETRY; }, (name, data) => handlers[name]?.(data));
                } catch (error) {
                    if (error.status === 401) return this.lock();
                    if (error.status) this.endLive('refused', error.message, signal);
                } finally {
                    document.removeEventListener('visibilitychange', hide);
                }
                if (signal.aborted) return;
                if (hidden.signal.aborted) continue;
                this.live.status = 'lost';
                this.setTyping(false);
                await sleep(wait);
                wait = Math.min(wait * 2, RETRY_LIMIT);
            }
        },
        /** Ends the stream and leaves what it showed. */
        endLive(status, reason, signal) {
            if (signal.aborted) return;
            Object.assign(this.live, { status, reason });
            this.setTyping(false);
            watching.abort();
        },
        setTyping(on) {
            const was = this.live.typing;
            this.live.typing = on && this.mayType();
            if (this.live.typing) this.live.fault = '';
            terminal?.setTyping(this.live.typing);
            if (was && !on) this.focus(this.mayType() ? 'live-typing' : 'live-back');
        },
        notTyped(error, signal) {
            if (error.status === 401) return this.lock();
            if (signal.aborted) return;
            this.setTyping(false);
            this.live.fault = this.t('live.not_typed', { reason: this.explain(error) });
        },
        /** Moves the keyboard to the button that watches a pane, or to the heading if the pane is gone. */
        focusWatch(name) {
            this.whenShown(() => (document.querySelector(`[data-watch="${CSS.escape(name)}"]`) ?? document.getElementById('machines-title')).focus());
        },
        closeLive() {
            watching.abort();
            terminal?.close();
            terminal = null;
            Object.assign(this, { live: { ...CLOSED }, liveTitle: '', liveFolder: '' });
        },

        // The mirror.
        pending() {
            return this.hub.conversations.filter((conversation) => conversation.state === 'pending');
        },
        badge(name) {
            return name === 'mirror' ? this.pending().length + this.hub.lines.length : 0;
        },
        badgeText(name) {
            if (name !== 'mirror') return '';
            const counts = { 'mirror.pending': this.pending().length, 'lines.waiting': this.hub.lines.length };
            return Object.entries(counts).filter(([, count]) => count > 0).map(([key, count]) => this.t(key, { count })).join(', ');
        },
        async decideLine(line, decision) {
            await this.act(() => ask(`/api/lines/${decision}`, { id: line.id }, RELEASE_TIMEOUT), `lines.${decision}.said`);
            await this.refresh();
            this.keepFocus('conversations-title');
        },
        /** Asks a question, and resolves to the answer. */
        decides(title, text, yes) {
            return new Promise((decided) => {
                // The button decides before the dialog reports that it is closed.
                document.getElementById('confirm').addEventListener('close', () => decided(false), { once: true });
                this.confirm(title, text, yes, () => decided(true));
            });
        },
        /** Asks whether to enter a line that the user types and that a rule of the machine blocks. */
        releases({ shown, rule }) {
            return this.decides(this.t('lines.sure.title'), this.t('lines.sure', { rule, line: this.callText(shown) }), this.t('lines.release'));
        },
        /** Asks whether to paste a text that would press keys. */
        asksToPaste(risk, text) {
            const visible = text.slice(0, PASTE_SHOWN).replace(LINE_END, '\n').replace(CONTROLS, (control) => `\\u{${control.charCodeAt(0).toString(16)}}`);
            const rest = text.length > PASTE_SHOWN ? '…' : '';
            return this.decides(this.t('paste.title'), this.t(risk, { text: this.callText(visible) + rest }), this.t('paste.paste'));
        },
        /** Pending ones first, the oldest of them on top: one that is added must not move the button that is about to be pressed. */
        conversations() {
            const byTime = (a, b) => String(a.made_at).localeCompare(String(b.made_at));
            const others = this.hub.conversations.filter((conversation) => conversation.state !== 'pending');
            return [...this.pending().sort(byTime), ...others.sort((a, b) => byTime(b, a))];
        },
        isPending(conversation) {
            return conversation.state === 'pending';
        },
        /** The decisions that the user can take about a conversation. */
        choices({ state, flow }) {
            const running = flow === 'paused' ? 'resume' : 'pause';
            if (state === 'approved') return [running, 'revoke'];
            const released = flow === 'paused' ? ['resume'] : [];
            return state === 'pending' ? ['approve', 'deny', ...released] : ['approve', ...released];
        },
        choiceClass({ state }, choice) {
            if (choice === 'deny' || choice === 'revoke') return 'danger';
            return choice === 'approve' && state === 'pending' ? 'primary' : '';
        },
        /** The whole call. Line ends are marked, since the page wraps lines as well, and characters that reorder text are escaped. */
        callText(text) {
            const escaped = (letter) => `\\u{${letter.codePointAt(0).toString(16)}}`;
            return String(text ?? '').replace(/\p{Bidi_Control}/gu, escaped).replaceAll('\n', '⏎\n');
        },
        async decide(conversation, decision) {
            await this.change('/api/conversations/decide', { key: conversation.key, decision }, `said.${decision}`);
            this.keepFocus('conversations-title');
        },
        async decideAll(decision) {
            await this.change('/api/conversations/decide', { all: true, decision }, `said.${decision}`);
        },
        /** Notes a call, or null where calls may be missing. Calls that arrive in a burst are shown together. */
        hearSoon(entry) {
            heard.push(entry);
            if (heard.length > 2 * CALLS_KEPT) heard = heard.slice(-CALLS_KEPT);
            this.hearing ??= setTimeout(() => {
                this.hearing = undefined;
                this.hear(heard);
                heard = [];
            }, CALLS_APART);
        },
        /** Adds entries to the calls. The events of one call share a row. */
        hear(entries) {
            const calls = [...this.calls];
            for (const entry of entries) {
                const at = entry?.call ? calls.findIndex((call) => call.entry?.call === entry.call) : -1;
                if (at >= 0) {
                    const { number, entry: first } = calls[at];
                    calls[at] = { number, entry: { ...first, ...entry, at: first.at, detail: entry.detail || first.detail } };
                } else {
                    this.callNumber += 1;
                    calls.unshift({ number: this.callNumber, entry });
                }
            }
            this.calls = calls.slice(0, CALLS_KEPT);
        },

        // Tokens.
        endName(seconds) {
            return this.t(`tokens.ends.${seconds || 'never'}`);
        },
        machinesText(token) {
            return token.machines ? token.machines.map((id) => this.nameOf(id)).join(', ') : this.t('tokens.machines.all');
        },
        isExpired(token) {
            return token.expires_at !== null && new Date(token.expires_at) <= new Date();
        },
        expiryText(token) {
            if (!token.expires_at) return this.t('tokens.endless');
            return this.t(this.isExpired(token) ? 'tokens.expired' : 'tokens.expires', { time: this.when(token.expires_at) });
        },
        useText(token) {
            return token.last_used ? this.t('tokens.used', { time: this.when(token.last_used) }) : this.t('tokens.unused');
        },
        madeText(token) {
            return this.t('tokens.made', { time: this.when(token.made_at) });
        },
        lacksMachine() {
            return this.newToken.some && this.newToken.machines.length === 0;
        },
        lacksRight() {
            return this.newToken.rights.length === 0;
        },
        async makeToken() {
            if (this.lacksMachine() || this.lacksRight()) return;
            const { name, rights, some, machines, ends } = this.newToken;
            const body = { name: name.trim(), machines: some ? [...machines] : null, rights: RIGHTS.filter((right) => rights.includes(right)), expires_seconds: ends ? Number(ends) : null };
            await this.act(async () => {
                this.made = { ...await ask('/api/tokens', body), name: body.name };
                this.newToken = blankToken();
                this.focus('copy-token');
            }, 'tokens.created');
            await this.refresh();
        },
        closeMade() {
            this.made = null;
            this.focus('token-name');
        },
        askRevoke(token) {
            const work = async () => {
                const done = await this.change('/api/tokens/revoke', { id: token.id }, 'tokens.revoked');
                if (done && this.made?.id === token.id) this.made = null;
                this.keepFocus('tokens-title');
            };
            this.confirm(this.t('tokens.sure.title', { name: token.name }), this.t('tokens.sure'), this.t('tokens.revoke'), work);
        },

        // Passkeys.
        /** Shows the button to sign in with a passkey if the fleet has one for this address. */
        async offerPasskey() {
            if (!HAS_PASSKEYS) return;
            try {
                this.isPasskeyOffered = (await ask(PASSKEY_LOGIN)).options !== null;
            } catch {
                // A code signs in, too.
            }
        },
        async signInByPasskey() {
            this.loginFault = '';
            try {
                const { challenge, options } = await ask(PASSKEY_LOGIN);
                const answer = await this.byBrowser(() => usePasskey(options));
                const { token } = await ask(PASSKEY_LOGIN, { challenge, answer });
                sessionStorage.setItem(SECRET, token);
            } catch (error) {
                this.loginFault = this.explain(error);
                return this.offerPasskey();
            }
            this.problem = '';
            await this.enter();
            this.focus('main');
        },
        /** Runs a browser's passkey dialog. Replaces the browser's error message, which only links to the standard. */
        async byBrowser(work) {
            try {
                return await work();
            } catch (error) {
                const isKnown = error.name === 'InvalidStateError';
                throw new Error(this.t(isKnown ? 'passkeys.known' : 'passkeys.cancelled'));
            }
        },
        mayAddPasskey() {
            return this.hub.may_act && HAS_PASSKEYS && this.hub.passkey_host !== null;
        },
        async addPasskey() {
            this.isAddingPasskey = true;
            await this.act(async () => {
                const body = { name: this.newPasskey.name.trim(), read_only: this.newPasskey.isReadOnly };
                const { challenge, options } = await ask('/api/passkeys/begin', body);
                const answer = await this.byBrowser(() => makePasskey(options));
                await ask('/api/passkeys', { challenge, answer });
                this.newPasskey = blankPasskey();
            }, 'passkeys.added');
            this.isAddingPasskey = false;
            await this.refresh();
            this.keepFocus('passkey-name');
        },
        askRemovePasskey(passkey) {
            const work = async () => {
                await this.change('/api/passkeys/remove', { id: passkey.id }, 'passkeys.removed');
                this.keepFocus('passkeys-title');
            };
            this.confirm(this.t('machines.remove.title', { name: passkey.name }), this.t('passkeys.sure'), this.t('machines.remove'), work);
        },

        // The audit log.
        searchAudit(text) {
            this.auditQuery = text;
            clearTimeout(this.searching);
            this.searching = setTimeout(() => this.loadAudit(), SEARCH_DELAY);
        },
        /** Loads the newest entries that match the search, or those before the ones that are shown. */
        async loadAudit(isOlder = false) {
            clearTimeout(this.searching);
            this.auditTurn += 1;
            const turn = this.auditTurn;
            const query = new URLSearchParams({ search: this.auditQuery, limit: AUDIT_PAGE });
            if (isOlder) query.set('before', this.older);
            await this.act(async () => {
                const { entries, more, next } = await ask(`/api/audit?${query}`);
                // A later search may have been answered first.
                if (turn !== this.auditTurn) return;
                this.entries = isOlder ? [...this.entries, ...entries] : entries;
                Object.assign(this, { hasOlder: more, older: next, isAuditLoaded: true });
                if (isOlder) this.keepFocus('audit-title');
            }, '');
        },
        auditText() {
            if (!this.isAuditLoaded) return '';
            if (this.entries.length === 0) return this.t('audit.none');
            return this.t('audit.count', { count: `${this.entries.length}${this.hasOlder ? '+' : ''}` });
        },
        /** Saves the entries that match the search as a file. */
        async exportAudit(format) {
            await this.act(async () => {
                const query = new URLSearchParams({ search: this.auditQuery, format });
                const reply = await send(`/api/audit/export?${query}`, {});
                const link = document.createElement('a');
                link.href = URL.createObjectURL(await reply.blob());
                link.download = `unterm-audit.${format}`;
                link.click();
                URL.revokeObjectURL(link.href);
            }, '');
        },
    }));
});
