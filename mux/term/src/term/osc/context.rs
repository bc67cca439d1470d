//! OSC 3008: contexts, the components in control of the terminal (UAPI.15, "Hierarchical Context Signalling"; systemd's
//! run0, nspawn and shell profile send them).
//!
//! A start sequence opens a context inside the active one, or updates an open one and so ends those inside it. An end
//! sequence ends a context and those inside it. No reset ends a context: a program must not hide that it runs in a
//! container or as another user. Only the end of the program does, as a hangup would.
//!
//! All texts come from programs and prove nothing. Beyond a cap, the deeper context or the longer field is dropped.

use std::fmt::Write;

use super::text::fit;
use crate::Event;
use crate::term::Term;

/// Maximum open contexts. Further contexts are ignored, so that a program can't push out those it runs in.
const DEPTH_CAP: usize = 64;
/// Maximum characters of an id (UAPI.15).
const ID_CAP: usize = 64;
/// Maximum bytes of a text (UAPI.15, `1*255SAFE`).
const TEXT_CAP: usize = 255;

/// What a context is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContextKind {
    /// A booted system.
    Boot,
    /// A container.
    Container,
    /// A virtual machine.
    Vm,
    /// Higher privileges.
    Elevate,
    /// Different privileges.
    ChangePrivileges,
    /// The privileges do not change.
    Subcontext,
    /// A remote system.
    Remote,
    /// A shell.
    Shell,
    /// A command that a shell started.
    Command,
    /// An interactive program.
    App,
    /// A service.
    Service,
    /// A login session.
    Session,
}

/// The names of the kinds in sequences.
const KINDS: [(&str, ContextKind); 12] = [
    ("boot", ContextKind::Boot),
    ("container", ContextKind::Container),
    ("vm", ContextKind::Vm),
    ("elevate", ContextKind::Elevate),
    ("chpriv", ContextKind::ChangePrivileges),
    ("subcontext", ContextKind::Subcontext),
    ("remote", ContextKind::Remote),
    ("shell", ContextKind::Shell),
    ("command", ContextKind::Command),
    ("app", ContextKind::App),
    ("service", ContextKind::Service),
    ("session", ContextKind::Session),
];

/// A context with the fields that its last start sequence had. Texts have at most 255 bytes, without control characters
/// and direction marks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Context {
    /// 1 to 64 characters from U+0020 to U+007E.
    pub id: String,
    /// What the context is.
    pub kind: Option<ContextKind>,
    /// The user that the reporting process runs as.
    pub user: Option<String>,
    /// The host that the reporting process runs on.
    pub hostname: Option<String>,
    /// That host's machine id.
    pub machine_id: Option<String>,
    /// That host's boot id.
    pub boot_id: Option<String>,
    /// The process id of the reporting process.
    pub pid: Option<u64>,
    /// The inode of a pidfd of the reporting process.
    pub pidfd_id: Option<u64>,
    /// The name of the reporting process.
    pub comm: Option<String>,
    /// The working directory of a shell or command.
    pub cwd: Option<String>,
    /// The command line of a command.
    pub command_line: Option<String>,
    /// The name of a virtual machine.
    pub vm: Option<String>,
    /// The name of a container.
    pub container: Option<String>,
    /// The user that the context acts as.
    pub target_user: Option<String>,
    /// The host that a remote context is on.
    pub target_host: Option<String>,
    /// The id of a session.
    pub session_id: Option<String>,
}

/// How a context ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContextExit {
    /// The context succeeded.
    Success,
    /// The context failed.
    Failure,
    /// The context crashed.
    Crash,
    /// The context was interrupted.
    Interrupt,
}

/// The names of the ends in sequences.
const EXITS: [(&str, ContextExit); 4] = [
    ("success", ContextExit::Success),
    ("failure", ContextExit::Failure),
    ("crash", ContextExit::Crash),
    ("interrupt", ContextExit::Interrupt),
];

/// A context that an end sequence ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndedContext {
    /// The context.
    pub context: Context,
    /// How it ended.
    pub exit: Option<ContextExit>,
    /// The exit code.
    pub status: Option<u8>,
    /// The name of the signal that ended it, such as `SIGKILL`.
    pub signal: Option<String>,
}

/// The open contexts, outermost first, and the context that ended last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Contexts {
    open: Vec<Context>,
    ended: Option<EndedContext>,
}

impl Term {
    /// The open contexts (OSC 3008), outermost first. The last is the active one.
    pub fn contexts(&self) -> &[Context] {
        &self.osc.contexts.open
    }

    /// The context that an end sequence ended last.
    pub fn ended_context(&self) -> Option<&EndedContext> {
        self.osc.contexts.ended.as_ref()
    }

    /// OSC 3008: `start=id` or `end=id`, then fields separated by `;`.
    pub(super) fn signal_context(&mut self, rest: &[u8]) {
        let mut fields = rest.split(|&byte| byte == b';').filter_map(field);
        let Some((command, id)) = fields.next() else { return };
        let Some(id) = id_of(&id) else { return tracing::debug!("OSC 3008 without an id") };
        let Contexts { open, ended } = &mut self.osc.contexts;
        let depth = open.iter().position(|context| context.id == id);
        match (command, depth) {
            ("start", None) if open.len() == DEPTH_CAP => {
                return self.caps.dropped("context", DEPTH_CAP);
            }
            ("start", depth) => {
                open.truncate(depth.unwrap_or(DEPTH_CAP));
                let mut context = Context { id, ..Context::default() };
                fields.for_each(|(key, value)| context.set(key, &value));
                open.push(context);
            }
            ("end", Some(depth)) => {
                let Some(context) = open.drain(depth..).next() else { return };
                let mut end = EndedContext { context, exit: None, status: None, signal: None };
                fields.for_each(|(key, value)| end.set(key, &value));
                *ended = Some(end);
            }
            _ => return tracing::debug!(command, "OSC 3008 dropped"),
        }
        self.event(Event::Context);
    }

    /// The program has ended: nothing is in control of the terminal.
    pub(super) fn end_contexts(&mut self) {
        if self.osc.contexts != Contexts::default() {
            self.osc.contexts = Contexts::default();
            self.event(Event::Context);
        }
    }
}

impl Context {
    fn set(&mut self, key: &str, value: &str) {
        let field = match key {
            "type" => {
                self.kind = KINDS.iter().find(|(name, _)| *name == value).map(|(_, kind)| *kind);
                return;
            }
            "pid" => return self.pid = decimal(value),
            "pidfdid" => return self.pidfd_id = decimal(value),
            "user" => &mut self.user,
            "hostname" => &mut self.hostname,
            "machineid" => &mut self.machine_id,
            "bootid" => &mut self.boot_id,
            "comm" => &mut self.comm,
            "cwd" => &mut self.cwd,
            "cmdline" => &mut self.command_line,
            "vm" => &mut self.vm,
            "container" => &mut self.container,
            "targetuser" => &mut self.target_user,
            "targethost" => &mut self.target_host,
            "sessionid" => &mut self.session_id,
            _ => return,
        };
        *field = fit(value.as_bytes(), TEXT_CAP).filter(|text| !text.is_empty());
    }

    /// The start sequence without its frame.
    fn start(&self) -> String {
        let mut out = format!("3008;start={}", escaped(&self.id));
        let mut add = |key: &str, value: &str| {
            let _ = write!(out, ";{key}={}", escaped(value));
        };
        if let Some((name, _)) = KINDS.iter().find(|(_, kind)| Some(*kind) == self.kind) {
            add("type", name);
        }
        for (key, number) in [("pid", self.pid), ("pidfdid", self.pidfd_id)] {
            if let Some(number) = number {
                add(key, &number.to_string());
            }
        }
        for (key, text) in [
            ("user", &self.user),
            ("hostname", &self.hostname),
            ("machineid", &self.machine_id),
            ("bootid", &self.boot_id),
            ("comm", &self.comm),
            ("cwd", &self.cwd),
            ("cmdline", &self.command_line),
            ("vm", &self.vm),
            ("container", &self.container),
            ("targetuser", &self.target_user),
            ("targethost", &self.target_host),
            ("sessionid", &self.session_id),
        ] {
            if let Some(text) = text {
                add(key, text);
            }
        }
        out
    }
}

impl EndedContext {
    fn set(&mut self, key: &str, value: &str) {
        match key {
            "exit" => {
                self.exit = EXITS.iter().find(|(name, _)| *name == value).map(|(_, exit)| *exit);
            }
            "status" => self.status = decimal(value).and_then(|status| status.try_into().ok()),
            "signal" => {
                let is_name =
                    |b: u8| b.is_ascii_uppercase() || b.is_ascii_digit() || b"+-".contains(&b);
                let is_signal = value.starts_with("SIG") && value.bytes().all(is_name);
                self.signal = (is_signal && value.len() <= ID_CAP).then(|| value.to_owned());
            }
            _ => {}
        }
    }

    /// The end sequence without its frame.
    fn end(&self) -> String {
        let mut out = format!("3008;end={}", escaped(&self.context.id));
        if let Some((name, _)) = EXITS.iter().find(|(_, exit)| Some(*exit) == self.exit) {
            let _ = write!(out, ";exit={name}");
        }
        if let Some(status) = self.status {
            let _ = write!(out, ";status={status}");
        }
        if let Some(signal) = &self.signal {
            let _ = write!(out, ";signal={signal}");
        }
        out
    }
}

impl Contexts {
    /// The sequences that rebuild the contexts, without their frames.
    pub fn sequences(&self) -> Vec<String> {
        let ended = self.ended.iter().flat_map(|ended| [ended.context.start(), ended.end()]);
        ended.chain(self.open.iter().map(Context::start)).collect()
    }
}

/// A field, with `\x3b` and `\x5c` in its value decoded. `None` if it has no `=`, is not UTF-8, or has a control
/// character, which the specification excludes.
fn field(field: &[u8]) -> Option<(&str, String)> {
    let (key, value) = std::str::from_utf8(field).ok()?.split_once('=')?;
    let mut decoded = String::with_capacity(value.len());
    let mut rest = value;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        decoded.push_str(before);
        let (c, len) = match escape.get(1..4) {
            Some("x3b" | "x3B") => (';', 4),
            Some("x5c" | "x5C") => ('\\', 4),
            _ => ('\\', 1),
        };
        decoded.push(c);
        rest = &escape[len..];
    }
    let value = decoded + rest;
    (!value.contains(char::is_control)).then_some((key, value))
}

/// A value as [`field`] decodes it.
fn escaped(value: &str) -> String {
    value.replace('\\', "\\x5c").replace(';', "\\x3b")
}

fn id_of(id: &str) -> Option<String> {
    let is_id = (1..=ID_CAP).contains(&id.len()) && id.bytes().all(|b| (b' '..=b'~').contains(&b));
    is_id.then(|| id.to_owned())
}

/// A decimal number without a sign.
fn decimal(digits: &str) -> Option<u64> {
    digits.bytes().all(|b| b.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
}
