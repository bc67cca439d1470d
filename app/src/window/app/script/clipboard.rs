//! Tests of programs' requests to the clipboards (OSC 5522), and of pastes that programs handle themselves (mode 5522).

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use unterm_mux::PaneId;
use unterm_term::{ClipboardData, ClipboardError};

use crate::window::{
    app::script::Script, effect::Effect, inbox::PasteEvent, input::clipboard::Request,
};

fn encoded(text: &str) -> String {
    STANDARD.encode(text)
}

/// A packet whose payload is this text in base64.
fn packet(metadata: &str, payload: &str) -> String {
    format!("\x1b]5522;{metadata};{}\x1b\\", encoded(payload))
}

/// The keys of a program with a name and a password.
fn named(name: &str, password: &str) -> String {
    format!("type=read:name={}:pw={}", encoded(name), encoded(password))
}

const DENIED: &str = "\x1b]5522;type=read:status=EPERM\x1b\\";
const BUSY: &str = "\x1b]5522;type=read:status=EBUSY\x1b\\";

/// The reply to a read of `text/plain` from a clipboard with the text `secret`.
fn secret() -> String {
    let (start, mime) = ("\x1b]5522;type=read:status", encoded("text/plain"));
    let data = encoded("secret");
    format!("{start}=OK\x1b\\{start}=DATA:mime={mime};{data}\x1b\\{start}=DONE\x1b\\")
}

impl Script {
    /// Answers all requests to the clipboard's thread like a clipboard with the text `secret`. Returns how many there
    /// were.
    fn serve_clipboard(&mut self) -> usize {
        let mut count = 0;
        for effect in std::mem::take(&mut self.effects) {
            let Effect::Clipboard(request) = effect else { continue };
            count += 1;
            let text = |name: String| (name, Arc::new(b"secret".to_vec()));
            self.app.inbox.post(|news| match request {
                Request::PasteTypes(buffer, panes) => {
                    let types = Some(vec!["text/plain", "image/png"]);
                    news.clipboard.paste_events.push(PasteEvent { panes, buffer, types });
                }
                Request::Paste(_, panes) => {
                    news.clipboard.pastes.push((panes, Some("secret".to_owned())));
                }
                Request::Read { pane, handle, types, .. } => {
                    let data: ClipboardData = types.into_iter().map(text).collect();
                    news.clipboard.reads_done.push((pane, handle, Ok(data)));
                }
                Request::Write { pane, handle, .. } => {
                    news.clipboard.writes_done.push((pane, handle, Ok(())));
                }
                other => panic!("{other:?}"),
            });
        }
        self.handle_news();
        count
    }

    /// Waits until a program has received input with this end, and compares the input. The pane's writer thread passes
    /// replies on.
    #[track_caller]
    fn assert_received(&self, program: usize, expected: &str) {
        assert_eq!(self.received(program, expected), expected);
    }

    /// Waits until a program has received input with this end. Returns all that it has received.
    fn received(&self, program: usize, end: &str) -> String {
        let until = Instant::now() + Duration::from_secs(30);
        let mut found = self.typed(program);
        while !found.ends_with(end) && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(1));
            found += &self.typed(program);
        }
        found
    }

    /// The open question with its explanation; empty if there is none.
    fn question(&self) -> String {
        let spoken = self.app.overlays.questions.spoken();
        spoken.map_or(String::new(), |(title, about, ..)| format!("{title}\n{about}"))
    }
}

#[test]
fn a_program_that_reads_the_clipboard_is_asked_about() {
    for (keys, expected) in [
        (vec!["enter"], DENIED.to_owned()),
        (vec!["escape"], DENIED.to_owned()),
        (vec!["a", "o", "y", "enter"], DENIED.to_owned()),
        (vec!["left", "enter"], secret()),
    ] {
        let mut script = Script::new();
        script.print(&packet("type=read", "text/plain"));
        let question = script.question();
        assert!(question.starts_with("Let a program read the clipboard?"), "{question}");
        assert!(question.contains("asks for text/plain. If it"), "{question}");
        let frame = script.frame();
        assert!(frame.contains("Allow once") && !frame.contains("Always"), "{frame}");
        assert_eq!(script.typed(0), "");
        keys.iter().for_each(|key| script.key(key));
        script.serve_clipboard();
        script.assert_received(0, &expected);
    }
}

#[test]
fn after_a_denial_the_user_is_not_asked_again_until_a_key() {
    let mut script = Script::new();
    let read = packet("type=read", "text/plain");
    script.print(&read);
    script.key("enter");
    script.assert_received(0, DENIED);
    script.print(&read);
    script.assert_received(0, DENIED);
    script.key("x");
    script.print(&read);
    script.assert_received(0, "x");
    assert!(script.question().contains("Let a program read"));
    // Meanwhile, further requests of the pane fail.
    script.print(&read);
    script.assert_received(0, BUSY);
}

#[test]
fn a_program_with_a_password_can_be_allowed_always() {
    let mut script = Script::new();
    let read = packet(&named("My editor", "s3cret"), "text/plain");
    script.print(&read);
    let question = script.question();
    assert!(question.contains("It calls itself “My editor”."), "{question}");
    script.key("left");
    script.key("enter");
    script.serve_clipboard();
    script.assert_received(0, &secret());
    for _ in 0..2 {
        script.print(&read);
        script.serve_clipboard();
        script.assert_received(0, &secret());
    }
    // A request with another password, or from another pane, causes a question.
    script.print(&packet(&named("My editor", "other"), "text/plain"));
    script.key("escape");
    script.assert_received(0, DENIED);
    script.key("ctrl+shift+t");
    script.print_in(1, &read);
    script.key("escape");
    script.assert_received(1, DENIED);
    // In a hidden tab, only the allowed program can read.
    script.print_in(0, &read);
    script.serve_clipboard();
    script.assert_received(0, &secret());
}

#[test]
fn a_hidden_pane_can_not_read() {
    let mut script = Script::new();
    script.key("ctrl+shift+t");
    script.print_in(0, &packet("type=read", "text/plain"));
    script.print_in(0, &packet("type=read", "."));
    script.assert_received(0, &DENIED.repeat(2));
    assert_eq!(script.question(), "");
}

#[test]
fn the_list_of_types_needs_no_question() {
    let mut script = Script::new();
    script.print(&packet("type=read:loc=primary", "."));
    assert!(script.effects_contain("read Primary [\".\"]"));
    assert_eq!(script.serve_clipboard(), 1);
    assert!(script.received(0, "DONE\x1b\\").contains("status=DATA:mime=Lg=="));
    // A request that also asks for data needs a question.
    script.print(&packet("type=read", ". text/plain"));
    assert_eq!(script.serve_clipboard(), 0);
    assert!(script.question().contains("Let a program read"));
}

#[test]
fn a_question_ends_with_its_pane() {
    let mut script = Script::new();
    script.key("ctrl+shift+t");
    script.print_in(1, &packet("type=read", "text/plain"));
    assert!(script.app.overlays.questions.is_open());
    script.app.mux.close_pane(PaneId(1)).expect("a pane");
    script.handle_news();
    assert!(!script.app.overlays.questions.is_open());
}

#[test]
fn a_program_can_write_several_types() {
    let mut script = Script::new();
    let mime = |name: &str| format!("type=wdata:mime={}", encoded(name));
    let write = packet("type=write:id=7", "")
        + &packet(&mime("text/plain"), "hi")
        + &packet(&mime("text/html"), "<b>hi</b>")
        + "\x1b]5522;type=wdata\x1b\\";
    script.print(&write);
    assert!(script.effects_contain("write Clipboard [\"text/plain\", \"text/html\"]"));
    assert_eq!(script.typed(0), "", "it is not on the clipboard yet");
    script.serve_clipboard();
    script.assert_received(0, "\x1b]5522;type=write:status=DONE:id=7\x1b\\");
    // A failed write is reported with its error code.
    script.print(&write);
    let asked = std::mem::take(&mut script.effects);
    let handle = asked.iter().find_map(|effect| match effect {
        Effect::Clipboard(Request::Write { handle, .. }) => Some(*handle),
        _ => None,
    });
    let failed = (PaneId(0), handle.expect("a request"), Err(ClipboardError::Unavailable));
    script.app.inbox.post(|news| news.clipboard.writes_done.push(failed));
    script.handle_news();
    script.assert_received(0, "\x1b]5522;type=write:status=ENOSYS:id=7\x1b\\");
}

#[test]
fn a_paste_reports_its_types_to_a_program_that_handles_pastes() {
    let mut script = Script::new();
    script.print("\x1b[?5522h\x1b[?2004h");
    script.key("ctrl+shift+v");
    script.key("x");
    assert!(script.effects_contain("paste types of Clipboard"));
    assert_eq!(script.typed(0), "", "the key waits for the paste");
    script.serve_clipboard();
    let event = script.received(0, "\x1b\\x");
    let (start, types) = ("\x1b]5522;type=read:status", encoded("text/plain image/png"));
    let password = event.split(":pw=").nth(1).and_then(|rest| rest.split('\x1b').next());
    let pw = password.expect("a password").to_owned();
    assert_eq!(
        event,
        format!(
            "{start}=OK:pw={pw}\x1b\\{start}=DATA:mime=Lg==:pw={pw};{types}\x1b\\\
             {start}=DONE:pw={pw}\x1b\\x"
        )
    );
    // The password allows one read without a question.
    let read = packet(&format!("type=read:name={}:pw={pw}", encoded("Paste event")), "text/plain");
    script.print(&read);
    assert_eq!(script.serve_clipboard(), 1);
    script.assert_received(0, &secret());
    script.print(&read);
    assert_eq!(script.serve_clipboard(), 0);
    assert!(script.question().contains("It calls itself “Paste event”."));
}

#[test]
fn a_paste_into_many_panes_gives_each_what_it_wants() {
    let mut script = Script::new();
    script.configure("[keys]\n'f5' = 'broadcast_all'\n");
    script.key("ctrl+shift+t");
    script.print_in(1, "\x1b[?5522h");
    script.key("f5");
    script.key("ctrl+shift+v");
    assert_eq!(script.serve_clipboard(), 2);
    script.assert_received(0, "secret");
    let event = script.received(1, "\x1b\\");
    assert!(event.starts_with("\x1b]5522;type=read:status=OK:pw="), "{event}");
    // After the end of the mode, the program receives text again.
    script.print_in(1, "\x1b[?5522l");
    script.key("ctrl+shift+v");
    assert_eq!(script.serve_clipboard(), 1);
    script.assert_received(1, "secret");
}
