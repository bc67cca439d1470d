//! Plays an input on terminals like panes and viewers do, and checks properties of the terminals.

use std::sync::Arc;

use unterm_term::{
    Allow, ClipboardData, Event, LineId, Options, Palette, Parser, Point, Redraw, Rgb, ScreenKind,
    Size, Term, TextRange,
};

use super::{
    HEADER, Random,
    dictionary::MARK,
    viewer::{Viewer, a_point},
};

/// The maximum number of bytes of replies that a terminal may store.
const REPLIES: usize = 64 << 10;
/// The maximum number of bytes that a program may write to a clipboard.
const CLIPBOARD_DATA: usize = 64 << 20;
/// The maximum number of events that a terminal may store.
const EVENTS: usize = 4096;

/// The probability, out of 256, of each action between two pieces of a stream.
pub(super) struct Plan {
    resize: usize,
    look: usize,
    /// Whether a resize must keep all text. False if the body's streams draw more than text.
    keeps_text: bool,
    scrollbacks: &'static [usize],
}

impl Plan {
    pub(super) const ENGINE: Self =
        Self { resize: 6, look: 30, keeps_text: false, scrollbacks: &[0, 1, 7, 100, 10_000] };
    pub(super) const IMAGES: Self = Self { resize: 16, ..Self::ENGINE };
    pub(super) const REFLOW: Self =
        Self { resize: 110, look: 50, keeps_text: true, scrollbacks: &[0, 3, 100_000, 100_000] };
}

/// A terminal, and the parser that feeds it.
struct FedTerminal {
    term: Term,
    parser: Parser,
}

impl FedTerminal {
    fn new(size: Size, options: &Options) -> Self {
        Self { term: Term::new(size, options.clone()), parser: Parser::new() }
    }

    fn feed(&mut self, bytes: &[u8]) {
        self.parser.advance(&mut self.term, bytes);
        self.term.debug_check();
    }

    /// Feeds bytes like a pane, which decodes images outside the terminal.
    fn feed_apart(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let (taken, image) = self.parser.advance_to_image(&mut self.term, bytes);
            bytes = &bytes[taken..];
            if let Some(mut image) = image {
                self.term.debug_check();
                image.run();
                self.term.decoded(image);
            }
        }
        self.term.debug_check();
    }
}

/// The options of the terminals. Title reports stay off, because a title is program text.
fn options(scrollback: usize, mut random: Random) -> Options {
    let all = [Allow::WINDOW_OPS, Allow::CHECKSUM_REPORTS];
    let allow = all.into_iter().filter(|_| random.one_in(3)).collect();
    Options { scrollback, ambiguous_wide: random.one_in(4), allow, ..Options::default() }
}

/// Plays the stream on two terminals. One of them gets it in small pieces. Both must reach the same state.
pub(super) fn play(input: &[u8], plan: &Plan) {
    let mut header = [0; HEADER];
    let len = input.len().min(HEADER);
    header[..len].copy_from_slice(&input[..len]);
    let mut stream = &input[len..];
    let mut random = Random::new(u64::from_le_bytes(header));

    let size = a_size(&mut random);
    let scrollback = random.pick(plan.scrollbacks);
    // Use a separate random sequence, so that inputs from before these options existed are played unchanged.
    let options = options(scrollback, Random::new(!u64::from_le_bytes(header)));
    let mut whole = FedTerminal::new(size, &options);
    let mut split = FedTerminal::new(size, &options);
    let mut viewer = Viewer::default();
    let keeps_text = plan.keeps_text && !may_draw_in_cells(stream);
    // Use pieces of different sizes: small ones as from a slow program, and large ones as from a flood of output.
    let longest = random.pick(&[8, 64, 600, 4096, 1 << 16]);
    while !stream.is_empty() {
        let (segment, rest) = stream.split_at(stream.len().min(1 + random.below(longest)));
        stream = rest;
        whole.feed(segment);
        feed_split(&mut split, segment, &mut random);
        if random.below(256) < plan.look {
            viewer.look(&split.term, &mut random);
        }
        if random.below(256) < plan.resize {
            let size = a_size(&mut random);
            resize(&mut split.term, size, keeps_text.then_some(scrollback), &mut random);
            whole.term.resize(size);
        }
        if random.one_in(8) {
            between(&mut whole.term, &mut split.term, &mut random);
        }
        if random.one_in(64) {
            assert_same(&whole.term, &split.term);
        }
    }
    assert_same(&whole.term, &split.term);
    answers(&mut whole.term, &mut split.term);
    viewer.look(&split.term, &mut random);
    rebuild(&split.term, &options);
}

/// Whether the stream may draw images that fill cells (sixel in a DCS, iTerm2's files). A row with such an image begins
/// a new line at each width. If a line was wrapped at the image, the reflowed text then contains additional blanks.
fn may_draw_in_cells(stream: &[u8]) -> bool {
    let introducers: [&[u8]; 4] = [b"\x1bP", b"\x90", b"]1337;", b"\x9d1337;"];
    introducers.iter().any(|wanted| stream.windows(wanted.len()).any(|bytes| bytes == *wanted))
}

fn assert_same(whole: &Term, split: &Term) {
    let (whole, split) = (whole.dump(), split.dump());
    assert!(
        whole == split,
        "split elsewhere it comes to another state:\n{}",
        differing(&whole, &split)
    );
}

/// Checks that the bytes of [`Term::to_vt`] recreate the same screen in another terminal.
fn rebuild(term: &Term, options: &Options) {
    let mut other = FedTerminal::new(term.size(), options);
    other.feed(&term.to_vt());
    assert_eq!(term.screen(), other.term.screen());
}

/// The lines that differ, for a readable message.
fn differing(a: &str, b: &str) -> String {
    let mut lines: Vec<String> = a
        .lines()
        .zip(b.lines())
        .filter(|(a, b)| a != b)
        .take(5)
        .map(|(a, b)| format!("  whole {a}\n  split {b}"))
        .collect();
    if a.lines().count() != b.lines().count() {
        lines.push("  and one has more lines".into());
    }
    lines.join("\n")
}

fn feed_split(fed: &mut FedTerminal, mut segment: &[u8], random: &mut Random) {
    let longest = random.pick(&[1, 3, 40, 1000]);
    while !segment.is_empty() {
        let (piece, rest) = segment.split_at(segment.len().min(1 + random.below(longest)));
        fed.feed_apart(piece);
        segment = rest;
    }
}

/// A random size. It is usually small, so that edges are near; sometimes one column, sometimes large, and sometimes
/// without a size in pixels.
fn a_size(random: &mut Random) -> Size {
    let (cols, rows) = match random.below(16) {
        0 => (1, 1 + random.below(4)),
        1 => (2 + random.below(4), 1),
        2 => (80 + random.below(120), 24 + random.below(40)),
        3 => (80, 24),
        _ => (1 + random.below(30), 1 + random.below(12)),
    };
    let cell = if random.one_in(4) { (0, 0) } else { (8, 16) };
    Size { cell_width: cell.0, cell_height: cell.1, ..Size::cells(cols as u16, rows as u16) }
}

/// Performs actions of a terminal's owner between two reads.
fn between(whole: &mut Term, split: &mut Term, random: &mut Random) {
    match random.below(4) {
        0 => answers(whole, split),
        1 => {
            whole.end_synchronized();
            split.end_synchronized();
        }
        2 => {
            let color = Rgb::hex(random.below(0x0100_0000) as u32);
            let palette = Arc::new(Palette::new([color; 16], color, Rgb::default()));
            whole.set_base_palette(palette.clone());
            split.set_base_palette(palette);
        }
        // Compress cold history, but only on one of the terminals.
        _ => {
            for _ in 0..20 {
                let Some(mut due) = split.compression() else { break };
                due.run();
                split.compressed(due);
            }
        }
    }
    whole.debug_check();
    split.debug_check();
}

/// Checks that replies and events are the same on both terminals, bounded, and free of text that programs wrote.
fn answers(whole: &mut Term, split: &mut Term) {
    let events = split.take_events();
    assert!(events.len() <= EVENTS, "{} events", events.len());
    assert_eq!(whole.take_events(), events, "split elsewhere it tells otherwise");
    events.iter().for_each(|event| answer_clipboard(whole, split, event));
    let replies = split.take_replies();
    assert_eq!(
        String::from_utf8_lossy(&whole.take_replies()),
        String::from_utf8_lossy(&replies),
        "split elsewhere it replies otherwise"
    );
    assert!(replies.len() <= REPLIES, "{} bytes of replies", replies.len());
    let text = without_identifiers(&String::from_utf8_lossy(&replies));
    assert!(!MARK.iter().any(|mark| text.contains(mark)), "a reply echoes the program: {text:?}");
    // In a shell, a line feed or carriage return would run the text before it.
    assert!(!replies.iter().any(|byte| matches!(byte, b'\r' | b'\n')), "{text:?}");
}

/// Answers a request to a clipboard (OSC 5522) on both terminals.
fn answer_clipboard(whole: &mut Term, split: &mut Term, event: &Event) {
    match event {
        Event::ClipboardRead(read) => {
            let data: ClipboardData = vec![("text/plain".to_owned(), Arc::new(vec![7; 5000]))];
            let answer = |term: &mut Term| {
                let reader = term.take_clipboard_read(read.handle)?;
                let reply = reader.reply(Ok(&data));
                Some(without_identifiers(&String::from_utf8_lossy(&reply)))
            };
            let reply = answer(split);
            assert_eq!(answer(whole), reply, "split elsewhere it reads otherwise");
            let text = reply.unwrap_or_default();
            assert!(!MARK.iter().any(|mark| text.contains(mark)), "an echo: {text:?}");
        }
        Event::ClipboardWrite(write) => {
            assert!(write.data.iter().all(|(_, bytes)| bytes.len() <= CLIPBOARD_DATA));
            whole.answer_clipboard_write(write.handle, Ok(()));
            split.answer_clipboard_write(write.handle, Ok(()));
        }
        _ => {}
    }
}

/// Replies without the identifiers of kitty notifications (OSC 99) and of requests to clipboards (OSC 5522), because the
/// protocols require the terminal to return them. An identifier consists of letters, digits and a few signs. One kind of
/// reply contains a single identifier, another lists all visible notifications.
fn without_identifiers(replies: &str) -> String {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "_-+.,".contains(c);
    let mut text = replies.to_owned();
    // The pattern omits the introducer, because it may be a single byte (S8C1T).
    for before in ["99;i=", ":p=alive;", ":id="] {
        let mut parts = text.split(before);
        let first = parts.next().unwrap_or_default().to_owned();
        text = parts.fold(first, |text, part| text + part.trim_start_matches(is_part));
    }
    text
}

/// Resizes a terminal. `keeps_text` is the length of the scrollback. If it is set, the text and the points in it must
/// survive, unless the scrollback was too short, the screen keeps no text, or a shell is about to redraw its prompt.
/// Text below the cursor may be lost if the new screen does not have room for it.
fn resize(term: &mut Term, size: Size, keeps_text: Option<usize>, random: &mut Random) {
    let is_redrawn = term
        .commands()
        .next_back()
        .is_some_and(|last| last.is_prompting() && last.options.redraw != Redraw::Nothing);
    let comparable = |term: &Term| term.screen() == ScreenKind::Main && !is_redrawn;
    let is_kept = keeps_text.is_some_and(|limit| limit > 1000) && comparable(term);
    let before =
        is_kept.then(|| (text_to(term, term.cursor().row, term.cursor().col), all_text(term)));
    let point = a_point(term, random);
    let shown = text_at(term, point);
    let mut points = [Some(point), None];
    term.resize_following(size, &mut points);
    term.debug_check();
    if let Some((to_cursor, before)) = before
        && comparable(term)
    {
        let after = all_text(term);
        let is_kept = after.starts_with(&to_cursor) && before.starts_with(&after);
        assert!(is_kept, "a resize to {size:?} changed the text {before:?}\n to {after:?}");
        if let Some(found) = points[0].filter(|_| !shown.is_empty()) {
            assert_eq!(text_at(term, found), shown, "{point:?} has become {found:?}");
        }
    }
}

/// The text of a cell. Empty for a blank cell and for a point outside the terminal.
fn text_at(term: &Term, point: Point) -> String {
    term.text(TextRange { start: point, end: point, block: false }).trim().to_owned()
}

/// The text of all lines as a user would copy it, without blank lines at the end.
fn all_text(term: &Term) -> String {
    text_to(term, term.size().rows - 1, term.size().cols - 1)
}

/// The text of all lines up to a cell of the screen.
fn text_to(term: &Term, row: u16, col: u16) -> String {
    let end = LineId(term.live_top().0 + u64::from(row));
    let range = TextRange {
        start: Point { line: term.oldest(), col: 0 },
        end: Point { line: end, col },
        block: false,
    };
    term.text(range).trim_end().to_owned()
}
