// The settings page: its state, the requests it sends and the changes it saves. All texts come from the server, and are
// shown as text, never as markup.
'use strict';

const TABS = ['general', 'appearance', 'keys', 'proxy', 'scrollback', 'compat', 'recording', 'agents', 'project', 'about'];

// The keys of the file that have a row, by tab and group. The server's schema gives their types, ranges and choices.
const ROWS = {
    general: {
        language: ['language'],
        window: ['window.confirm_close', 'window.start', 'window.restore', 'window.columns', 'window.rows', 'window.reduced_motion', 'startup.layout'],
        shell: ['shell.program', 'shell.integration', 'commands.marks'],
        mouse: ['mouse.scroll_lines', 'mouse.copy_on_select', 'mouse.right_button', 'mouse.trim_copied', 'mouse.focus_follows_mouse', 'paste.confirm'],
        notices: ['bell.mark', 'bell.attention', 'bell.visual', 'bell.audible', 'notifications.programs', 'notifications.long_commands', 'notifications.desktop'],
        bars: ['tab_bar.show', 'tab_bar.position', 'status_bar.show', 'scrollbar.show'],
    },
    appearance: {
        font: ['font.family', 'font.size', 'font.ligatures', 'text.minimum_contrast'],
        cursor: ['cursor.shape', 'cursor.blink'],
        panes: ['window.opacity', 'window.blur', 'window.padding', 'window.dim_unfocused'],
    },
    scrollback: { scrollback: ['scrollback.lines'] },
    compat: { compat: ['compat.term_program', 'shell.term'] },
    agents: { agents: ['agents.approval'] },
};
// The groups with a note below their rows.
const NOTES = ['scrollback', 'compat'];
const RANGES = ['window.opacity', 'window.dim_unfocused'];
const STEPS = { 'font.size': 0.5, 'window.opacity': 0.05, 'window.dim_unfocused': 0.05, 'window.padding': 1, 'text.minimum_contrast': 0.5 };
const LIGHT = matchMedia('(prefers-color-scheme: light)');
// Milliseconds between two requests for tokens and questions.
const ACCESS_APART = 300;
// Seconds until a token expires; empty: never.
const ENDS = ['3600', '86400', '604800', '2592000', '7776000', ''];
const blankToken = () => ({ name: '', scope: 'act', some: false, panes: [], ends: '2592000' });
// The actions whose argument is the number of a tab, and the number that always means the last one.
const TAB_ACTIONS = ['activate_tab', 'pane_to_tab'];
const LAST_TAB = '999';
const OPEN_TAB = 'unterm-tab';
const TOKEN = 'unterm-token';

// Colours, as the window mixes them.
const parse = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
const write = (rgb) => '#' + rgb.map((part) => Math.round(part).toString(16).padStart(2, '0')).join('');
const mix = (a, b, share) => write(parse(a).map((part, index) => part + (parse(b)[index] - part) * share));
const luminance = (hex) => {
    const [r, g, b] = parse(hex).map((part) => {
        const c = part / 255;
        return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const contrast = (a, b) => {
    const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
    return (high + 0.05) / (low + 0.05);
};
/** A colour stepped towards black or white until it can be read on each of the others. */
const readable = (color, grounds) => {
    const pole = luminance(grounds[0]) > 0.35 ? '#000000' : '#ffffff';
    for (let share = 0; share <= 1; share += 0.05) {
        const stepped = mix(color, pole, share);
        if (grounds.every((ground) => contrast(stepped, ground) >= 4.6)) return stepped;
    }
    return pole;
};

// Keys, as the file writes them.
const KEY_NAMES = {
    ' ': 'space', ArrowUp: 'up', ArrowDown: 'down', ArrowLeft: 'left', ArrowRight: 'right', PageUp: 'page_up',
    PageDown: 'page_down', ContextMenu: 'menu', Enter: 'enter', Tab: 'tab', Backspace: 'backspace', Escape: 'escape',
    Home: 'home', End: 'end', Insert: 'insert', Delete: 'delete',
};
// The key without Shift, where that is another character, on the boards that have it there.
const UNSHIFTED = {
    Minus: '-', Equal: '=', BracketLeft: '[', BracketRight: ']', Semicolon: ';', Quote: "'", Backquote: '`',
    Backslash: '\\', Comma: ',', Period: '.', Slash: '/',
};
const ORDER = ['super', 'ctrl', 'alt', 'shift'];
const OTHER_NAMES = { control: 'ctrl', cmd: 'super', command: 'super', win: 'super', windows: 'super', opt: 'alt', option: 'alt', meta: 'alt' };
/** A key with the usual names of its modifiers in the usual order. One that is none stays: the server refuses it by its name. */
const ordered = (keys) => {
    const at = keys.lastIndexOf('+', keys.length - 2);
    const given = at > 0 ? keys.slice(0, at).toLowerCase().split('+') : [];
    const modifiers = given.map((name) => OTHER_NAMES[name] ?? name);
    const unknown = modifiers.filter((name) => !ORDER.includes(name));
    return [...unknown, ...ORDER.filter((name) => modifiers.includes(name)), keys.slice(at + 1).toLowerCase()].join('+');
};
const pressed = (event) => {
    let key = KEY_NAMES[event.key] ?? (/^F\d+$/.test(event.key) ? event.key.toLowerCase() : event.key);
    if (event.shiftKey && /^Digit/.test(event.code)) key = event.code.slice(5);
    else if (event.shiftKey && UNSHIFTED[event.code]) key = UNSHIFTED[event.code];
    const modifiers = [[event.ctrlKey, 'ctrl'], [event.altKey, 'alt'], [event.metaKey, 'super'], [event.shiftKey, 'shift']];
    return ordered([...modifiers.filter(([held]) => held).map(([, name]) => name), key.toLowerCase()].join('+'));
};
/** A text for comparison: in lower case, without accents. */
const fold = (text) => text.normalize('NFKD').replace(/[\u0300-\u036f]/g, '').toLowerCase();
/** The text that an element shows; the samples of a theme don't count. */
const shown = (element) => [...element.childNodes].map((node) => {
    if (node.nodeType === Node.TEXT_NODE) return node.data;
    const isHidden = node.nodeType !== Node.ELEMENT_NODE || node.style.display === 'none' || node.getAttribute('aria-hidden') === 'true';
    return isHidden ? '' : shown(node);
}).join(' ');
/** The elements that hold what the search has found. */
let found = new Set();

/** The lines of a text. Spaces at either end of a line are part of the pattern. */
const lines = (text) => text.split('\n').filter((line) => line.trim() !== '');

let token = null;

/** Sends a request. Throws the server's reason when it refuses, and an error marked `offline` when it does not answer. */
async function ask(verb, path, body) {
    const request = {
        method: verb,
        headers: { Authorization: `Bearer ${token}`, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
        body: body === undefined ? undefined : JSON.stringify(body),
    };
    // The browser's own words ("Failed to fetch") help nobody.
    const offline = () => { throw Object.assign(new Error('offline'), { offline: true }); };
    const reply = await fetch(path, request).catch(offline);
    const text = await reply.text().catch(offline);
    const isJson = (reply.headers.get('content-type') ?? '').startsWith('application/json');
    const value = isJson ? JSON.parse(text) : text;
    if (!reply.ok) {
        const error = new Error(value.error ?? reply.statusText);
        error.status = reply.status;
        throw error;
    }
    return value;
}

/** Saves changes one after the other, so that no change undoes another. A reply that was requested meanwhile is stale. */
function saves() {
    let [changes, underWay, last] = [0, 0, Promise.resolve()];
    return {
        async add(save) {
            changes += 1;
            underWay += 1;
            last = last.then(save);
            await last;
            underWay -= 1;
        },
        /** A point in time. While a change is being saved, no reply that is requested then counts: it may be older than the change. */
        mark: () => (underWay > 0 ? -1 : changes),
        /** Whether a change was made since a mark, or is still being saved. */
        since: (mark) => changes !== mark || underWay > 0,
    };
}

const proxySaves = saves();
const policySaves = saves();

let asked = 0;
const latest = {};
/** The reply that is loaded under a name; nothing if a later request under that name was answered first. */
async function newest(name, load) {
    asked += 1;
    const turn = asked;
    const came = await load();
    if (turn < (latest[name] ?? 0)) return undefined;
    latest[name] = turn;
    return came;
}

/** Logs in with the code in the address, which is removed from it first, or with the token of a page that was reloaded. */
async function enter() {
    const code = new URLSearchParams(location.hash.slice(1)).get('code');
    history.replaceState(null, '', location.pathname);
    for (const given of [code, sessionStorage.getItem(TOKEN)]) {
        if (!given) continue;
        const reply = await fetch('/bootstrap.json', { headers: { Authorization: `Bearer ${given}` } });
        if (reply.ok) {
            token = (await reply.json()).auth_token;
            sessionStorage.setItem(TOKEN, token);
            return true;
        }
    }
    sessionStorage.removeItem(TOKEN);
    return false;
}

document.addEventListener('alpine:init', () => {
    Alpine.data('page', () => ({
        ready: false,
        locked: false,
        online: false,
        said: '',
        problem: '',
        query: '',
        results: 0,
        searches: 0,
        tab: 'general',
        tabs: TABS,
        eight: [0, 1, 2, 3, 4, 5, 6, 7],
        words: {},
        languages: [],
        settings: null,
        defaults: {},
        own: [],
        schema: {},
        wrong: {},
        drafts: {},
        themes: [],
        themeSaved: Promise.resolve(),
        actions: [],
        ownKeys: {},
        binding: null,
        compat: { presets: [] },
        proxy: {},
        proxyFields: ['http_proxy', 'socks_proxy', 'no_proxy'],
        nodes: { nodes: [] },
        newNode: { name: '', url: '' },
        testing: false,
        panes: [],
        recording: { active: [], enabled: false, redaction: { enabled: true, custom_patterns: [] } },
        sessions: [],
        sessionQuery: '',
        matches: [],
        more: false,
        markdown: '',
        agents: { clients: [], pages: [], paused: false, log: [] },
        policy: { enabled: false, blocked_patterns: [], allowed_patterns: [], enforce_allowed: false },
        tokens: [],
        approvals: { pending: [], allowed: [] },
        accessAt: 0,
        accessDue: undefined,
        scopes: ['read', 'act', 'admin'],
        ends: ENDS,
        newToken: blankToken(),
        made: null,
        revoking: null,
        project: { project: {} },
        state: { ports: {} },
        instances: [],
        update: '',
        typing: false,
        late: false,

        async init() {
            const there = await enter().catch(() => false);
            if (!there) {
                this.locked = true;
                return;
            }
            const tab = sessionStorage.getItem(OPEN_TAB);
            if (TABS.includes(tab)) this.tab = tab;
            LIGHT.addEventListener('change', () => this.dress());
            try {
                await this.loadSettings();
                this.compat = await ask('GET', '/api/compat');
                await this.loadRest();
                this.ready = true;
            } catch (error) {
                this.fail(error);
                this.ready = this.settings !== null;
            }
            this.listen();
        },

        // Loading.
        async loadSettings() {
            const came = await newest('settings', async () => {
                const all = await ask('GET', '/api/settings');
                const isSpoken = all.settings.language === this.settings?.language;
                return [all, isSpoken ? null : await ask('GET', '/api/i18n')];
            });
            if (!came || this.holds()) return;
            const [all, language] = came;
            if (language) {
                this.words = language.dict;
                this.languages = language.available;
                document.documentElement.lang = language.current;
            }
            Object.assign(this, { settings: all.settings, defaults: all.defaults, schema: all.schema, own: all.set });
            document.title = `Unterm – ${this.t('ui.title')}`;
            this.dress();
        },
        loadAllSettings() {
            return Promise.all([this.loadSettings(), this.loadThemes(), this.loadKeys()]);
        },
        /** Everything but the settings themselves. */
        loadRest() {
            return Promise.all([this.loadThemes(), this.loadKeys(), this.loadState(), this.loadProxy(), this.loadRecording(), this.loadAgents()]);
        },
        async loadThemes() {
            const came = await newest('themes', () => ask('GET', '/api/settings/themes'));
            if (!came) return;
            this.themes = came.themes;
            this.dress();
        },
        async loadKeys() {
            const keys = await newest('keys', () => ask('GET', '/api/settings/keys'));
            if (keys) Object.assign(this, { actions: keys.actions, ownKeys: keys.own });
        },
        async loadState() {
            const came = await newest('state', () => Promise.all([ask('GET', '/api/state'), ask('GET', '/api/project'), ask('GET', '/api/instances')]));
            if (!came || this.holds()) return;
            const [state, project, { instances }] = came;
            Object.assign(this, { state, project, instances });
        },
        async loadProxy() {
            // A change made meanwhile is newer than the reply.
            const mark = proxySaves.mark();
            const came = await newest('proxy', () => Promise.all([ask('GET', '/api/settings/proxy'), ask('GET', '/api/proxy/nodes')]));
            if (!came || proxySaves.since(mark) || this.holds()) return;
            const [proxy, nodes] = came;
            Object.assign(this, { proxy, nodes });
        },
        async loadRecording() {
            const came = await newest('recording', () => Promise.all([ask('GET', '/api/panes'), ask('GET', '/api/settings/recording'), ask('GET', '/api/sessions')]));
            if (!came || this.holds()) return;
            const [panes, recording, sessions] = came;
            Object.assign(this, { panes: panes.sessions, recording, sessions: sessions.sessions.reverse() });
        },
        async loadAgents() {
            const mark = policySaves.mark();
            const came = await newest('agents', () => Promise.all([ask('GET', '/api/agents'), ask('GET', '/api/policy')]));
            this.loadAccessSoon();
            if (!came || this.holds()) return;
            const [agents, policy] = came;
            this.agents = agents;
            if (!policySaves.since(mark)) this.policy = policy;
        },
        /** Tokens, questions and the clients that may act. They are not edited in place, so they need not wait for typing. */
        async loadAccess() {
            this.accessAt = Date.now();
            const came = await newest('access', () => Promise.all([ask('GET', '/api/tokens'), ask('GET', '/api/approvals')]));
            if (!came) return;
            const [{ tokens }, approvals] = came;
            Object.assign(this, { tokens, approvals });
        },
        /** The same while its tab is open, at most once per ACCESS_APART for changes that arrive in bursts. */
        loadAccessSoon() {
            if (this.tab !== 'agents') return;
            const wait = Math.max(0, this.accessAt + ACCESS_APART - Date.now());
            this.accessDue ??= setTimeout(() => {
                this.accessDue = undefined;
                this.loadAccess().catch((error) => this.fail(error));
            }, wait);
        },

        /** Whether a reply has to wait, so that it does not replace what the user is typing. */
        holds() {
            if (this.typing) this.late = true;
            return this.typing;
        },
        /** The user has left a field. */
        left() {
            this.typing = false;
            if (!this.late) return;
            this.late = false;
            Promise.all([this.loadSettings(), this.loadRest()])
                .catch((error) => this.fail(error));
        },

        /** Listens for changes and loads what changed. Reconnects when the connection ends. */
        async listen() {
            const agents = () => this.loadAgents();
            const recording = () => this.loadRecording();
            // Topics that share a loader are loaded once.
            const load = { settings: () => this.loadAllSettings(), proxy: () => this.loadProxy(), policy: agents, agents, recording, sessions: recording };
            for (let wait = 250; ; wait = Math.min(wait * 2, 5000)) {
                try {
                    const reply = await fetch('/api/events', { headers: { Authorization: `Bearer ${token}` } });
                    if (reply.status === 401) {
                        this.locked = true;
                        this.ready = false;
                        sessionStorage.removeItem(TOKEN);
                        return;
                    }
                    const text = reply.body.pipeThrough(new TextDecoderStream()).getReader();
                    let rest = '';
                    for (;;) {
                        const { value, done } = await text.read();
                        if (done) break;
                        const events = (rest + value).split('\n\n');
                        rest = events.pop();
                        const topics = new Set(events.map((event) => event.match(/^event: (.*)$/m)?.[1]));
                        if (topics.delete('ready')) {
                            // Changes may have been missed while the page was not connected.
                            if (!this.online && wait > 250) Object.keys(load).forEach((topic) => topics.add(topic));
                            this.online = true;
                            if (this.problem === this.t('error.offline')) this.problem = '';
                            wait = 250;
                        }
                        new Set([...topics].map((topic) => load[topic])).forEach((go) => go?.().catch((error) => this.fail(error)));
                    }
                } catch {
                    // The program has ended, or restarts.
                }
                this.online = false;
                await new Promise((go) => setTimeout(go, wait));
            }
        },

        // Words.
        /** A text with its `{name}`s replaced. Empty until the page has its words, so that no key shows. */
        t(key, given = {}) {
            const put = (text, [name, value]) => text.replaceAll(`{${name}}`, () => value);
            return Object.entries(given).reduce(put, this.words[key] ?? '');
        },
        when(text) {
            const date = new Date(text);
            return isNaN(date) ? '' : date.toLocaleString(document.documentElement.lang);
        },
        say(key) {
            this.said = this.t(key);
            clearTimeout(this.quiet);
            this.quiet = setTimeout(() => { this.said = ''; }, 4000);
        },
        /** Does something and reports that it is done, or what went wrong. */
        async act(work, said = 'ui.saved') {
            try {
                const done = await work();
                this.problem = '';
                if (said) this.say(said);
                return done;
            } catch (error) {
                this.fail(error);
                return undefined;
            }
        },
        /** Saves what was typed into a field, and returns whether that worked. Refused text stays there, with the reason below it. */
        async save(name, given, work) {
            try {
                await work();
                delete this.wrong[name];
                delete this.drafts[name];
                this.say('ui.saved');
                return true;
            } catch (error) {
                this.refuse(name, given, this.explain(error));
                return false;
            }
        },
        refuse(name, given, why) {
            this.said = '';
            this.drafts[name] = given;
            this.wrong[name] = why;
        },
        /** The text of a field: what was refused, else the value in force. */
        typed(name, value) {
            return this.drafts[name] ?? value;
        },
        explain(error) {
            return error.offline ? this.t('error.offline') : error.message;
        },
        fail(error) {
            this.said = '';
            this.problem = this.explain(error);
        },
        dismiss() {
            this.problem = '';
            this.focus('main');
        },
        /** The reason why a number is not accepted; empty if it is. */
        numberFault(given, low, high, isWhole) {
            const number = Number(given);
            if (given !== '' && number >= low && number <= high && (!isWhole || Number.isInteger(number))) return '';
            const written = (value) => value.toLocaleString(document.documentElement.lang);
            return this.t(isWhole ? 'error.whole' : 'error.number', { low: written(low), high: written(high) });
        },

        // Sections and search.
        open(name) {
            this.tab = name;
            this.query = '';
            this.binding = null;
            sessionStorage.setItem(OPEN_TAB, name);
            // Other instances make tokens, too, and some have ended meanwhile.
            if (name === 'agents') this.loadAccess().catch((error) => this.fail(error));
        },
        isTab(name) {
            return this.tab === name && !this.query;
        },
        arrows(event) {
            const step = { ArrowDown: 1, ArrowUp: -1, Home: -TABS.length, End: TABS.length }[event.key];
            if (!step) return;
            event.preventDefault();
            const index = Math.max(0, Math.min(TABS.length - 1, TABS.indexOf(this.tab) + step));
            this.open(TABS[index]);
            document.getElementById(`tab-${TABS[index]}`).focus();
        },
        shortcut(event) {
            if (event.key === '/' && !/^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) {
                event.preventDefault();
                document.getElementById('search').focus();
            }
        },
        /** Finds the blocks of all tabs that hold every word: in their text, their headings, or the names that `data-words` adds. */
        search(text) {
            const words = fold(text).split(/\s+/).filter((word) => word !== '');
            found = new Set();
            let results = 0;
            for (const block of document.querySelectorAll('#main [data-find]')) {
                const [section, part] = [block.closest('[data-section]'), block.closest('[data-part]')];
                const headings = [section.querySelector('h3'), part.querySelector('h2')].map((heading) => heading?.textContent ?? '');
                const all = fold([...headings, block.dataset.words ?? '', shown(block)].join(' '));
                if (!words.every((word) => all.includes(word))) continue;
                results += 1;
                [block, section, part].forEach((element) => found.add(element));
            }
            this.binding = null;
            this.query = words.length > 0 ? text : '';
            this.results = results;
            this.searches += 1;
        },
        /** Whether a part of the page is shown: that of the open tab, or all that hold something found. */
        shows(element, name) {
            return this.query ? this.meets(element) : this.tab === name;
        },
        /** Whether the search lets an element be shown. */
        meets(element) {
            // `found` itself can't be observed.
            return !this.query || (this.searches > 0 && found.has(element));
        },
        foundInAll() {
            if (!this.query) return '';
            return this.results > 0 ? this.t('ui.results', { count: this.results }) : this.t('ui.nothing');
        },
        /** The rows of a tab by groups. */
        groups(tab) {
            if (!this.settings) return [];
            const groups = Object.entries(ROWS[tab] ?? {});
            const note = (name) => (NOTES.includes(name) ? `${name}.note` : '');
            return groups.map(([name, keys]) => ({ name, rows: keys.map((key) => this.row(key)), titled: groups.length > 1, note: note(name) }));
        },

        // Keys of the file.
        at(all, key) {
            return key.split('.').reduce((value, name) => value?.[name], all);
        },
        resolve(schema) {
            const path = schema?.$ref;
            return path ? path.slice(2).split('/').reduce((value, name) => value[name], this.schema) : schema ?? {};
        },
        row(key) {
            const names = key.split('.');
            const schema = names.reduce((at, name) => this.resolve(this.resolve(at).properties?.[name]), this.schema);
            const row = { key, id: `set-${key.replaceAll('.', '-')}`, kind: 'text', min: schema.minimum, max: schema.maximum, step: STEPS[key] ?? 1, list: null, isWhole: schema.type === 'integer' };
            if (key === 'scrollback.lines') row.min = 100;
            if (key === 'compat.term_program') row.list = 'presets';
            if (key === 'window.reduced_motion') Object.assign(row, { kind: 'choice', choices: ['auto', 'true', 'false'] });
            else if (schema.enum || schema.oneOf) {
                row.kind = 'choice';
                row.choices = (schema.enum ?? schema.oneOf.flatMap((choice) => choice.enum ?? [choice.const]));
            } else if (schema.type === 'boolean') row.kind = 'bool';
            else if (schema.type === 'integer' || schema.type === 'number') row.kind = RANGES.includes(key) ? 'range' : 'number';
            else if (schema.type === 'array') row.kind = 'list';
            return row;
        },
        value(row) {
            const value = this.at(this.settings, row.key);
            return typeof value === 'number' ? Math.round(value * 1000) / 1000 : value;
        },
        chosen(row) {
            return String(this.value(row));
        },
        choiceName(row, choice) {
            if (row.key === 'language' && choice !== 'auto') return this.languages.find((one) => one.code === choice)?.name ?? choice;
            return this.t(`c.${choice}`);
        },
        isSet(row) {
            return this.own.includes(row.key);
        },
        async set(row, given) {
            let value = given;
            if (row.kind === 'number' || row.kind === 'range') {
                if (given === '') {
                    delete this.wrong[row.key];
                    delete this.drafts[row.key];
                    return this.loadSettings();
                }
                const fault = this.numberFault(given, row.min, row.max, row.isWhole);
                if (fault) return this.refuse(row.key, given, fault);
                value = Number(given);
            }
            if (row.kind === 'list') value = given.split(',').map((part) => part.trim()).filter((part) => part !== '');
            if (row.key === 'window.reduced_motion' && given !== 'auto') value = given === 'true';
            return this.put(row, value, given);
        },
        async put(row, value, given) {
            const names = row.key.split('.');
            const section = names.length === 1 ? 'general' : names[0];
            const done = await this.save(row.key, given, () => ask('PUT', `/api/settings/${section}`, { [names.at(-1)]: value }));
            if (done) return this.loadSettings().catch((error) => this.fail(error));
            // Switches, lists and sliders return to the value in force.
            if (!['number', 'text', 'list'].includes(row.kind)) this.settings = JSON.parse(JSON.stringify(this.settings));
        },
        slide(row, given) {
            clearTimeout(this.sliding);
            this.sliding = setTimeout(() => this.set(row, given), 50);
        },
        async reset(row) {
            // These two have routes of their own, which can't remove a key.
            const fixed = ['scrollback.lines', 'compat.term_program'].includes(row.key);
            await this.put(row, fixed ? this.at(this.defaults, row.key) : null);
            this.keepFocus(row.id);
        },

        // Themes.
        follows() {
            return typeof this.settings?.theme === 'object';
        },
        current() {
            const choice = this.settings?.theme;
            const name = typeof choice === 'object' ? choice[LIGHT.matches ? 'light' : 'dark'] : choice;
            return this.themes.find((theme) => theme.name === name || theme.ids?.includes(name));
        },
        isTheme(theme) {
            return this.current()?.name === theme.name;
        },
        cardIndex(theme) {
            return this.isTheme(theme) || (!this.current() && theme === this.themes[0]) ? 0 : -1;
        },
        cardArrows(event, theme) {
            const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
            if (!step) return;
            event.preventDefault();
            const next = this.themes[(this.themes.indexOf(theme) + step + this.themes.length) % this.themes.length];
            document.querySelector(`[data-theme="${CSS.escape(next.name)}"]`).focus();
            this.setTheme(next.name);
        },
        async putTheme(body) {
            // One after the other, so that the last choice wins.
            this.themeSaved = this.themeSaved.then(() => this.act(() => ask('PUT', '/api/settings/theme', body)));
            await this.themeSaved;
            await this.loadSettings();
        },
        setTheme(name) {
            return this.follows() ? this.setPair(LIGHT.matches ? 'light' : 'dark', name) : this.putTheme({ name });
        },
        setPair(appearance, name) {
            return this.putTheme({ [appearance]: name });
        },
        follow(on) {
            const now = this.current();
            const body = on
                ? { light: now?.light ? now.name : 'solarized-light', dark: now && !now.light ? now.name : 'catppuccin-mocha' }
                : { name: now?.name ?? 'catppuccin-mocha' };
            return this.putTheme(body);
        },
        /** Paints a sample in its theme's colours. */
        paint(element, theme) {
            const inside = element.classList.contains('preview') ? element : element.querySelector('.sample');
            inside.style.background = theme.background;
            inside.style.color = theme.foreground;
            inside.querySelectorAll('[data-c]').forEach((part) => { part.style.color = theme.colors[part.dataset.c]; });
            queueMicrotask(() => inside.querySelectorAll('[data-b]').forEach((part) => { part.style.background = theme.colors[part.dataset.b]; }));
        },
        /** The page in the theme's colours, and the preview in its font. */
        dress() {
            const theme = this.current();
            if (!theme) return;
            const surface = theme.background;
            const raised = mix(surface, theme.foreground, 0.05);
            const accent = readable(theme.colors[4], [surface, raised]);
            const text = readable(theme.foreground, [surface, raised]);
            const colors = {
                surface, raised, text, accent,
                line: mix(surface, theme.foreground, 0.16),
                muted: readable(mix(surface, theme.foreground, 0.6), [surface, raised]),
                'on-accent': luminance(accent) > 0.35 ? '#000000' : '#ffffff',
                danger: readable(theme.colors[1], [surface, raised]),
            };
            const root = document.documentElement;
            Object.entries(colors).forEach(([name, color]) => root.style.setProperty(`--${name}`, color));
            root.style.colorScheme = theme.light ? 'light' : 'dark';
            const { preview, caret } = this.$refs;
            if (!preview || !this.settings) return;
            this.paint(preview, theme);
            const { font, cursor, window } = this.settings;
            const families = font.family.map((family) => `"${family.replaceAll('"', '')}"`);
            preview.style.fontFamily = [...families, '"JetBrains Mono"', 'monospace'].join(', ');
            preview.style.fontSize = `${font.size}pt`;
            preview.style.fontVariantLigatures = font.ligatures === 'never' ? 'none' : 'normal';
            preview.style.opacity = window.opacity < 0.25 ? 0.25 : window.opacity;
            preview.style.padding = `${window.padding}px`;
            Object.assign(caret.style, { background: 'none', borderLeft: '', borderBottom: '', color: theme.foreground });
            if (cursor.shape === 'block') caret.style.background = theme.cursor;
            if (cursor.shape === 'bar') caret.style.borderLeft = `2px solid ${theme.cursor}`;
            if (cursor.shape === 'underline') caret.style.borderBottom = `2px solid ${theme.cursor}`;
        },

        // Keys.
        /** The texts of an action: in the page's language, else in English, in which the server's table has them. */
        actionTitle(action) {
            return this.words[`a.${action.action}`] ?? action.title;
        },
        actionDoc(action) {
            return this.words[`a.${action.action}.doc`] ?? action.doc;
        },
        argumentName(action) {
            return this.words[`a.${action.action}.argument`] ?? action.argument;
        },
        argumentText(action, argument) {
            return TAB_ACTIONS.includes(action.action) && argument === LAST_TAB ? this.t('keys.last_tab') : argument;
        },
        boundName(action, bound) {
            return `${this.pretty(bound.keys)} ${this.argumentText(action, bound.argument)}`.trim();
        },
        /** What a search finds an action by, beside what is shown: its names in the file and in English, and its keys as the file writes them. */
        actionWords(action) {
            return [action.action, action.title, action.doc, ...action.keys.map((bound) => bound.keys)].join(' ');
        },
        pretty(keys) {
            const at = keys.lastIndexOf('+', keys.length - 2);
            const parts = at > 0 ? [...keys.slice(0, at).split('+'), keys.slice(at + 1)] : [keys];
            const names = { page_up: 'PgUp', page_down: 'PgDn' };
            return parts.map((part) => names[part] ?? part.charAt(0).toUpperCase() + part.slice(1)).join('+');
        },
        bind(action, bound) {
            this.binding = { action: action.action, old: bound, keys: '', argument: bound?.argument ?? '', problem: '' };
        },
        cancelBinding() {
            const { action, old } = this.binding;
            this.binding = null;
            this.focusKey(action, old?.keys);
        },
        /** Moves the keyboard to an action's button for a key; without one, to the button that adds a key. */
        focusKey(name, keys = '') {
            this.$nextTick(() => {
                const row = document.querySelector(`[data-action="${CSS.escape(name)}"]`);
                const buttons = [...row.querySelectorAll('[data-keys]')];
                const button = buttons.find((one) => keys && ordered(one.dataset.keys) === ordered(keys));
                (button ?? row.querySelector('[data-add]')).focus();
            });
        },
        press(event) {
            if (event.key === 'Escape') return;
            const isChord = event.ctrlKey || event.altKey || event.metaKey || /^F\d+$/.test(event.key);
            if (!isChord || /^(Control|Shift|Alt|Meta|AltGraph)$/.test(event.key)) return;
            event.preventDefault();
            this.binding.keys = pressed(event);
        },
        /** What stands in the way of the key that is being bound. */
        bindingFault(action) {
            return this.binding?.action === action.action ? this.binding.problem || this.conflict() : '';
        },
        conflict() {
            if (!this.binding?.keys) return '';
            const wanted = ordered(this.binding.keys);
            const other = this.actions.find((action) => action.keys.some((bound) => ordered(bound.keys) === wanted && bound !== this.binding.old
                && !(action.action === this.binding.action && bound.argument === this.binding.argument)));
            return other ? `${this.pretty(this.binding.keys)}: ${this.t('keys.conflict', { action: this.actionTitle(other) })}` : '';
        },
        /** The change that unbinds a key: a default key is set to `none`, an own key is removed from the file. */
        taken(action, bound) {
            const isDefault = this.actions.some((one) => one.default_keys.some((key) => ordered(key.keys) === ordered(bound.keys)));
            return { [bound.keys]: isDefault ? 'none' : null };
        },
        /** Saves keys; the reason why that failed, empty if it did not. */
        async setKeys(keys) {
            try {
                await ask('PUT', '/api/settings/keys', { keys });
                await this.loadKeys();
                this.say('ui.saved');
                return '';
            } catch (error) {
                return this.explain(error);
            }
        },
        async saveBinding() {
            const { action: name, old, argument } = this.binding;
            const keys = this.binding.keys.trim();
            const action = this.actions.find((one) => one.action === name);
            if (!keys) {
                this.binding.problem = this.t('keys.none');
                return this.focus('binding-keys');
            }
            const target = action.argument ? `${name}:${argument}` : name;
            const change = { ...(old ? this.taken(action, old) : {}), [ordered(keys)]: target };
            const fault = await this.setKeys(change);
            if (fault) {
                this.binding.problem = fault;
                return;
            }
            this.binding = null;
            this.focusKey(name, keys);
        },
        async unbind(action, bound) {
            await this.changeKeys(action, this.taken(action, bound));
        },
        /** Changes keys of an action without its form. The button that did it is gone or disabled afterwards. */
        async changeKeys(action, keys) {
            this.problem = await this.setKeys(keys);
            this.focusKey(action.action);
        },
        isBound(action) {
            return Object.keys(this.ownOf(action)).length > 0;
        },
        /** The change that removes all own keys of an action. */
        ownOf(action) {
            const defaults = action.default_keys.map((bound) => ordered(bound.keys));
            const own = Object.entries(this.ownKeys).filter(([keys, target]) => defaults.includes(ordered(keys)) || target.split(':')[0] === action.action);
            return Object.fromEntries(own.map(([keys]) => [keys, null]));
        },
        async resetKeys(action) {
            await this.changeKeys(action, this.ownOf(action));
        },

        // The proxy.
        async setProxy(name, value) {
            this.proxy[name] = value;
            await proxySaves.add(() => {
                const body = { enabled: this.proxy.enabled };
                this.proxyFields.forEach((field) => { body[field] = this.proxy[field] ?? ''; });
                const put = () => ask('PUT', '/api/settings/proxy', body);
                return name === 'enabled' ? this.act(put) : this.save(`proxy.${name}`, value, put);
            });
            await this.loadProxy();
        },
        proxyState() {
            const { enabled, mode, health } = this.proxy;
            if (!enabled) return this.t('proxy.off');
            const where = health?.url ? `${health.url} (${health.source})` : this.t('proxy.nothing');
            return `${this.t(`proxy.${mode}`)}: ${where} – ${this.t(health?.reachable ? 'proxy.reachable' : 'proxy.unreachable')}`;
        },
        nodeState(node) {
            if (node.available === true) return `${node.latency_ms} ms`;
            return node.available === false ? this.t('proxy.unreachable') : '';
        },
        async setNodes(nodes) {
            const { enabled, http_proxy: http, socks_proxy: socks } = this.proxy;
            const kept = enabled ? { enabled, mode: http || socks ? 'manual' : 'auto' } : { enabled: false };
            const done = await this.save('node', undefined, async () => {
                const { refused } = await ask('PUT', '/api/proxy/nodes', { ...kept, nodes });
                if (refused.length > 0) throw new Error(refused.map((one) => one.error).join(' '));
            });
            await this.loadProxy();
            return done;
        },
        async addNode() {
            const node = { ...this.newNode };
            const done = await this.setNodes([...this.nodes.nodes.filter((one) => one.name !== node.name), node]);
            if (done) this.newNode = { name: '', url: '' };
        },
        async removeNode(name) {
            await this.setNodes(this.nodes.nodes.filter((one) => one.name !== name));
            this.keepFocus('nodes-title');
        },
        async useNode(name) {
            await this.act(() => ask('POST', '/api/proxy/switch', { node_name: name }));
            await this.loadProxy();
            this.keepFocus('nodes-title');
        },
        async speedtest() {
            this.testing = true;
            await this.act(() => ask('POST', '/api/proxy/speedtest', {}), 'proxy.tested');
            this.testing = false;
            await this.loadProxy();
        },

        // Recordings.
        isRecorded(pane) {
            return this.recording.active.some((active) => active.pane_id === pane.id);
        },
        async record(pane) {
            const what = this.isRecorded(pane) ? 'stop' : 'start';
            await this.act(() => ask('POST', `/api/recording/${what}`, { pane_id: pane.id }), this.isRecorded(pane) ? 'recording.stopped' : 'recording.started');
            await this.loadRecording();
        },
        async setRedaction(name, value) {
            const redaction = { ...this.recording.redaction, [name]: value };
            await this.act(() => ask('PUT', '/api/settings/recording', { redaction }));
            await this.loadRecording();
        },
        async setPatterns(text) {
            const redaction = { ...this.recording.redaction, custom_patterns: lines(text) };
            await this.save('patterns', text, () => ask('PUT', '/api/settings/recording', { redaction }));
            await this.loadRecording();
        },
        async recordAll(enabled) {
            await this.act(() => ask('PUT', '/api/settings/recording', { enabled }));
            await this.loadRecording();
        },
        async setIdle(value) {
            const fault = this.numberFault(value, 1, 24 * 60, true);
            if (fault) return this.refuse('idle', value, fault);
            await this.save('idle', value, () => ask('PUT', '/api/settings/recording', { idle_rotate_minutes: Number(value) }));
            await this.loadRecording();
        },
        async searchSessions() {
            const text = this.sessionQuery;
            if (!text.trim()) return;
            const found = await this.act(() => ask('GET', `/api/sessions/search?text=${encodeURIComponent(text)}`), null);
            // A later search may have been answered first.
            if (found && text === this.sessionQuery) Object.assign(this, found);
        },
        foundText() {
            return this.t('recording.matches', { count: `${this.matches.length}${this.more ? '+' : ''}` });
        },
        commandsText(session) {
            return this.t('recording.commands', { count: session.block_count });
        },
        async read(id) {
            this.reader = document.activeElement;
            this.markdown = (await this.act(() => ask('GET', `/api/sessions/${encodeURIComponent(id)}/markdown`), null)) ?? '';
        },
        closeReader() {
            this.markdown = '';
            this.$nextTick(() => this.reader?.focus());
        },

        // Agents.
        async pause(paused) {
            await this.act(() => ask('POST', '/api/agents/pause', { paused }), paused ? 'agents.paused' : 'agents.go');
            await this.loadAgents();
        },
        async closePage(page) {
            await this.act(() => ask('POST', '/api/agents/close_page', { page }));
            await this.loadAgents().catch(() => location.reload());
            this.keepFocus('pages-title');
        },
        async setPolicy(name, value) {
            const isText = name.endsWith('_patterns');
            this.policy[name] = isText ? lines(value) : value;
            const put = () => ask('PUT', '/api/policy', this.policy);
            await policySaves.add(() => (isText ? this.save(name, value, put) : this.act(put)));
            await this.loadAgents();
        },

        // Questions to the user.
        async answer(question, answer) {
            await this.act(() => ask('POST', '/api/approvals/answer', { number: question.number, answer }), 'approvals.answered');
            this.focus('approvals-title');
            await this.loadAccess();
        },
        typedAnswer(question) {
            return document.getElementById(`answer-${question.number}`).value;
        },
        /** The whole question. Line ends are marked, since the page wraps lines as well. */
        askedText(question) {
            return question.text.replaceAll('\n', '⏎\n');
        },
        /** Who asks what, and where. The words are those of the window and the command line. */
        headingOf({ kind, session, client }) {
            const place = session === undefined ? '' : '.pane';
            return this.t(`approvals.${kind === 'approval' ? 'act' : 'asks'}${place}`, { pane: session, client });
        },
        choiceText({ kind, client }, choice) {
            return kind === 'approval' ? this.t(`approvals.${choice}`, { client }) : choice;
        },
        async leave(question) {
            await this.act(() => ask('POST', '/api/approvals/answer', { number: question.number, declined: true }));
            this.focus('approvals-title');
            await this.loadAccess();
        },
        async forgetClient(client) {
            await this.act(() => ask('POST', '/api/approvals/forget', { client }), 'approvals.forgotten');
            this.focus('known-title');
            await this.loadAccess();
        },

        // Tokens for agents.
        endName(seconds) {
            return this.t(`tokens.ends.${seconds || 'never'}`);
        },
        paneName(pane) {
            return `${pane.title || pane.shell.shell_type} #${pane.id}`;
        },
        paneNames(token) {
            return token.panes ? `${this.t('tokens.panes')} ${token.panes.map((id) => `#${id}`).join(', ')}` : this.t('tokens.panes.all');
        },
        lacksPane() {
            return this.newToken.some && this.newToken.panes.length === 0;
        },
        async makeToken() {
            const { name, scope, some, panes, ends } = this.newToken;
            if (this.lacksPane()) return;
            const body = { name: name.trim(), scope };
            if (some) body.panes = panes.map(Number);
            if (ends) body.expires_in_seconds = Number(ends);
            const made = await this.act(() => ask('POST', '/api/tokens', body), 'tokens.created');
            if (!made) return;
            this.made = made;
            this.newToken = blankToken();
            this.focus('copy-token');
            await this.loadAccess();
        },
        /** The command that gives an agent the token. A token for some panes needs their instance. */
        useLine() {
            const { token: secret, panes } = this.made ?? {};
            return `UNTERM_TOKEN=${secret} unterm-cli mcp${panes ? ` --instance ${this.project.id}` : ''}`;
        },
        async copy(text) {
            try {
                await navigator.clipboard.writeText(text);
                this.say('tokens.copied');
            } catch {
                this.problem = this.t('tokens.not_copied');
            }
        },
        forget() {
            this.made = null;
            this.focus('token-name');
        },
        askRevoke(token) {
            this.revoking = token.number;
            this.focus(`keep-${token.number}`);
        },
        keep(token) {
            this.revoking = null;
            this.focus(`revoke-${token.number}`);
        },
        async revoke(token) {
            await this.act(() => ask('POST', '/api/tokens/revoke', { number: token.number }), 'tokens.revoked');
            this.revoking = null;
            if (this.made?.number === token.number) this.made = null;
            this.focus('tokens-title');
            await this.loadAccess();
        },
        /** Moves the keyboard to an element that may be new. */
        focus(id) {
            this.$nextTick(() => document.getElementById(id)?.focus());
        },
        /** Does so if the element that had it is gone or disabled. */
        keepFocus(id) {
            this.$nextTick(() => {
                const has = document.activeElement;
                if (!has || has === document.body || has.disabled) document.getElementById(id)?.focus();
            });
        },

        // The instance.
        async setTitle(title) {
            await this.act(() => ask('PUT', '/api/project', { title }));
            await this.loadState();
        },
        async checkUpdates() {
            try {
                const found = await ask('POST', '/api/updates/check', {});
                this.update = found.latest ?? '';
            } catch {
                this.update = this.t('about.unknown');
            }
        },
    }));
});
