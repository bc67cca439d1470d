//! The lines of the control mode: their grammar.

use crate::{Layout, PaneId, WindowId, command, escape, number};

/// The maximum length of a name or message in bytes. The rest is dropped.
pub(crate) const TEXT_CAP: usize = 1024;

/// The guard around the reply to a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Guard {
    /// The number of the command. The guard at the end repeats it.
    pub(crate) command: u64,
    /// Whether this client sent the command.
    pub(crate) is_own: bool,
}

/// A line outside a reply. Lines that change nothing for this client are `Other`.
#[derive(Debug, PartialEq)]
pub(crate) enum Notification {
    Begin(Guard),
    Output { pane: PaneId, bytes: Vec<u8> },
    LayoutChange { window: WindowId, layout: Layout, is_zoomed: bool, visible: Option<Layout> },
    WindowAdd(WindowId),
    WindowClose(WindowId),
    WindowRenamed { window: WindowId, name: String },
    SessionChanged { name: String },
    SessionRenamed { name: String },
    CurrentWindow(WindowId),
    ActivePane { window: WindowId, pane: PaneId },
    Pause(PaneId),
    Program { pane: PaneId, name: String },
    Message(String),
    Exit { reason: String },
    Other,
}

/// Parses a line outside a reply. `None` if the line is malformed, or no line of the control mode.
pub(crate) fn parse(line: &[u8]) -> Option<Notification> {
    let (word, rest) = split(line.strip_prefix(b"%")?);
    Some(match word {
        b"begin" => Notification::Begin(guard(rest)?),
        b"output" => {
            let (pane, text) = split(rest);
            Notification::Output { pane: pane_id(pane)?, bytes: escape::decode(text) }
        }
        b"extended-output" => {
            let (pane, rest) = split(rest);
            let colon = rest.windows(3).position(|part| part == b" : ")?;
            Notification::Output { pane: pane_id(pane)?, bytes: escape::decode(&rest[colon + 3..]) }
        }
        b"layout-change" => layout_change(rest)?,
        b"window-add" => Notification::WindowAdd(window_id(rest)?),
        // When the last pane of a window ends, tmux may unlink the window before it reports the end.
        b"window-close" | b"unlinked-window-close" => Notification::WindowClose(window_id(rest)?),
        b"window-renamed" | b"unlinked-window-renamed" => {
            let (window, name) = split(rest);
            Notification::WindowRenamed { window: window_id(window)?, name: text(name) }
        }
        b"session-changed" => Notification::SessionChanged { name: text(split(rest).1) },
        b"session-renamed" => {
            // Newer versions of tmux put the session's id before its name.
            let (first, name) = split(rest);
            let has_id = first.first() == Some(&b'$') && !name.is_empty();
            Notification::SessionRenamed { name: text(if has_id { name } else { rest }) }
        }
        b"session-window-changed" => Notification::CurrentWindow(window_id(split(rest).1)?),
        b"window-pane-changed" => {
            let (window, pane) = split(rest);
            Notification::ActivePane { window: window_id(window)?, pane: pane_id(pane)? }
        }
        b"pause" => Notification::Pause(pane_id(rest)?),
        b"subscription-changed" => subscription(rest)?,
        b"message" | b"config-error" => Notification::Message(text(rest)),
        b"exit" => Notification::Exit { reason: text(rest) },
        _ => Notification::Other,
    })
}

/// Whether a line inside a reply ends the reply, and whether the command failed.
pub(crate) fn parse_end(line: &[u8], begin: Guard) -> Option<bool> {
    let (has_failed, rest) = match split(line) {
        (b"%end", rest) => (false, rest),
        (b"%error", rest) => (true, rest),
        _ => return None,
    };
    (guard(rest)? == begin).then_some(has_failed)
}

/// The arguments of a guard: a time, the command's number, and flags.
fn guard(text: &[u8]) -> Option<Guard> {
    let mut words = std::str::from_utf8(text).ok()?.split(' ');
    let _time: u64 = number(words.next()?)?;
    let command = number(words.next()?)?;
    let flags: u64 = words.next().and_then(number).unwrap_or(1);
    Some(Guard { command, is_own: flags & 1 != 0 })
}

fn layout_change(text: &[u8]) -> Option<Notification> {
    let mut words = std::str::from_utf8(text).ok()?.split(' ');
    let window = WindowId::parse(words.next()?)?;
    let layout = Layout::parse(words.next()?).ok()?;
    let visible = words.next().and_then(|text| Layout::parse(text).ok());
    let is_zoomed = words.next().is_some_and(|flags| flags.contains('Z'));
    Some(Notification::LayoutChange { window, layout, is_zoomed, visible })
}

/// The arguments of a changed subscription: its name, the ids of a session, a window, an index and a pane, and after a
/// colon the value.
fn subscription(line: &[u8]) -> Option<Notification> {
    let colon = line.windows(3).position(|part| part == b" : ")?;
    let mut words = std::str::from_utf8(&line[..colon]).ok()?.split(' ');
    if words.next()? != command::PROGRAMS {
        return Some(Notification::Other);
    }
    let pane = PaneId::parse(words.nth(3)?)?;
    Some(Notification::Program { pane, name: text(&line[colon + 3..]) })
}

fn window_id(text: &[u8]) -> Option<WindowId> {
    WindowId::parse(std::str::from_utf8(text).ok()?)
}

fn pane_id(text: &[u8]) -> Option<PaneId> {
    PaneId::parse(std::str::from_utf8(text).ok()?)
}

/// The first word, and the text after the space that follows it.
fn split(text: &[u8]) -> (&[u8], &[u8]) {
    match text.iter().position(|&byte| byte == b' ') {
        Some(at) => (&text[..at], &text[at + 1..]),
        None => (text, &[]),
    }
}

/// A name or a message for the user: without control characters, and at most [`TEXT_CAP`] bytes.
pub(crate) fn text(bytes: &[u8]) -> String {
    let mut text = String::new();
    for char in String::from_utf8_lossy(bytes).chars().filter(|char| !char.is_control()) {
        if text.len() + char.len_utf8() > TEXT_CAP {
            break;
        }
        text.push(char);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Option<Notification> {
        parse(line.as_bytes())
    }

    #[test]
    fn every_line_of_the_protocol_is_understood() {
        use Notification::*;
        let layout = |text| Layout::parse(text).unwrap();
        let text = str::to_owned;
        for (line, expected) in [
            ("%begin 1795972583 260 0", Begin(Guard { command: 260, is_own: false })),
            ("%begin 1795972583 260 1", Begin(Guard { command: 260, is_own: true })),
            (r"%output %3 a\015\012 b", Output { pane: PaneId(3), bytes: b"a\r\n b".to_vec() }),
            ("%output %3 ", Output { pane: PaneId(3), bytes: Vec::new() }),
            ("%extended-output %0 1 : a : b", Output { pane: PaneId(0), bytes: b"a : b".to_vec() }),
            ("%extended-output %0 1 new : x", Output { pane: PaneId(0), bytes: b"x".to_vec() }),
            (
                "%layout-change @0 a87d,100x30,0,0,0 a87d,100x30,0,0,0 *Z",
                LayoutChange {
                    window: WindowId(0),
                    layout: layout("a87d,100x30,0,0,0"),
                    is_zoomed: true,
                    visible: Some(layout("a87d,100x30,0,0,0")),
                },
            ),
            ("%window-add @12", WindowAdd(WindowId(12))),
            ("%window-close @1", WindowClose(WindowId(1))),
            ("%unlinked-window-close @1", WindowClose(WindowId(1))),
            (
                "%window-renamed @0 two words",
                WindowRenamed { window: WindowId(0), name: text("two words") },
            ),
            ("%session-changed $0 my work", SessionChanged { name: text("my work") }),
            ("%session-renamed my work", SessionRenamed { name: text("my work") }),
            ("%session-renamed $3 my work", SessionRenamed { name: text("my work") }),
            ("%session-window-changed $0 @1", CurrentWindow(WindowId(1))),
            ("%window-pane-changed @0 %1", ActivePane { window: WindowId(0), pane: PaneId(1) }),
            ("%pause %1", Pause(PaneId(1))),
            (
                "%subscription-changed unterm-program $1 @2 0 %3 : a : b",
                Program { pane: PaneId(3), name: text("a : b") },
            ),
            ("%subscription-changed other $1 @2 0 %3 : vim", Other),
            ("%message hello", Message(text("hello"))),
            ("%config-error a.conf:1: unknown", Message(text("a.conf:1: unknown"))),
            ("%exit", Exit { reason: String::new() }),
            ("%exit server exited", Exit { reason: text("server exited") }),
            ("%sessions-changed", Other),
            ("%unlinked-window-add @3", Other),
            ("%client-detached /dev/pts/1", Other),
            ("%continue %1", Other),
            ("%subscription-changed a $0 - - - : b", Other),
            ("%of-a-later-version", Other),
        ] {
            assert_eq!(parsed(line), Some(expected), "{line}");
        }
    }

    #[test]
    fn malformed_lines_are_refused() {
        for line in [
            "",
            "begin 1 2 3",
            "%begin",
            "%begin x 2 1",
            "%begin -1 2 1",
            "%output 3 x",
            "%output %x x",
            "%output %99999999999 x",
            "%extended-output %0 1 x",
            "%layout-change @0",
            "%layout-change @0 0000,80x24,0,0,0",
            "%window-add 1",
            "%window-add @+1",
            "%pause @1",
            "%subscription-changed unterm-program $1 @2 0 - : vim",
            "%subscription-changed unterm-program $1 : vim",
            "%subscription-changed",
        ] {
            assert_eq!(parsed(line), None, "{line}");
        }
    }

    #[test]
    fn only_the_guard_of_the_same_command_ends_a_reply() {
        let begin = Guard { command: 7, is_own: true };
        assert_eq!(parse_end(b"%end 1 7 1", begin), Some(false));
        assert_eq!(parse_end(b"%error 1 7 1", begin), Some(true));
        for line in ["%end 1 8 1", "%end 1 7 0", "%end", "end 1 7 1", "%ending 1 7 1"] {
            assert_eq!(parse_end(line.as_bytes(), begin), None, "{line}");
        }
    }

    #[test]
    fn names_are_bounded_and_contain_no_controls() {
        assert_eq!(text(b"a\x1b]2;b\x07\xff"), "a]2;b\u{fffd}");
        let long = "ü".repeat(TEXT_CAP);
        assert_eq!(text(long.as_bytes()).len(), TEXT_CAP);
    }
}
