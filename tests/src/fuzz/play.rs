//! Playing one input on terminals, as panes and viewers use them, and what must hold meanwhile.

use std::sync::Arc;

use unterm_term::{
    Allow, LineId, Options, Palette, Parser, Point, Redraw, Rgb, ScreenKind, Size, Term, TextRange,
};

use super::{
    HEADER, Random,
    viewer::{Viewer, a_point},
    words::MARK,
};

/// The most bytes of replies a terminal keeps.
const REPLIES: usize = 64 << 10;
/// The most events a terminal keeps.
const EVENTS: usize = 4096;

/// How often what happens between two pieces of a stream, of 256.
pub(super) struct Plan {
    resize: usize,
    look: usize,
    /// A resize must keep all text. Off where a stream draws with more than text.
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

/// One terminal with its parser.
struct Fed {
    term: Term,
    parser: Parser,
}

impl Fed {
    fn new(size: Size, options: &Options) -> Self {
        Self { term: Term::new(size, options.clone()), parser: Parser::new() }
    }

    fn feed(&mut self, bytes: &[u8]) {
        self.parser.advance(&mut self.term, bytes);
        self.term.debug_check();
    }

    /// As a pane does it: images are decoded apart from the terminal.
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

/// What the terminals are made with. Titles are never reported: they are the program's.
fn options(scrollback: usize, mut random: Random) -> Options {
    let all = [Allow::WINDOW_OPS, Allow::CHECKSUM_REPORTS];
    let allow = all.into_iter().filter(|_| random.one_in(3)).collect();
    Options { scrollback, ambiguous_wide: random.one_in(4), allow, ..Options::default() }
}

/// Plays the stream on two terminals, one given it in small pieces: they must come to the same.
pub(super) fn play(input: &[u8], plan: &Plan) {
    let mut header = [0; HEADER];
    let len = input.len().min(HEADER);
    header[..len].copy_from_slice(&input[..len]);
    let mut stream = &input[len..];
    let mut random = Random::new(u64::from_le_bytes(header));

    let size = a_size(&mut random);
    let scrollback = random.pick(plan.scrollbacks);
    // Random for itself, so that what came before these options were varied is played as it was.
    let options = options(scrollback, Random::new(!u64::from_le_bytes(header)));
    let mut whole = Fed::new(size, &options);
    let mut split = Fed::new(size, &options);
    let mut viewer = Viewer::default();
    let keeps_text = plan.keeps_text && !may_draw_in_cells(stream);
    // Pieces as a slow program writes them, or as a pty hands over a flood.
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

/// Whether the stream may draw images that fill cells (sixel in a DCS, iTerm2's files). A row with one starts anew at each
/// width, so that blanks come to stand before it in a line that was wrapped there.
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

/// The bytes that a terminal describes itself with are good for another one.
fn rebuild(term: &Term, options: &Options) {
    let mut other = Fed::new(term.size(), options);
    other.feed(&term.to_vt());
    assert_eq!(term.screen(), other.term.screen());
}

/// The lines that differ, for a message that can be read.
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

fn feed_split(fed: &mut Fed, mut segment: &[u8], random: &mut Random) {
    let longest = random.pick(&[1, 3, 40, 1000]);
    while !segment.is_empty() {
        let (piece, rest) = segment.split_at(segment.len().min(1 + random.below(longest)));
        fed.feed_apart(piece);
        segment = rest;
    }
}

/// Mostly small, where edges are near; sometimes one column, sometimes large, sometimes without a size in pixels.
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

/// What owners of a terminal do between two reads.
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
        // History grown cold is compressed, on one of them.
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

/// Replies and events are the same, bounded, and hold nothing that the program wrote.
fn answers(whole: &mut Term, split: &mut Term) {
    let replies = split.take_replies();
    assert_eq!(
        String::from_utf8_lossy(&whole.take_replies()),
        String::from_utf8_lossy(&replies),
        "split elsewhere it replies otherwise"
    );
    assert!(replies.len() <= REPLIES, "{} bytes of replies", replies.len());
    let text = without_identifiers(&String::from_utf8_lossy(&replies));
    assert!(!MARK.iter().any(|mark| text.contains(mark)), "a reply echoes the program: {text:?}");
    // A line feed or a carriage return would run what stands before it, in a shell.
    assert!(!replies.iter().any(|byte| matches!(byte, b'\r' | b'\n')), "{text:?}");
    let events = split.take_events();
    assert!(events.len() <= EVENTS, "{} events", events.len());
    assert_eq!(whole.take_events(), events, "split elsewhere it tells otherwise");
}

/// Replies without what kitty's notifications are asked about by (OSC 99), which comes back by the protocol: letters, digits
/// and a few signs. One is told by itself, those on show are listed.
fn without_identifiers(replies: &str) -> String {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "_-+.,".contains(c);
    let mut text = replies.to_owned();
    // Without the introducer, which may be one byte (S8C1T).
    for before in ["99;i=", ":p=alive;"] {
        let mut parts = text.split(before);
        let first = parts.next().unwrap_or_default().to_owned();
        text = parts.fold(first, |text, part| text + part.trim_start_matches(is_part));
    }
    text
}

/// Resizes. With `keeps_text`, a scrollback's length: what was there is still there, and places in it are found again, unless
/// that was too short, the screen is one that keeps nothing, or a shell is to draw its prompt anew. What stands below the
/// cursor goes where the new screen has no room for both.
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

/// What a cell shows; nothing for a blank one, or none at all.
fn text_at(term: &Term, point: Point) -> String {
    term.text(TextRange { start: point, end: point, block: false }).trim().to_owned()
}

/// All lines as they would be copied, without the blank ones at the end.
fn all_text(term: &Term) -> String {
    text_to(term, term.size().rows - 1, term.size().cols - 1)
}

/// Likewise up to a cell of the screen.
fn text_to(term: &Term, row: u16, col: u16) -> String {
    let end = LineId(term.live_top().0 + u64::from(row));
    let range = TextRange {
        start: Point { line: term.oldest(), col: 0 },
        end: Point { line: end, col },
        block: false,
    };
    term.text(range).trim_end().to_owned()
}
