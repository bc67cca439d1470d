//! The matrix of rights: every method and every tool, for every kind of caller, on sessions that the caller's token
//! reaches and on other sessions. The table is checked in next to this file as `matrix.txt`. `UPDATE_EXPECT=1` rewrites
//! it.
//!
//! The real dispatcher fills every field. A last gate refuses all calls that pass the other gates, so that no method
//! runs. Tools run in a real session. Methods that only read do run for them, and the last gate refuses the first
//! method that changes something.

use std::{fmt::Write, sync::Arc, task::Poll};

use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf, duplex,
    split,
};

use super::{Decision, Subjects};
use crate::{
    caller::{Access, Caller, Capabilities, Opener, Scopes, TokenKind, Wire},
    dialect::{mcp, settings::own_methods, tmux},
    dispatch::{
        Dispatcher, Gate,
        tests::{self, dispatcher},
    },
    error::{Denial, Error},
    methods::{self, Entry},
    poll::poll_once,
    services::people::{approvals::Approval, questions::Verdict, tokens::Scope},
};

/// The message of the last gate.
const ADMITTED: &str = "every gate before this one let it pass";

/// The last gate. Records which calls reach it, and refuses those that must not run.
#[derive(Default)]
struct Last {
    reached: Mutex<LastReached>,
    lets: Mutex<Lets>,
}

/// The furthest that a tool's method calls got.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
enum LastReached {
    #[default]
    Nothing,
    /// A method that only reads ran.
    Looked,
    /// A method that changes something reached the last gate.
    Changed,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum Lets {
    #[default]
    Nothing,
    Looks,
    All,
}

impl Gate for Last {
    fn decide(&self, _: &Caller, method: &Entry, _: &str) -> Decision {
        let looks = method.access == Access::Read && Subjects::PICTURES.contains(method.changes);
        match *self.lets.lock() {
            Lets::All => return Decision::Allow,
            // Whether the caller may answer is decided later, after the answer was parsed.
            Lets::Nothing if method.changes.intersects(Subjects::ANSWERS) => {
                return Decision::Allow;
            }
            Lets::Looks if looks => {
                let mut reached = self.reached.lock();
                *reached = LastReached::Looked.max(*reached);
                return Decision::Allow;
            }
            _ => {}
        }
        *self.reached.lock() = LastReached::Changed;
        Decision::deny(ADMITTED)
    }
}

/// The session that a call names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Names {
    /// A session that is reached by the tokens for one session.
    Own,
    /// A session that is not reached by the tokens for one session.
    Other,
    /// No session.
    Nothing,
}

/// A kind of caller, and the state of the instance while it calls.
struct Column {
    head: &'static str,
    about: &'static str,
    token: Token,
    rule: Approval,
    client: &'static str,
    is_agent: bool,
    is_paused: bool,
    /// Whether the caller speaks tmux for the programs in the own session.
    is_opener: bool,
    names: &'static [Names],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token {
    Instance,
    Page,
    Made(Scope),
    Bound(Scope),
    Expired,
    Revoked,
}

/// For a token that reaches every session, the results for all of these must be equal.
const ANY: &[Names] = &[Names::Own, Names::Other, Names::Nothing];

const COLUMNS: [Column; 23] = {
    const BASE: Column = Column {
        head: "owner",
        about: "a script with the instance's token; for tools, an agent with that token and the rule `allow`",
        token: Token::Instance,
        rule: Approval::Allow,
        client: "somebody",
        is_agent: false,
        is_paused: false,
        is_opener: false,
        names: ANY,
    };
    const fn made(head: &'static str, about: &'static str, scope: Scope) -> Column {
        Column { head, about, token: Token::Made(scope), rule: Approval::Ask, ..BASE }
    }
    const fn bound(head: &'static str, about: &'static str, scope: Scope, names: Names) -> Column {
        let names: &[Names] = match names {
            Names::Own => &[Names::Own],
            Names::Other => &[Names::Other],
            Names::Nothing => &[Names::Nothing],
        };
        Column { head, about, token: Token::Bound(scope), rule: Approval::Ask, names, ..BASE }
    }
    const fn opener(head: &'static str, about: &'static str, names: Names) -> Column {
        Column {
            is_opener: true,
            token: Token::Instance,
            ..bound(head, about, Scope::Admin, names)
        }
    }
    const fn agent(head: &'static str, about: &'static str) -> Column {
        Column { head, about, rule: Approval::Ask, is_agent: true, ..BASE }
    }
    [
        BASE,
        Column { head: "page", about: "the settings page", token: Token::Page, ..BASE },
        made("read", "a token with the scope read", Scope::Read),
        made("act", "a token with the scope act", Scope::Act),
        made("admin", "a token with the scope admin", Scope::Admin),
        bound(
            "r.own",
            "a token with the scope read for one session; the call names that session",
            Scope::Read,
            Names::Own,
        ),
        bound(
            "r.oth",
            "a token with the scope read for one session; the call names another session",
            Scope::Read,
            Names::Other,
        ),
        bound(
            "r.non",
            "a token with the scope read for one session; the call names no session",
            Scope::Read,
            Names::Nothing,
        ),
        bound(
            "a.own",
            "a token with the scope act for one session; the call names that session",
            Scope::Act,
            Names::Own,
        ),
        bound(
            "a.oth",
            "a token with the scope act for one session; the call names another session",
            Scope::Act,
            Names::Other,
        ),
        bound(
            "a.non",
            "a token with the scope act for one session; the call names no session",
            Scope::Act,
            Names::Nothing,
        ),
        bound(
            "x.own",
            "a token with the scope admin for one session; the call names that session",
            Scope::Admin,
            Names::Own,
        ),
        bound(
            "x.oth",
            "a token with the scope admin for one session; the call names another session",
            Scope::Admin,
            Names::Other,
        ),
        Column {
            token: Token::Expired,
            ..made("expir", "a token with the scope admin that has expired", Scope::Admin)
        },
        Column {
            token: Token::Revoked,
            ..made("revok", "a token with the scope admin that was revoked", Scope::Admin)
        },
        agent("unkn", "an agent with the instance's token that the user has not yet approved"),
        Column {
            client: KNOWN,
            ..agent("known", "an agent with the instance's token that the user has approved")
        },
        Column {
            rule: Approval::Deny,
            ..agent("deny", "an agent with the instance's token and the rule `deny`")
        },
        Column {
            head: "p.own",
            about: "`owner`, while agents are paused",
            is_paused: true,
            ..BASE
        },
        Column {
            head: "p.pag",
            about: "`page`, while agents are paused",
            token: Token::Page,
            is_paused: true,
            ..BASE
        },
        opener(
            "t.own",
            "a program that speaks tmux; the call names its own session or a session that it opened",
            Names::Own,
        ),
        opener("t.oth", "a program that speaks tmux; the call names another session", Names::Other),
        opener("t.non", "a program that speaks tmux; the call names no session", Names::Nothing),
    ]
};

const KNOWN: &str = "a known agent";

const LEGEND: &str = "\
Who may do what: the test in control/src/authority/matrix.rs generates this page from the dispatcher's decisions.
To regenerate it, run `UPDATE_EXPECT=1 cargo test -p unterm-control --lib matrix`, and review each change.

yes    allowed
scope  refused: the token lacks a scope that the call needs
panes  refused: the call concerns a session that the token does not reach
user   refused: only the user may do this
ended  refused: the token has expired or was revoked
asks   refused until the user approves; a tool asks the user
denied refused: the user's rule denies agents
unseen refused: to this caller, the session does not exist
hold   waits until the user resumes agents
-      not applicable: no such caller exists, or the tool requires a session

";

/// An instance, and its callers.
struct World {
    _home: tempfile::TempDir,
    dispatcher: Arc<Dispatcher>,
    last: Arc<Last>,
    server: Arc<mcp::Server>,
    own: u64,
    other: u64,
    /// The tokens' numbers, in the order of the columns.
    tokens: Vec<u64>,
}

impl World {
    async fn new() -> Self {
        let last = Arc::new(Last::default());
        let (home, dispatcher) = dispatcher(vec![last.clone()]);
        let dispatcher = Arc::new(dispatcher);
        let context = dispatcher.context();
        let number = |scope, seconds| {
            let made = context.people.tokens.create("token", scope, None, seconds).unwrap();
            made.0.number
        };
        let tokens: Vec<u64> = COLUMNS
            .iter()
            .map(|column| match column.token {
                Token::Made(scope) | Token::Bound(scope) => number(scope, None),
                Token::Expired => number(Scope::Admin, Some(0)),
                Token::Revoked => {
                    let number = number(Scope::Admin, None);
                    assert!(context.people.tokens.revoke(number).unwrap());
                    number
                }
                Token::Instance | Token::Page => 0,
            })
            .collect();
        let asks =
            Caller { client: Some(KNOWN.to_owned()), ..tests::caller(Scopes::all()).for_agent() };
        context.people.approvals.set_rule(Approval::Ask);
        let (asked, ..) = context
            .people
            .approvals
            .ask(&context.people.questions, &asks, "call", "call", None)
            .unwrap();
        context.answer(asked, Verdict::Always.name()).await.unwrap();
        let server = Arc::new(mcp::Server::new(dispatcher.clone()));
        let mut world = Self { _home: home, dispatcher, last, server, own: 0, other: 0, tokens };
        world.own = world.open().await;
        world.other = world.open().await;
        world
    }

    async fn open(&self) -> u64 {
        *self.last.lets.lock() = Lets::All;
        let mut reply = Vec::new();
        let owner = tests::caller(Scopes::all());
        let params = r#"{"program": "cat"}"#;
        self.dispatcher.call_into(&owner, "session.create", params, &mut reply).await.unwrap();
        *self.last.lets.lock() = Lets::Nothing;
        serde_json::from_slice::<Value>(&reply).unwrap()["id"].as_u64().unwrap()
    }

    /// Sets the instance to a column's state, and returns the column's caller.
    fn caller(&self, index: usize, wire: Wire) -> Caller {
        let column = &COLUMNS[index];
        let context = self.dispatcher.context();
        context.people.approvals.set_rule(column.rule);
        context.people.clients.pause(column.is_paused);
        let scopes = match column.token {
            Token::Made(scope) | Token::Bound(scope) => scope.scopes(),
            _ => Scopes::all(),
        };
        let token = match column.token {
            Token::Instance => TokenKind::Instance,
            Token::Page => TokenKind::Page,
            _ => TokenKind::Agent(self.tokens[index]),
        };
        let for_agent = column.is_agent || wire == Wire::Mcp;
        Caller {
            wire,
            capabilities: Capabilities::at_login(token, for_agent),
            connection: index as u64 + 100,
            token,
            client: Some(column.client.to_owned()),
            panes: matches!(column.token, Token::Bound(_)).then(|| [self.own].into()),
            opener: column.is_opener.then_some(Opener::Pane(self.own)),
            ..tests::caller(scopes)
        }
    }

    fn session(&self, names: Names) -> Option<u64> {
        match names {
            Names::Own => Some(self.own),
            Names::Other => Some(self.other),
            Names::Nothing => None,
        }
    }

    /// The result of calling a method, as text for the matrix.
    async fn method(&self, caller: &Caller, entry: &'static Entry, names: Names) -> &'static str {
        let schema = serde_json::to_value(entry.params_schema()).unwrap();
        let mut params = json!({});
        if let Some(session) = self.session(names) {
            for name in entry.named {
                if schema["properties"].get(*name).is_some() {
                    params[*name] = json!(session);
                }
            }
        }
        if entry.changes.intersects(Subjects::ANSWERS) {
            params = json!({"number": 0, "answer": "once"});
        }
        let (params, mut reply) = (params.to_string(), Vec::new());
        let mut call = Box::pin(self.dispatcher.call_entry(caller, entry, &params, &mut reply));
        match poll_once(&mut call).await {
            Poll::Pending => "hold",
            Poll::Ready(Err(Error::Denied(denial))) => match denial {
                Denial::Scope { .. } => "scope",
                Denial::Sessions { .. } => "panes",
                Denial::Approval(_) => "asks",
                Denial::Agents(_) => "user",
                Denial::Ended => "ended",
                Denial::Other(why) if why == ADMITTED => "yes",
                Denial::Other(why) if why.starts_with("only the user") => "user",
                Denial::Other(why) if why.starts_with("there is no question") => "yes",
                Denial::Other(why) => panic!("{}: {why}", entry.name),
            },
            Poll::Ready(other) => panic!("{}: {other:?}", entry.name),
        }
    }

    /// Appends the row of a method or a tool, with one field per column.
    fn line(page: &mut String, name: &str, fields: &[String]) {
        let _ = write!(page, "{name:30}");
        for field in fields {
            let _ = write!(page, " {field:6}");
        }
        page.truncate(page.trim_end().len());
        page.push('\n');
    }

    async fn methods(&self, page: &mut String, entries: impl Iterator<Item = &'static Entry>) {
        let mut entries: Vec<_> = entries.collect();
        // Skip the method if an earlier route calls it, too.
        entries.dedup_by_key(|entry| entry.name);
        for entry in entries {
            let mut fields = Vec::new();
            for (index, column) in COLUMNS.iter().enumerate() {
                let caller = self.caller(index, Wire::Tcp);
                let mut outcomes = Vec::new();
                for names in column.names {
                    outcomes.push(self.method(&caller, entry, *names).await);
                }
                fields.push(field(outcomes));
            }
            Self::line(page, entry.name, &fields);
        }
    }

    /// Appends the rows of a toolset.
    async fn tools(&self, page: &mut String, toolset: &'static mcp::Toolset) {
        let mut columns = Vec::new();
        for (index, column) in COLUMNS.iter().enumerate() {
            if column.token == Token::Page || column.is_opener {
                // Neither a settings page nor a program that speaks tmux can open an MCP session.
                columns.push(vec!["-".to_owned(); toolset.tools.len()]);
                continue;
            }
            let names = Named::new(self, toolset, index).await;
            let mut client = Client::begin(self, toolset, self.caller(index, Wire::Mcp));
            let mut fields = Vec::new();
            for tool in toolset.tools {
                let mut outcomes = Vec::new();
                for it in called(toolset, column) {
                    let arguments = arguments(tool.name, names.of(*it), names.tty(*it));
                    outcomes.push(client.tool(self, tool.name, arguments).await);
                }
                fields.push(field(outcomes));
            }
            columns.push(fields);
        }
        for (row, tool) in toolset.tools.iter().enumerate() {
            let fields: Vec<_> = columns.iter().map(|column| column[row].clone()).collect();
            Self::line(page, tool.name, &fields);
        }
    }
}

/// The sessions with which a toolset's tools are called. If a token reaches all sessions, the case without a session is
/// left out, because a tool then finds a session by itself. The sessions of `tester` belong to their client.
fn called(toolset: &mcp::Toolset, column: &Column) -> &'static [Names] {
    match (column.names.len(), toolset.name) {
        (1, _) => column.names,
        (_, "tester") => &[Names::Own],
        _ => &[Names::Own, Names::Other],
    }
}

/// The text of a field: the results for the different sessions, which are equal in most cases.
fn field(mut outcomes: Vec<&str>) -> String {
    outcomes.dedup();
    outcomes.join("/")
}

/// The names of the sessions in a toolset.
struct Named {
    own: Value,
    other: Value,
    ttys: [Value; 2],
    /// Clients that must stay connected, because sessions of `tester` end with their client.
    _kept: Vec<Client>,
}

impl Named {
    async fn new(world: &World, toolset: &'static mcp::Toolset, index: usize) -> Self {
        let user = |connection| Caller { connection, ..tests::caller(Scopes::all()).for_agent() };
        let context = world.dispatcher.context();
        context.people.approvals.set_rule(Approval::Allow);
        context.people.clients.pause(false);
        let null = [Value::Null, Value::Null];
        match toolset.name {
            "iterm" => {
                let mut client = Client::begin(world, toolset, user(98));
                *world.last.lets.lock() = Lets::All;
                let listed = client.call("iterm_list_sessions", json!({})).await;
                let of = |id: u64, key: &str| {
                    let end = format!("-{id}");
                    let rows = listed.as_array().unwrap();
                    let is_it = |row: &&Value| row["session_id"].as_str().unwrap().ends_with(&end);
                    rows.iter().find(is_it).unwrap_or_else(|| panic!("{id}: {listed}"))[key].clone()
                };
                Self {
                    own: of(world.own, "session_id"),
                    other: of(world.other, "session_id"),
                    ttys: [of(world.own, "tty"), of(world.other, "tty")],
                    _kept: vec![client],
                }
            }
            "tester" => {
                // One session belongs to the connection of the column's caller, and one to another connection.
                let mut kept = Vec::new();
                let mut ids = Vec::new();
                for connection in [index as u64 + 100, 99] {
                    let mut client = Client::begin(world, toolset, user(connection));
                    *world.last.lets.lock() = Lets::All;
                    let launched = client.call("launch_app", json!({"command": "cat"})).await;
                    ids.push(launched["session_id"].clone());
                    kept.push(client);
                }
                let other = ids.pop().unwrap();
                Self { own: ids.pop().unwrap(), other, ttys: null, _kept: kept }
            }
            _ => Self {
                own: json!(world.own),
                other: json!(world.other),
                ttys: null,
                _kept: Vec::new(),
            },
        }
    }

    fn of(&self, names: Names) -> Option<&Value> {
        match names {
            Names::Own => Some(&self.own),
            Names::Other => Some(&self.other),
            Names::Nothing => None,
        }
    }

    fn tty(&self, names: Names) -> &Value {
        &self.ttys[usize::from(names == Names::Other)]
    }
}

/// Arguments that call a tool for a session, or for none.
fn arguments(tool: &str, session: Option<&Value>, tty: &Value) -> Value {
    let mut arguments = match tool {
        "run" | "launch_app" => json!({"command": "true"}),
        "wait" => json!({"any": [{"text": "never"}], "timeout_ms": 0}),
        "find" | "search" => json!({"pattern": "never"}),
        "agent_state" => json!({"plugin": "shell"}),
        "input" => json!({"text": "x"}),
        "file_read" => json!({"path": "file"}),
        "file_write" => json!({"path": "file", "text": "x"}),
        "signal" => json!({"signal": "INT"}),
        "pane_split" => json!({"direction": "down"}),
        "pane_resize" => json!({"cols": 80, "rows": 24}),
        "request_human" => json!({"message": "Well?"}),
        "iterm_register_session" => return json!({"tty_path": tty}),
        "iterm_get_session_by_name" => return json!({"name": "cat"}),
        "iterm_set_session_name" => json!({"new_name": "x"}),
        "iterm_send_command" => json!({"command": "true"}),
        "iterm_send_keys" => json!({"keys": "enter"}),
        "send_keys" => json!({"keys": "x"}),
        "resize_terminal" => json!({"width": 80, "height": 24}),
        _ => json!({}),
    };
    let key = match tool {
        "status"
        | "pane_list"
        | "pane_open"
        | "iterm_list_sessions"
        | "iterm_new_tab"
        | "launch_app"
        | "list_sessions" => return arguments,
        iterm if iterm.starts_with("iterm_") => "identifier",
        "view_screen"
        | "send_keys"
        | "get_cursor_position"
        | "get_screen_size"
        | "resize_terminal"
        | "restart_app"
        | "stop_app" => "session_id",
        _ => "pane",
    };
    if let Some(session) = session {
        arguments[key] = session.clone();
    }
    arguments
}

/// A client of the Model Context Protocol that asks its user in its own dialog.
struct Client {
    writer: WriteHalf<DuplexStream>,
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    id: u64,
    name: String,
}

impl Client {
    fn begin(world: &World, toolset: &'static mcp::Toolset, caller: Caller) -> Self {
        let (here, there) = duplex(1 << 20);
        let (reader, writer) = split(there);
        let name = caller.client.clone().unwrap_or_default();
        let serve = mcp::serve(
            world.server.clone(),
            reader,
            writer,
            caller,
            toolset,
            None,
            mcp::PendingReplies::default(),
        );
        tokio::spawn(serve);
        let (lines, writer) = split(here);
        Self { writer, lines: BufReader::new(lines).lines(), id: 0, name }
    }

    async fn send(&mut self, tool: &str, arguments: Value) {
        self.id += 1;
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": self.name, "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}},
        });
        let params = json!({"name": tool, "arguments": arguments, "_meta": meta});
        let request =
            json!({"jsonrpc": "2.0", "id": self.id, "method": "tools/call", "params": params});
        self.writer.write_all(format!("{request}\n").as_bytes()).await.unwrap();
    }

    async fn reply(&mut self) -> Value {
        loop {
            let line = self.lines.next_line().await.unwrap().expect("a reply");
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["id"] == self.id {
                return message;
            }
        }
    }

    /// Calls a tool and parses the JSON in its text.
    async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.send(tool, arguments).await;
        let reply = self.reply().await;
        let text =
            reply["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{reply}"));
        serde_json::from_str(text).unwrap()
    }

    /// The result of calling a tool, as text for the matrix.
    async fn tool(&mut self, world: &World, tool: &str, arguments: Value) -> &'static str {
        let context = world.dispatcher.context();
        *world.last.lets.lock() = Lets::Looks;
        *world.last.reached.lock() = LastReached::Nothing;
        self.send(tool, arguments).await;
        let held = async {
            while context.people.clients.waiting() == 0 {
                tokio::task::yield_now().await;
            }
        };
        let reply = tokio::select! {
            biased;
            reply = self.reply() => reply,
            () = held => {
                context.people.clients.pause(false);
                self.reply().await;
                context.people.clients.pause(true);
                return "hold";
            }
        };
        context.people.questions.withdraw_approvals(None);
        let reached = *world.last.reached.lock();
        if reached == LastReached::Changed {
            return "yes";
        }
        let result = &reply["result"];
        if result["resultType"] == "input_required" {
            return "asks";
        }
        let text = reply["error"]["message"].as_str().or(result["content"][0]["text"].as_str());
        let text = text.unwrap_or_else(|| panic!("{tool}: {reply}"));
        let words = [
            ("needs the scope", "scope"),
            ("is out of the token's scopes", "scope"),
            ("your token reaches", "panes"),
            ("your token does not reach", "panes"),
            ("is out of the token's sessions", "panes"),
            ("has ended, or was taken back", "ended"),
            ("has denied", "denied"),
            ("No session", "unseen"),
            ("not_found", "unseen"),
            ("SESSION_NOT_FOUND", "unseen"),
            ("There is no session", "unseen"),
        ];
        let word = words.iter().find(|(phrase, _)| text.contains(phrase)).map(|(_, word)| *word);
        let fails = result["isError"] == true || reply.get("error").is_some();
        match word {
            Some(word) => word,
            None if text.contains("Not allowed") => "?",
            // The tool needs a session, and the arguments contain none.
            None if fails && reached == LastReached::Nothing => "-",
            None => "yes",
        }
    }
}

#[tokio::test]
async fn the_access_matrix_matches_the_committed_page() {
    let world = World::new().await;
    let mut page = LEGEND.to_owned();
    for column in &COLUMNS {
        let _ = writeln!(page, "{:6} {}", column.head, column.about);
    }
    let heads: Vec<_> = COLUMNS.iter().map(|column| column.head.to_owned()).collect();
    page.push('\n');
    World::line(&mut page, "METHODS", &heads);
    world.methods(&mut page, methods::METHODS.iter()).await;
    page.push('\n');
    World::line(&mut page, "METHODS OF THE SETTINGS PAGE", &heads);
    let mut own: Vec<_> = own_methods().collect();
    own.sort_unstable_by_key(|entry| entry.name);
    world.methods(&mut page, own.into_iter()).await;
    page.push('\n');
    World::line(&mut page, "METHODS OF TMUX", &heads);
    world.methods(&mut page, tmux::own_methods()).await;
    for toolset in mcp::TOOLSETS {
        page.push('\n');
        World::line(&mut page, &format!("TOOLS OF {}", toolset.name.to_uppercase()), &heads);
        world.tools(&mut page, toolset).await;
    }
    expect_test::expect_file!["matrix.txt"].assert_eq(&page);
    world.dispatcher.context().mux.shutdown();
}
