//! OSC 133 ("Semantic prompts", with kitty's additions) and OSC 633 (VS Code's shell integration): where prompts, input
//! and output begin, and the known facts about each command.

use super::text::{fit, identifier, percent_decode};
use crate::cap::Caps;
use crate::grid::cell::PromptRole;
use crate::grid::row::{INPUT, MARK, OUTPUT, PROMPT};
use crate::term::Term;
use crate::term::shell::commands::{ClickEvents, ClickKeys, Command, PromptOptions, Redraw};
use crate::{Event, LineId, Point, ScreenKind};

/// Maximum bytes of a command line.
const LINE_CAP: usize = 4096;
/// Maximum bytes of an application's id, and of a nonce.
const ID_CAP: usize = 128;
/// Maximum rows of a command line that are read from the screen.
const INPUT_ROWS: u64 = 64;

/// `key=value` parameters in any order; unknown keys are ignored.
struct Options<'a>(&'a [u8]);

impl<'a> Options<'a> {
    fn get(&self, key: &str) -> Option<&'a [u8]> {
        self.0.split(|&b| b == b';').find_map(|option| {
            option.strip_prefix(key.as_bytes()).and_then(|rest| rest.strip_prefix(b"="))
        })
    }

    fn text(&self, key: &str) -> Option<&'a str> {
        self.get(key).and_then(|value| std::str::from_utf8(value).ok())
    }

    /// Whether [`Term::to_vt`] wrote the mark for a command that erased its prompt (A), or the beginning of its output
    /// (C).
    fn is_erased(&self) -> bool {
        self.get("erased") == Some(b"1")
    }

    /// The secret that authenticates marks of the pane's own shell.
    fn nonce(&self) -> Option<&'a str> {
        self.text("nonce")
    }

    /// The prompt options in the parameters.
    fn prompt(&self) -> PromptOptions {
        PromptOptions {
            aid: self.text("aid").and_then(|aid| identifier(aid, ID_CAP)).map(str::to_owned),
            click: match self.text("cl") {
                Some("m") => ClickKeys::Multiple,
                Some("v") => ClickKeys::Vertical,
                Some("w") => ClickKeys::Smart,
                _ => ClickKeys::Line,
            },
            click_events: match self.text("click_events") {
                Some("1") => Some(ClickEvents::Absolute),
                Some("2") => Some(ClickEvents::Relative),
                _ => None,
            },
            redraw: match self.text("redraw") {
                Some("0") => Redraw::Nothing,
                Some("last") => Redraw::LastLine,
                _ => Redraw::Prompt,
            },
        }
    }
}

impl Term {
    /// OSC 133: a letter and its parameters.
    pub(super) fn mark_prompt(&mut self, rest: &[u8]) {
        let (letter, rest) = split(rest);
        let options = Options(rest);
        let is_authentic = self.commands.is_authentic(options.nonce());
        if self.is_vt52() && !is_authentic {
            return;
        }
        if is_authentic {
            match letter {
                b"A" | b"N" | b"P" => self.end_what_is_left(None),
                b"D" => self.end_what_is_left(Some(exit_code(split(rest).0))),
                _ => {}
            }
        }
        let continues = self.continues_row_above(self.cursor.row);
        match letter {
            b"A" | b"N" | b"P" if matches!(options.text("k"), None | Some("i")) => {
                self.mark_last_line(continues);
            }
            b"B" | b"I" => self.find_last_line(),
            _ => {}
        }
        // The shell marks what it draws, so the rows above that a resize cut are not drawn again.
        self.return_held();
        if matches!(letter, b"N" | b"C" | b"D") || is_authentic {
            self.stale_prompt = None;
        }
        match letter {
            b"A" | b"N" => match options.text("k") {
                None | Some("i") => {
                    if letter == b"N" {
                        self.end_application(options.prompt().aid.as_deref());
                    }
                    self.fresh_line();
                    match options.is_erased() {
                        true => self.begin_erased(&options),
                        false if letter == b"A" && !is_authentic => {
                            self.draw_marked_prompt(&options, continues);
                        }
                        false => self.start_prompt(&options),
                    }
                }
                // A continuation prompt, or a prompt on the right: not a new command.
                Some(kind) => self.go_on_with_prompt(kind),
            },
            b"P" => match options.text("k") {
                Some("i") if self.commands.is_authentic(options.nonce()) => {
                    self.start_prompt(&options);
                }
                Some("i") => self.draw_prompt(&options, continues),
                kind => self.go_on_with_prompt(kind.unwrap_or_default()),
            },
            b"B" | b"I" => {
                let is_drawn = self.draw_last_line();
                self.start_input(is_drawn);
            }
            b"C" => {
                let reported = options.get("cmdline_url").map(percent_decode);
                let reported = reported.or_else(|| options.get("cmdline").map(unquote));
                let reported = reported.and_then(|line| command_line(&mut self.caps, &line));
                self.start_output(reported.map(|line| (line, None)), options.nonce());
                if options.is_erased() {
                    self.mark_erased();
                }
            }
            b"D" => self.end_command(rest),
            b"L" => self.fresh_line(),
            _ => tracing::debug!("unknown OSC 133"),
        }
    }

    /// OSC 633: the same letters, plus a command line, properties and other prompts.
    pub(super) fn mark_prompt_vscode(&mut self, rest: &[u8]) {
        let (letter, rest) = split(rest);
        self.return_held();
        match letter {
            b"A" => {
                self.fresh_line();
                self.start_prompt(&Options(b""));
            }
            b"B" => self.start_input(false),
            b"C" => self.start_output(None, None),
            b"D" => self.end_command(rest),
            b"E" => {
                let (line, nonce) = split(rest);
                let nonce = std::str::from_utf8(nonce).ok();
                let nonce = nonce.and_then(|nonce| identifier(nonce, ID_CAP)).map(str::to_owned);
                let line = command_line(&mut self.caps, &unescape(line));
                self.commands.announced = line.map(|line| (line, nonce));
            }
            b"P" => match rest.strip_prefix(b"Cwd=") {
                Some(path) => self.set_cwd_path(&unescape(path)),
                None => tracing::debug!("property of VS Code's that is not kept"),
            },
            // A continuation prompt, and a prompt on the right.
            b"F" | b"H" => self.pen.set_role(PromptRole::Prompt),
            b"G" | b"I" => self.pen.set_role(PromptRole::Input),
            _ => tracing::debug!("unknown OSC 633"),
        }
    }

    /// Starts a new line if the cursor is not in the first column (semantic prompts, "fresh-line").
    fn fresh_line(&mut self) {
        if self.cursor.col > 0 && self.screen == ScreenKind::Main {
            self.new_line();
        }
    }

    /// A prompt begins at the cursor, with these parameters of its mark.
    fn start_prompt(&mut self, options: &Options<'_>) {
        let at = self.cursor_point();
        let is_authentic = self.commands.is_authentic(options.nonce());
        if let Some(at) = at
            && is_authentic
        {
            // The shell is back but did not report the end of its command.
            self.commands.end(at, self.seq, None, true);
        }
        self.begin_prompt(at, options.prompt(), is_authentic);
        if is_authentic {
            let has_reset_key = options.text("reset_key") == Some("1");
            let is_ascii_only = options.text("charset") == Some("ascii");
            self.commands.change(|command| {
                (command.has_reset_key, command.is_ascii_only) = (has_reset_key, is_ascii_only);
            });
        }
    }

    /// A prompt begins at the cursor, marked by the shell's own settings. That may be the current prompt, drawn again.
    /// `continues`: the row above continued in the cursor's row.
    fn draw_marked_prompt(&mut self, options: &Options<'_>, continues: bool) {
        let id = |term: &Self| term.commands.last().map(|last| last.id);
        let before = id(self);
        self.find_stale_prompt(continues);
        self.start_prompt(options);
        if id(self) != before {
            self.stale_prompt = None;
        }
    }

    /// A command whose prompt was erased begins at the cursor. [`Term::to_vt`] writes this mark.
    fn begin_erased(&mut self, options: &Options<'_>) {
        if let Some(at) = self.cursor_point() {
            self.begin_command(at, options.prompt(), false);
        }
    }

    /// The last command, whose output begins at the cursor, has erased the beginning of its output.
    fn mark_erased(&mut self) {
        let at = self.cursor_point();
        let is_here = |last: &Command| last.is_running() && last.output == at;
        if at.is_some() && self.commands.last().is_some_and(is_here) {
            self.commands.change(|last| last.is_erased = true);
        }
    }

    /// The shell draws its prompt, again or for the first time. The prompt begins here only if it is not on the screen:
    /// nothing marked its beginning, the row with its beginning was erased, or echoed keys pushed it to a later row.
    /// `continues`: the row above continued in the cursor's row.
    fn draw_prompt(&mut self, options: &Options<'_>, continues: bool) {
        let mut at = self.cursor_point();
        // readline draws the last line from the first column on, and its mode string before this mark.
        if options.prompt().redraw == Redraw::LastLine
            && self.commands.last().is_some_and(|last| last.is_prompting())
        {
            at = at.map(|at| Point { col: 0, ..at });
        }
        // A shell that edits a line for its own command, such as fish's `read`, draws a prompt without announcing it.
        let is_inside = |last: &Command| last.is_running() && last.is_authentic;
        if self.commands.last().is_some_and(is_inside) {
            self.pen.set_role(PromptRole::Prompt);
            return;
        }
        let is_drawn = at.zip(self.commands.last()).is_some_and(|(at, last)| {
            let is_open = last.output_seq == 0 && last.end_seq == 0;
            let is_here = |beginning: LineId| match last.input {
                // A shell that moves up by too many rows draws above the beginning, and then erases it.
                Some(input) => beginning <= at.line && at.line <= input.line,
                None => at.line == beginning || !last.has_reset_key,
            };
            is_open && self.prompt_line(last).is_some_and(is_here)
        });
        let has_stale = self.find_stale_prompt(continues);
        match is_drawn {
            true if has_stale => self.mark(PROMPT, PromptRole::Prompt),
            true => self.pen.set_role(PromptRole::Prompt),
            false => self.begin_prompt(at, options.prompt(), false),
        }
    }

    /// A prompt begins at `at`, which is in the cursor's row.
    fn begin_prompt(&mut self, at: Option<Point>, options: PromptOptions, is_announced: bool) {
        self.mark(PROMPT, PromptRole::Prompt);
        if let Some(at) = at
            && self.begin_command(at, options, is_announced)
        {
            self.drop_transient_statuses();
            self.commands.announced = None;
        }
        self.event(Event::PromptStart);
    }

    /// Handles a further prompt of kind `k` that belongs to the same command.
    fn go_on_with_prompt(&mut self, kind: &str) {
        self.pen.set_role(PromptRole::Prompt);
        // After a secondary prompt, the lines before it can no longer be edited.
        if kind == "s" && self.screen == ScreenKind::Main {
            self.commands.change(|command| {
                command.options.click = ClickKeys::Line;
                command.is_continued = true;
            });
        }
    }

    /// OSC 133 N: ends the running command of an application here, without an exit code.
    fn end_application(&mut self, aid: Option<&str>) {
        if let Some(at) = self.cursor_point() {
            self.commands.end_application(at, self.seq, aid);
        }
    }

    /// ConEmu's OSC 9;12, "treat current cursor position as prompt start", which its users put at the end of their PS1.
    /// The text before the cursor in its row becomes a prompt, unless a prompt is already marked, and input begins.
    pub(super) fn end_conemu_prompt(&mut self) {
        let at = self.cursor_point();
        let is_reported = |last: &Command| {
            let is_open = last.output_seq == 0 && last.end_seq == 0;
            is_open && (last.input.is_none() || last.input == at)
        };
        let last = self.commands.last().filter(|last| self.prompt_line(last).is_some());
        if !last.is_some_and(is_reported) {
            self.begin_prompt(at.map(|at| Point { col: 0, ..at }), PromptOptions::default(), false);
        }
        self.start_input(false);
    }

    /// The first drawing of a prompt is complete. A shell that cleared the rows below its mark (fish) has removed the mark
    /// from an empty first row, so marks that row again.
    fn mark_cleared_prompt(&mut self) {
        let is_drawn =
            |last: &&Command| last.input.is_none() && last.output_seq == 0 && last.end_seq == 0;
        let prompt = self.commands.last().filter(is_drawn).and_then(|last| last.prompt);
        let at = self.cursor_point();
        if let Some((prompt, at)) = prompt.zip(at)
            && prompt.line <= at.line
            && let Some(row) = prompt.line.0.checked_sub(self.grid.live_top())
        {
            self.grid.meta_mut(row as usize).flags |= PROMPT;
        }
    }

    /// Input begins at the cursor. `is_drawn`: after the prompt of a command, which may be drawn again. Otherwise, it may
    /// be after a continuation prompt or a prompt on the right, which end with this mark too.
    fn start_input(&mut self, is_drawn: bool) {
        self.mark_cleared_prompt();
        self.mark(INPUT, PromptRole::Input);
        self.input_begins_in_drawing(is_drawn);
        if let Some(at) = self.cursor_point() {
            self.commands.change(|command| {
                if command.output_seq == 0 && command.end_seq == 0 {
                    command.input = command.input.filter(|_| !is_drawn).or(Some(at));
                }
            });
        }
        self.event(Event::InputStart);
    }

    /// `reported`: the reported command line and its nonce.
    fn start_output(&mut self, reported: Option<(String, Option<String>)>, nonce: Option<&str>) {
        let is_marked = self.commands.is_authentic(nonce);
        let reported = reported.or_else(|| {
            // A background job may announce a line while the shell waits at its prompt.
            let announced = self.commands.announced.take();
            announced.filter(|(_, own)| !is_marked || self.commands.is_authentic(own.as_deref()))
        });
        let line_nonce = reported.as_ref().and_then(|(_, nonce)| nonce.as_deref());
        let is_authentic = self.commands.is_authentic(nonce.or(line_nonce));
        let mut id = 0;
        if let Some(at) = self.cursor_point() {
            if is_authentic {
                self.begin_unmarked(at);
            }
            // A shell with marks of its own may have marked the same command before, without the nonce.
            let is_new = self.commands.last().is_some_and(|last| {
                last.end_seq == 0 && (last.output_seq == 0 || is_authentic && !last.is_authentic)
            });
            if is_new {
                let line = match &reported {
                    Some((line, _)) => Some(line.clone()),
                    None => {
                        let typed = self.commands.last().and_then(|last| self.typed_line(last, at));
                        typed.and_then(|line| {
                            command_line(&mut self.caps, line.trim_end().as_bytes())
                        })
                    }
                };
                let (seq, now) = (self.seq, self.commands.now);
                let cwd = self.cwd.as_deref().map(Into::into);
                let last = self.commands.last();
                let has_prompt = last.is_some_and(|last| self.prompt_line(last).is_some());
                self.commands.change(|command| {
                    command.prompt = command.prompt.filter(|_| has_prompt);
                    command.output = Some(at);
                    command.output_seq = seq;
                    command.output_time = now;
                    command.line = line.filter(|line| !line.is_empty());
                    command.line_reported = reported.is_some();
                    command.nonce = reported.and_then(|(_, nonce)| nonce);
                    command.is_authentic = is_authentic;
                    command.cwd = cwd;
                    id = command.id;
                });
            }
            // The shell will also report the end of a command that is not in the list, such as after a reset.
            let is_known = |last: &Command| last.is_running() && last.is_authentic;
            if is_authentic && (is_new || !self.commands.last().is_some_and(is_known)) {
                self.remember_modes(id);
            }
        }
        self.mark(OUTPUT, PromptRole::Output);
        self.event(Event::CommandStart { command: id });
    }

    /// `[exit code][;options]`. If an authentic mark began the command, only an authentic mark ends it.
    fn end_command(&mut self, rest: &[u8]) {
        let (code, options) = split(rest);
        let exit_code = exit_code(code);
        let is_authentic = self.commands.is_authentic(Options(options).nonce());
        let is_running = |last: &Command| last.is_running() && last.is_authentic;
        if !is_authentic && self.commands.last().is_some_and(is_running) {
            tracing::debug!("an end of a command that is not its shell's word");
            return;
        }
        self.pen.set_role(PromptRole::Output);
        let at = self.cursor_point();
        let id = at.and_then(|at| self.commands.end(at, self.seq, exit_code, is_authentic));
        let id = id.unwrap_or(0);
        self.commands.announced = None;
        self.event(Event::CommandEnd { command: id, exit_code, is_authentic });
    }

    /// OSC 1337 SetMark: marks the cursor's line.
    pub(super) fn mark_line(&mut self) {
        if let Some(at) = self.cursor_point() {
            self.mark(MARK, self.pen.role());
            self.marks.add(at, &mut self.caps);
            self.event(Event::Mark { line: at.line });
        }
    }

    /// The cursor on the main screen; `None` on the alternate screen, which has no commands.
    pub(crate) fn cursor_point(&self) -> Option<Point> {
        let line = LineId(self.grid.live_top() + self.cursor.row as u64);
        (self.screen == ScreenKind::Main).then_some(Point { line, col: self.cursor.col as u16 })
    }

    fn mark(&mut self, mark: u16, role: PromptRole) {
        let seq = self.seq;
        let meta = self.grid.meta_mut(self.cursor.row);
        if meta.flags & mark == 0 {
            meta.flags |= mark;
            meta.revision = seq;
        }
        self.pen.set_role(role);
    }

    /// The text typed at a command's prompt, read from the screen before `end`.
    fn typed_line(&self, command: &Command, end: Point) -> Option<String> {
        let start = command.input?;
        let first = start.line.0.max(end.line.0.saturating_sub(INPUT_ROWS));
        let mut line = String::new();
        for row in first..=end.line.0 {
            let more = self.role_text(LineId(row), PromptRole::Input, &mut line);
            if !more && row < end.line.0 {
                line.push('\n');
            }
        }
        Some(line)
    }
}

fn exit_code(text: &[u8]) -> Option<i32> {
    std::str::from_utf8(text).ok().and_then(|text| text.parse().ok())
}

/// The part before the first `;`, and the part after it.
fn split(bytes: &[u8]) -> (&[u8], &[u8]) {
    match bytes.iter().position(|&b| b == b';') {
        Some(at) => (&bytes[..at], &bytes[at + 1..]),
        None => (bytes, &[]),
    }
}

/// Cleans a command line for display: removes controls other than line breaks and tabs. Logs and returns `None` if it
/// is too long.
fn command_line(caps: &mut Caps, line: &[u8]) -> Option<String> {
    let mut text = String::new();
    for piece in line.split_inclusive(|b| matches!(b, b'\n' | b'\t')) {
        let (body, last) = match piece {
            [body @ .., last @ (b'\n' | b'\t')] => (body, Some(*last as char)),
            body => (body, None),
        };
        let Some(body) = fit(body, LINE_CAP.saturating_sub(text.len())) else {
            caps.dropped("command line", LINE_CAP);
            return None;
        };
        text.push_str(&body);
        text.extend(last);
    }
    Some(text)
}

/// Undoes VS Code's escapes of a command line (OSC 633 E): `\\`, and `\xAB` with two hexadecimal digits.
pub fn unescape(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let [first, tail @ ..] = rest {
        rest = tail;
        match (first, tail) {
            (b'\\', [b'\\', ..]) => {
                out.push(b'\\');
                rest = &tail[1..];
            }
            (b'\\', [b'x', high, low, ..]) if hex(*high).is_some() && hex(*low).is_some() => {
                out.push((hex(*high).unwrap_or(0) << 4 | hex(*low).unwrap_or(0)) as u8);
                rest = &tail[3..];
            }
            _ => out.push(*first),
        }
    }
    out
}

fn hex(digit: u8) -> Option<u32> {
    (digit as char).to_digit(16)
}

/// Undoes the quoting of bash's `printf %q`: backslashes, and `$'…'` with C's escapes.
fn unquote(text: &[u8]) -> Vec<u8> {
    let (mut out, mut rest, mut ansi, mut quoted) =
        (Vec::with_capacity(text.len()), text, false, false);
    while let [first, tail @ ..] = rest {
        rest = tail;
        match (first, tail) {
            (b'$', [b'\'', ..]) if !ansi && !quoted => {
                ansi = true;
                rest = &tail[1..];
            }
            (b'\'', _) => {
                quoted = !ansi && !quoted;
                ansi = false;
            }
            (b'\\', [next, ..]) if !quoted => {
                rest = &tail[1..];
                match (ansi, next) {
                    (true, b'n') => out.push(b'\n'),
                    (true, b't') => out.push(b'\t'),
                    (true, b'a' | b'b' | b'e' | b'E' | b'f' | b'r' | b'v') => {}
                    (true, b'0'..=b'7') => {
                        let digits = tail.iter().take(3).take_while(|b| (b'0'..=b'7').contains(b));
                        let digits = digits.count();
                        let value =
                            tail[..digits].iter().fold(0u32, |v, b| v * 8 + (b - b'0') as u32);
                        out.push(value as u8);
                        rest = &tail[digits..];
                    }
                    _ => out.push(*next),
                }
            }
            _ => out.push(*first),
        }
    }
    out
}
