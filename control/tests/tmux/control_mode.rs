//! Control mode: a client sends lines, and gets results, output and notifications as lines.

use std::collections::VecDeque;

use super::{Program, open};
use crate::support::{Fixture, Session, Wire, question};
use unterm_control::{
    Approval,
    tmux::{Answer, Event},
};

/// A client in control mode.
struct Control {
    wire: Wire,
    /// Lines that have not been read.
    lines: VecDeque<String>,
    /// Whether the dialect has asked for a line.
    is_asked: bool,
    status: Option<u8>,
}

impl Control {
    fn begin(program: &Program<'_>, args: &[&str]) -> Self {
        let wire = program.begin(args);
        Self { wire, lines: VecDeque::new(), is_asked: false, status: None }
    }

    /// Attaches to a session.
    fn attach(program: &Program<'_>, session: &str) -> Self {
        let mut control = Self::begin(program, &["-C", "attach", "-t", session]);
        control.until("%session-changed ");
        control
    }

    fn receive(&mut self) {
        let line = self.wire.receive().expect("a message");
        match serde_json::from_str(&line).unwrap() {
            Event::Out(text) => self.lines.extend(text.lines().map(str::to_owned)),
            Event::Line => self.is_asked = true,
            Event::Exit(status) => self.status = Some(status),
            event => panic!("{event:?}"),
        }
    }

    fn line(&mut self) -> String {
        loop {
            if let Some(line) = self.lines.pop_front() {
                return line;
            }
            self.receive();
        }
    }

    /// The next line that begins so. Others are dropped.
    fn until(&mut self, start: &str) -> String {
        loop {
            let line = self.line();
            assert!(!line.starts_with("%exit"), "{line}, but expected {start}");
            if line.starts_with(start) {
                return line;
            }
        }
    }

    fn answer(&mut self, answer: &Answer) {
        while !self.is_asked {
            self.receive();
        }
        self.is_asked = false;
        self.wire.send(serde_json::to_string(answer).unwrap() + "\n");
    }

    fn send(&mut self, command: &str) {
        self.answer(&Answer { text: command.to_owned(), ..Answer::default() });
    }

    /// Sends a command, and returns the lines of its result and whether it succeeded.
    fn result(&mut self, command: &str) -> (Vec<String>, bool) {
        self.send(command);
        let begin = self.until("%begin ");
        let guard = begin.strip_prefix("%begin").unwrap().to_owned();
        assert!(guard.ends_with(" 1"), "{begin}");
        let mut lines = Vec::new();
        loop {
            let line = self.line();
            match line.strip_prefix("%end").or(line.strip_prefix("%error")) {
                Some(rest) if rest == guard => return (lines, line.starts_with("%end")),
                _ => lines.push(line),
            }
        }
    }

    fn prints(&mut self, command: &str) -> String {
        let (lines, is_ok) = self.result(command);
        assert!(is_ok, "{command}: {lines:?}");
        lines.join("\n")
    }

    fn fails(&mut self, command: &str) -> String {
        let (lines, is_ok) = self.result(command);
        assert!(!is_ok, "{command}: {lines:?}");
        lines.join("\n")
    }

    /// The last line, and the exit status.
    fn exit(mut self) -> (String, u8) {
        loop {
            let line = self.line();
            if line.starts_with("%exit") {
                while self.status.is_none() {
                    self.receive();
                }
                return (line, self.status.unwrap());
            }
        }
    }
}

fn fixture() -> (Fixture, Session) {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let first = open(&fixture, &mut wire, "cat", &[]);
    (fixture, first)
}

#[test]
fn commands_have_results_between_guards() {
    let (fixture, first) = fixture();
    let program = Program { fixture: &fixture, pane: Some(first.id) };
    let mut control = Control::begin(&program, &["-C", "attach", "-t", "$0"]);
    assert!(control.line().starts_with("%begin "));
    let end = control.line();
    assert!(end.starts_with("%end ") && end.ends_with(" 0"), "{end}");
    let instance = fixture.server().instance_id().to_owned();
    assert_eq!(control.line(), format!("%session-changed $0 {instance}"));
    assert_eq!(
        control.prints("display -p '#D #{client_control_mode}'"),
        format!("%{} 1", first.id)
    );
    // Each command of a line has a result.
    control.send("display -p one ; display -p two");
    control.until("one");
    control.until("%begin ");
    assert_eq!(control.line(), "two");
    assert_eq!(control.fails("nope"), "parse error: unknown command: nope");
    assert_eq!(control.fails("display -p 'x"), "parse error: syntax error");
    assert_eq!(control.fails("kill-pane -t %99"), "can't find pane: %99");
    assert_eq!(control.prints("set-buffer -b x text"), "");
    assert_eq!(control.prints("show-buffer -b x"), "text");
    assert!(control.prints("show-messages").contains(" command: show-buffer -b x"));
    let clients = program.prints(&["list-clients", "-F", "#{client_name} #{client_flags}"]);
    assert_eq!(clients, "client-4711 attached,focused,control-mode,UTF-8");
    assert_eq!(program.prints(&["display", "-p", "#{session_attached}"]), "1");
    program.prints(&["display-message", "-c", "client-4711", "hello\nworld"]);
    assert_eq!(control.until("%message"), "%message hello world");
    control.send("");
    assert_eq!(control.exit(), ("%exit".to_owned(), 0));
    program.until(&["list-clients"], "");
}

#[test]
fn output_of_the_session_is_sent() {
    let (fixture, first) = fixture();
    let program = Program { fixture: &fixture, pane: Some(first.id) };
    let mut control = Control::attach(&program, "$0");
    // The echo can arrive before the command's result, which is therefore not read first.
    control.send("send-keys -l 'a\\b é'");
    let output = format!("%output %{} ", first.id);
    let mut text = String::new();
    // The terminal echoes byte by byte. Parts of a character that are read one after the other are escaped.
    while text.replace("\\303\\251", "é") != "a\\134b é" {
        text += control.until(&output).strip_prefix(&output).unwrap();
    }
    // Panes of other sessions are not sent, and panes that are opened later are.
    let work = ["new-session", "-d", "-s", "work", "-P", "-F", "#D", "echo other; cat"];
    let other = program.prints(&work);
    program.until(&["display", "-p", "-t", &other, "#{C:other}"], "1");
    let own = program.prints(&["split-window", "-d", "-P", "-F", "#D", "cat"]);
    control.until("%layout-change ");
    program.prints(&["send-keys", "-t", &own, "-l", "here"]);
    loop {
        let line = control.until("%output ");
        assert!(!line.contains("other"), "{line}");
        if line.starts_with(&format!("%output {own} ")) {
            break;
        }
    }
    control.send("switch-client -t work");
    control.until("%session-changed $1 work");
    program.prints(&["send-keys", "-t", &other, "-l", "now"]);
    // The echo of the keys can arrive in parts.
    let output = format!("%output {other} ");
    let mut text = String::new();
    while !text.ends_with("now") {
        text += control.until(&output).strip_prefix(&output).unwrap();
    }
}

#[test]
fn changes_of_windows_and_sessions_are_notified() {
    let (fixture, first) = fixture();
    let program = Program { fixture: &fixture, pane: Some(first.id) };
    let mut control = Control::attach(&program, "$0");
    let own = program.prints(&["display", "-p", "#{window_id}"]);
    let pane = program.prints(&["split-window", "-h", "-P", "-F", "#D", "cat"]);
    control.until(&format!("%window-pane-changed {own} {pane}"));
    let layout = program.prints(&["display", "-p", "#{window_layout}"]);
    control.until(&format!("%layout-change {own} {layout} {layout} *"));
    program.prints(&["rename-window", "name"]);
    control.until(&format!("%window-renamed {own} name"));
    let new = program.prints(&["new-window", "-d", "-P", "-F", "#{window_id}", "cat"]);
    control.until(&format!("%window-add {new}"));
    control.send(&format!("select-window -t {new}"));
    control.until(&format!("%session-window-changed $0 {new}"));
    program.prints(&["kill-window", "-t", &new]);
    control.until(&format!("%window-close {new}"));
    let other =
        program.prints(&["new-session", "-d", "-s", "two", "-P", "-F", "#{window_id}", "cat"]);
    control.until(&format!("%unlinked-window-add {other}"));
    control.until("%sessions-changed");
    program.prints(&["rename-window", "-t", "two:", "far"]);
    control.until(&format!("%unlinked-window-renamed {other} far"));
    program.prints(&["rename-session", "-t", "two", "three"]);
    control.until("%session-renamed $1 three");
    program.prints(&["kill-session", "-t", "three"]);
    control.until(&format!("%unlinked-window-close {other}"));
    control.until("%sessions-changed");
}

#[test]
fn a_client_opens_a_session_and_ends_with_it() {
    let (fixture, first) = fixture();
    let program = Program { fixture: &fixture, pane: Some(first.id) };
    let mut control = Control::begin(&program, &["-C", "new-session", "-s", "work", "cat"]);
    let window = control.until("%window-add @");
    control.until("%sessions-changed");
    control.until("%session-changed $1 work");
    let shown = format!("@{}", window.strip_prefix("%window-add @").unwrap());
    assert_eq!(control.prints("display -p '#S #{window_id}'"), format!("work {shown}"));
    // The user's tab stays active.
    let active = fixture.mux.layout().active_tab().unwrap().focused;
    assert_eq!(active.0, first.id);
    program.prints(&["kill-session", "-t", "work"]);
    assert_eq!(control.exit(), ("%exit".to_owned(), 0));
    let mut failed = Control::begin(&program, &["-C", "attach", "-t", "none"]);
    assert!(failed.line().starts_with("%begin "));
    assert_eq!(failed.line(), "can't find session: none");
    assert!(failed.line().starts_with("%error "));
    assert_eq!(failed.exit(), ("%exit".to_owned(), 1));
    let control = Control::begin(&program, &["-C", "list-sessions"]);
    assert_eq!(control.exit(), ("%exit".to_owned(), 0));
}

#[test]
fn clients_are_detached_by_name_or_at_the_end_of_their_input() {
    let (fixture, first) = fixture();
    let program = Program { fixture: &fixture, pane: Some(first.id) };
    let control = Control::attach(&program, "$0");
    assert_eq!(program.fails(&["detach-client", "-t", "nope"]), "can't find client: nope");
    program.prints(&["detach-client", "-t", "client-4711"]);
    assert_eq!(control.exit(), ("%exit".to_owned(), 0));
    let mut control = Control::attach(&program, "$0");
    control.answer(&Answer { status: 1, ..Answer::default() });
    assert_eq!(control.exit(), ("%exit".to_owned(), 0));
    // A client that disconnects is removed.
    drop(Control::attach(&program, "$0"));
    program.until(&["list-clients"], "");
    assert_eq!(program.fails(&["detach-client"]), "no current client");
    assert_eq!(program.fails(&["refresh-client", "-C", "80x24"]), "no current client");
}

#[test]
fn formats_are_watched() {
    let (fixture, first) = fixture();
    let program = Program { fixture: &fixture, pane: Some(first.id) };
    let mut control = Control::attach(&program, "$0");
    let window = program.prints(&["display", "-p", "#{window_id}"]);
    control.prints("refresh-client -B 'mine:%*:#{pane_title}' -B 'size::#{window_panes}'");
    let title = format!("%subscription-changed mine $0 {window} 0 %{} : ", first.id);
    control.until(&title);
    assert_eq!(
        control.until("%subscription-changed size"),
        "%subscription-changed size $0 - - - : 1"
    );
    program.prints(&["select-pane", "-T", "new title"]);
    assert_eq!(control.until("%subscription-changed mine"), format!("{title}new title"));
    program.prints(&["split-window", "-d", "cat"]);
    assert_eq!(
        control.until("%subscription-changed size"),
        "%subscription-changed size $0 - - - : 2"
    );
    control.prints("refresh-client -B size");
    program.prints(&["kill-pane", "-a"]);
    control.until("%layout-change");
    program.prints(&["select-pane", "-T", "last"]);
    loop {
        let line = control.until("%subscription-changed ");
        assert!(!line.contains(" size "), "{line}");
        if line.ends_with(": last") {
            break;
        }
    }
}

#[test]
fn output_is_paused_and_switched_off() {
    let (fixture, first) = fixture();
    let program = Program { fixture: &fixture, pane: Some(first.id) };
    let mut control = Control::attach(&program, "$0");
    let id = first.id;
    control.prints("refresh-client -f pause-after=60");
    program.prints(&["send-keys", "-l", "aaa"]);
    control.until(&format!("%extended-output %{id} "));
    control.prints(&format!("refresh-client -A '%{id}:pause'"));
    assert_eq!(control.until("%pause"), format!("%pause %{id}"));
    program.prints(&["send-keys", "-l", "bbb"]);
    first.wait_for_text("aaabbb");
    control.prints(&format!("refresh-client -A '%{id}:continue'"));
    assert_eq!(control.until("%continue"), format!("%continue %{id}"));
    program.prints(&["send-keys", "-l", "ccc"]);
    let line = control.until("%extended-output");
    assert!(line.ends_with(" : ccc"), "output during the pause is not sent: {line}");
    control.prints("refresh-client -f no-output");
    program.prints(&["send-keys", "-l", "ddd"]);
    first.wait_for_text("ccc");
    first.wait_for_text("ddd");
    assert_eq!(control.prints("display -p here"), "here");
    assert_eq!(control.fails("refresh-client -f read-only"), "unknown client flag: read-only");
    assert_eq!(control.fails("refresh-client -C 0x5"), "size too small or too big");
    assert_eq!(control.fails("refresh-client -C big"), "bad size argument");
}

#[test]
fn a_client_sets_the_size_of_its_windows() {
    let (fixture, first) = fixture();
    let program = Program { fixture: &fixture, pane: Some(first.id) };
    let mut control = Control::attach(&program, "$0");
    control.prints("refresh-client -C 100x40");
    let size = ["display", "-p", "#{window_width}x#{window_height}"];
    assert_eq!(program.prints(&size), "100x40");
    assert!(control.until("%layout-change").contains("100x40,0,0"));
    let sizes = ["list-clients", "-F", "#{client_width}x#{client_height}"];
    assert_eq!(program.prints(&sizes), "100x40");
    program.prints(&["resize-window", "-x", "90", "-y", "20"]);
    assert_eq!(program.prints(&size), "90x20");
    program.prints(&["resize-window", "-D", "5"]);
    assert_eq!(program.prints(&size), "90x25");
    program.prints(&["resize-window", "-A"]);
    assert_eq!(program.prints(&size), "100x40");
    assert_eq!(program.fails(&["resize-window", "-x", "0"]), "width too small");
    assert_eq!(program.fails(&["resize-window", "-x", "20000"]), "width too large");
}

#[test]
fn a_slow_client_never_delays_a_pane() {
    let (fixture, first) = fixture();
    let program = Program { fixture: &fixture, pane: Some(first.id) };
    let flood = "head -c 40000000 /dev/zero | tr '\\0' x; echo; echo over; cat";
    for flags in [None, Some("pause-after=600")] {
        let mut control = Control::attach(&program, "$0");
        if let Some(flags) = flags {
            control.prints(&format!("refresh-client -f {flags}"));
        }
        // The client reads nothing while the pane prints more than all queues hold.
        let pane = program.prints(&["split-window", "-d", "-P", "-F", "#D", flood]);
        program.until(&["display", "-p", "-t", &pane, "#{?#{C:over},over,}"], "over");
        match flags {
            None => assert_eq!(control.exit(), ("%exit too far behind".to_owned(), 0)),
            Some(_) => {
                assert_eq!(control.until("%pause"), format!("%pause {pane}"));
                control.prints(&format!("refresh-client -A '{pane}:continue'"));
                control.until("%continue");
                program.prints(&["send-keys", "-t", &pane, "-l", "again"]);
                control.until(&format!("%extended-output {pane} "));
            }
        }
        program.prints(&["kill-pane", "-t", &pane]);
    }
}

#[test]
fn a_client_can_not_change_panes_that_it_did_not_open() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let own = open(&fixture, &mut wire, "cat", &[]);
    let other = open(&fixture, &mut wire, "cat", &[]);
    fixture.server().set_approval(Approval::Deny);
    let program = Program { fixture: &fixture, pane: Some(own.id) };
    let mut control = Control::attach(&program, "$0");
    let why = control.fails(&format!("send-keys -t %{} x", other.id));
    assert!(why.starts_with("not allowed: "), "{why}");
    assert!(!crate::support::screen(&other.pane).contains('x'));
    control.prints(&format!("send-keys -t %{} x", own.id));
    // Each line is approved for itself.
    fixture.server().set_approval(Approval::Ask);
    for key in ["y", "z"] {
        let line = format!("send-keys -t %{} {key}", other.id);
        control.send(&line);
        let asked = question(fixture.server());
        assert_eq!(asked.text, format!("tmux {line}"));
        fixture.server().answers().give(asked.number, "once").unwrap();
        control.until("%end ");
        other.wait_for_text(key);
    }
}

#[test]
fn a_terminal_client_gets_an_escape_sequence_around_the_lines() {
    let (fixture, first) = fixture();
    let program = Program { fixture: &fixture, pane: Some(first.id) };
    let mut control = Control::begin(&program, &["-CC", "attach", "-t", "$0"]);
    assert_eq!(control.line(), "\u{1b}P1000p");
    control.until("%session-changed");
    control.send("detach-client");
    while control.status.is_none() {
        control.receive();
    }
    let lines: Vec<_> = control.lines.iter().rev().take(2).collect();
    assert_eq!(lines, ["\u{1b}\\", "%exit"]);
}
