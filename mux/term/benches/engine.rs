//! Bytes per second through the engine, compared with the `alacritty_terminal` crate in the same process.
//!
//! `cargo bench -p unterm-term` prints one line per stream: MB/s of both engines, as medians of interleaved runs, and
//! the ratio. For hostile streams it prints whether four times the bytes take four times as long. At the end it prints
//! milliseconds for work that a user waits for: resizing 100,000 lines of history to 60 columns and back, and searching
//! them for all matches. The last lines show how long 1,000,000 lines keep Unterm's lock held, and how long it takes to write
//! a history of 10,000 lines as bytes, compared with reading it.
//!
//! 80×24 cells, 10,000 lines of history, 64 KiB per batch. `cargo bench -p unterm-term -- NAME` runs the streams whose
//! name contains NAME. `--only-ours` skips the comparison, and `--once` runs each stream once (for profilers).

#![allow(clippy::print_stdout, reason = "a benchmark's output is its result")]

use std::fmt::Write;
use std::time::Instant;

use alacritty_terminal::event::VoidListener;
use alacritty_terminal::grid::Dimensions;
use alacritty_terminal::term::Config;
use alacritty_terminal::vte::ansi::Processor;

const COLS: u16 = 80;
const ROWS: u16 = 24;
const BATCH: usize = 64 << 10;
/// The length of each stream in bytes.
const LENGTH: usize = 8 << 20;
const RUNS: usize = 7;

/// A grid with this many columns.
struct Cells(u16);

impl Dimensions for Cells {
    fn total_lines(&self) -> usize {
        ROWS as usize
    }

    fn screen_lines(&self) -> usize {
        ROWS as usize
    }

    fn columns(&self) -> usize {
        self.0 as usize
    }
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let only_ours = args.iter().any(|arg| arg == "--only-ours");
    let runs = if args.iter().any(|arg| arg == "--once") { 1 } else { RUNS };
    let wanted = |name: &str| {
        let mut names = args.iter().filter(|arg| !arg.starts_with('-')).peekable();
        names.peek().is_none() || names.any(|part| name.contains(part.as_str()))
    };
    if !only_ours {
        println!("{:<24} {:>10} {:>12} {:>7}", "stream", "unterm", "alacritty", "ratio");
    }
    for (name, make) in streams() {
        if !wanted(name) {
            continue;
        }
        let bytes = fill(make);
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..runs {
            ours.push(run_unterm(&bytes));
            if !only_ours {
                theirs.push(run_alacritty(&bytes));
            }
        }
        let ours = median(ours);
        if only_ours {
            println!("{name:<24} {ours:>6.0} MB/s");
            continue;
        }
        let theirs = median(theirs);
        println!("{name:<24} {ours:>5.0} MB/s {theirs:>7.0} MB/s {:>6.2}×", ours / theirs);
    }
    for (name, make) in hostile() {
        if !wanted(name) {
            continue;
        }
        let time = |len| median((0..runs).map(|_| time_unterm(&make(len))).collect());
        let (small, large): (f64, f64) = (time(1 << 20), time(4 << 20));
        let speed = (1 << 20) as f64 / 1e6 / small;
        println!(
            "{name:<24} {speed:>5.0} MB/s   4 MiB take {:.1} times as long as 1",
            large / small
        );
    }
    if wanted("resize") && !only_ours {
        let (ours, theirs) = (0..RUNS).map(|_| resize_both()).unzip();
        let (ours, theirs) = (median(ours), median(theirs));
        println!("{:<24} {ours:>7.1} ms {theirs:>9.1} ms {:>6.2}×", "resize", theirs / ours);
    }
    if !only_ours {
        search_both(wanted);
    }
    if wanted("long-history") {
        long_history();
    }
    if wanted("write") {
        write_history(runs);
    }
}

/// How long [`unterm_term::Term::to_vt`] takes for a full history, compared with reading the text of that history.
fn write_history(runs: usize) {
    for (name, line) in [
        ("write text", "The quick brown fox jumps over the lazy dog. 0123456789 (abc) [def] {ghi}"),
        (
            "write colors",
            "\x1b[32mok\x1b[m the \x1b[1;34mquick\x1b[m brown \x1b[31mfox\x1b[m jumps over it",
        ),
        ("write CJK", "日本語のテキストと ASCII、端末エミュレータの出力"),
    ] {
        let text = format!("{line}\r\n").repeat(10_000);
        let (mut reading, mut writing) = (Vec::new(), Vec::new());
        for _ in 0..runs {
            let mut term =
                unterm_term::Term::new(unterm_term::Size::cells(COLS, ROWS), Default::default());
            let read = || unterm_term::Parser::new().advance(&mut term, text.as_bytes());
            reading.push(milliseconds(read));
            let write = || drop(std::hint::black_box(term.to_vt()));
            writing.push(milliseconds(write));
        }
        let (reading, writing) = (median(reading), median(writing));
        println!(
            "{name:<24} {writing:>7.2} ms for 10,000 lines, {:.2}× of {reading:.2} ms to read them",
            writing / reading
        );
    }
}

/// Text that fills a history of this many lines.
fn history(lines: usize) -> String {
    let mut random = Random(1);
    let mut text = String::new();
    for i in 0..lines {
        let len = random.below(100);
        let _ = write!(text, "\x1b[3{}m{i}\x1b[m ", i % 8);
        ascii(&mut text, &mut random, len);
        text.push_str("\r\n");
    }
    text
}

fn our_history(lines: usize) -> unterm_term::Term {
    let options = unterm_term::Options { scrollback: lines, ..Default::default() };
    let mut term = unterm_term::Term::new(unterm_term::Size::cells(COLS, ROWS), options);
    unterm_term::Parser::new().advance(&mut term, history(lines).as_bytes());
    // Compress the history, as a pane does in the first pause of its program.
    while let Some(mut due) = term.compression() {
        due.run();
        term.compressed(due);
    }
    term
}

fn their_history(lines: usize) -> alacritty_terminal::Term<VoidListener> {
    let config = Config { scrolling_history: lines, ..Config::default() };
    let mut term = alacritty_terminal::Term::new(config, &Cells(COLS), VoidListener);
    let mut parser: Processor = Processor::new();
    parser.advance(&mut term, history(lines).as_bytes());
    term
}

fn milliseconds(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64() * 1e3
}

/// For each search: its name, the pattern, and whether the pattern is a regular expression (in alacritty it always is).
/// Both engines ignore case if the pattern contains no upper-case letter.
const SEARCHES: [(&str, &str, bool); 3] = [
    ("search-literal", "99999 ", false),
    ("search-word", "abc", false),
    ("search-regex", r"[a-f]{3}\d+", true),
];

/// Prints how long each engine takes to find every match in 100,000 lines.
fn search_both(wanted: impl Fn(&str) -> bool) {
    use alacritty_terminal::index::{Column, Direction, Point};
    use alacritty_terminal::term::search::{RegexIter, RegexSearch};
    use unterm_term::{Case, Pattern, PatternKind, SearchOrder};
    if !SEARCHES.iter().any(|(name, ..)| wanted(name)) {
        return;
    }
    let (ours, theirs) = (our_history(HISTORY), their_history(HISTORY));
    for (name, text, is_regex) in SEARCHES {
        if !wanted(name) {
            continue;
        }
        let kind = if is_regex { PatternKind::Regex } else { PatternKind::Literal };
        let (mut our_times, mut their_times, mut counts) = (Vec::new(), Vec::new(), (0, 0));
        for _ in 0..RUNS {
            our_times.push(milliseconds(|| {
                let pattern = Pattern::new(text, kind, Case::Smart).expect("a pattern");
                counts.0 = ours.lines().search(&pattern, SearchOrder::OldestFirst).count();
            }));
            their_times.push(milliseconds(|| {
                let mut regex = RegexSearch::new(text).expect("a pattern");
                let start = Point::new(theirs.topmost_line(), Column(0));
                let end = Point::new(theirs.bottommost_line(), theirs.last_column());
                counts.1 =
                    RegexIter::new(start, end, Direction::Right, &theirs, &mut regex).count();
            }));
        }
        let (ours, theirs) = (median(our_times), median(their_times));
        println!(
            "{name:<24} {ours:>7.1} ms {theirs:>9.1} ms {:>6.2}×   {} and {} matches",
            theirs / ours,
            counts.0,
            counts.1
        );
    }
}

/// Prints how long Unterm holds the terminal's lock to resize or copy a million lines.
fn long_history() {
    let mut term = our_history(1_000_000);
    for cols in [60, COLS] {
        let time = milliseconds(|| term.resize(unterm_term::Size::cells(cols, ROWS)));
        println!("resize 1,000,000 lines   {time:>7.1} ms to {cols} columns");
    }
    let mut lines = None;
    let time = milliseconds(|| lines = Some(term.lines()));
    println!("copy 1,000,000 lines     {time:>7.2} ms to search them outside the lock");
}

const HISTORY: usize = 100_000;

/// Milliseconds each engine takes to resize 100,000 lines of history to 60 columns and back.
fn resize_both() -> (f64, f64) {
    let mut term = our_history(HISTORY);
    let start = Instant::now();
    term.resize(unterm_term::Size::cells(60, ROWS));
    term.resize(unterm_term::Size::cells(COLS, ROWS));
    let ours = start.elapsed();
    let mut term = their_history(HISTORY);
    let start = Instant::now();
    term.resize(Cells(60));
    term.resize(Cells(COLS));
    (ours.as_secs_f64() * 1e3, start.elapsed().as_secs_f64() * 1e3)
}

/// MB/s of the last three quarters of a stream, after the first quarter has warmed up history and caches.
fn run_unterm(bytes: &[u8]) -> f64 {
    let size = unterm_term::Size::cells(COLS, ROWS);
    let mut term = unterm_term::Term::new(size, unterm_term::Options::default());
    let mut parser = unterm_term::Parser::new();
    timed(bytes, |batch| parser.advance(&mut term, batch))
}

/// Seconds that a whole stream takes on a new terminal, without a warm-up.
fn time_unterm(bytes: &[u8]) -> f64 {
    let size = unterm_term::Size::cells(COLS, ROWS);
    let mut term = unterm_term::Term::new(size, unterm_term::Options::default());
    let mut parser = unterm_term::Parser::new();
    let start = Instant::now();
    bytes.chunks(BATCH).for_each(|batch| parser.advance(&mut term, batch));
    start.elapsed().as_secs_f64()
}

fn run_alacritty(bytes: &[u8]) -> f64 {
    let mut term = alacritty_terminal::Term::new(Config::default(), &Cells(COLS), VoidListener);
    let mut parser: Processor = Processor::new();
    timed(bytes, |batch| parser.advance(&mut term, batch))
}

fn timed(bytes: &[u8], mut advance: impl FnMut(&[u8])) -> f64 {
    let (warm, measured) = bytes.split_at(bytes.len() / 4);
    warm.chunks(BATCH).for_each(&mut advance);
    let start = Instant::now();
    measured.chunks(BATCH).for_each(&mut advance);
    measured.len() as f64 / 1e6 / start.elapsed().as_secs_f64()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// A generator of small pseudorandom numbers, with the same numbers in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % n
    }
}

/// Writes a piece of a stream.
type Piece = fn(&mut String, &mut Random);

fn piece(piece: Piece) -> Piece {
    piece
}

fn fill(piece: Piece) -> Vec<u8> {
    let mut random = Random(1);
    let mut text = String::with_capacity(LENGTH + (128 << 10));
    while text.len() < LENGTH {
        piece(&mut text, &mut random);
    }
    text.into_bytes()
}

fn ascii(text: &mut String, random: &mut Random, len: usize) {
    text.extend((0..len).map(|_| (b' ' + random.below(95) as u8) as char));
}

const WORDS: [&str; 16] = [
    "the",
    "naïve",
    "café",
    "Größe",
    "привет",
    "мир",
    "κόσμος",
    "日本語",
    "漢字",
    "한국어",
    "→",
    "│",
    "👍",
    "👩\u{200d}💻",
    "e\u{301}te\u{301}",
    "plain",
];

/// `start`, followed by `more` repeated up to about `len` bytes.
fn after(start: &str, more: &str, len: usize) -> Vec<u8> {
    [start.as_bytes(), &more.as_bytes().repeat(len / more.len())].concat()
}

/// Creates a stream of about this many bytes.
type Make = fn(usize) -> Vec<u8>;

/// Hostile streams. Tests in src/tests/hostile.rs bound their cost by counting work.
fn hostile() -> [(&'static str, Make); 7] {
    [
        ("hostile-ff", |len| vec![0xff; len]),
        ("hostile-osc", |len| after("\x1b]", "x", len)),
        ("hostile-dcs", |len| after("", "\x1bPq", len)),
        ("hostile-params", |len| after("", &format!("\x1b[{}m", "1;".repeat(10_000)), len)),
        ("hostile-rep", |len| after("x", "\x1b[2147483648b\x1b[2147483648I", len)),
        ("hostile-zwj", |len| after("a", "\u{200d}", len)),
        ("hostile-emoji", |len| after("👩", "\u{200d}👩", len)),
    ]
}

fn streams() -> Vec<(&'static str, Piece)> {
    vec![
        (
            "ascii-lines",
            piece(|text, random| {
                ascii(text, random, 78);
                text.push_str("\r\n");
            }),
        ),
        ("ascii-no-newline", piece(|text, random| ascii(text, random, 4096))),
        ("y-lines", piece(|text, _| text.push_str("y\r\n"))),
        (
            "mixed-unicode",
            piece(|text, random| {
                for _ in 0..10 {
                    text.push_str(WORDS[random.below(WORDS.len())]);
                    text.push(' ');
                }
                text.push_str("\r\n");
            }),
        ),
        (
            "cjk",
            piece(|text, random| {
                text.extend(
                    (0..39).filter_map(|_| char::from_u32(0x4e00 + random.below(0x5100) as u32)),
                );
                text.push_str("\r\n");
            }),
        ),
        (
            "csi-mix",
            piece(|text, random| {
                let (row, col) = (random.below(24) + 1, random.below(80) + 1);
                let _ = match random.below(8) {
                    0 => write!(text, "\x1b[{row};{col}H"),
                    1 => write!(text, "\x1b[{}m", 30 + random.below(8)),
                    2 => write!(text, "\x1b[1;{};{}m", 30 + random.below(8), 40 + random.below(8)),
                    3 => write!(text, "\x1b[K"),
                    4 => write!(text, "\x1b[{}C", random.below(10)),
                    5 => write!(text, "\x1b[m"),
                    6 => write!(text, "\x1b[38;5;{}m", random.below(256)),
                    _ => write!(text, "\x1b[{}A\r", random.below(5)),
                };
                let len = random.below(12);
                ascii(text, random, len);
            }),
        ),
        (
            "cursor-motion",
            piece(|text, random| {
                let (row, col) = (random.below(24) + 1, random.below(80) + 1);
                let _ = write!(text, "\x1b[{row};{col}HA");
            }),
        ),
        (
            "truecolor",
            piece(|text, random| {
                let mut n = || random.below(256);
                let _ = write!(text, "\x1b[38;2;{};{};{}m", n(), n(), n());
                ascii(text, random, 1);
            }),
        ),
        (
            "truecolor-two",
            piece(|text, random| {
                for _ in 0..80 {
                    let mut n = || random.below(64) * 4;
                    let _ = write!(
                        text,
                        "\x1b[38;2;{};{};{}m\x1b[48;2;{};{};{}m▀",
                        n(),
                        n(),
                        n(),
                        n(),
                        n(),
                        n()
                    );
                }
                text.push_str("\x1b[m\r\n");
            }),
        ),
        (
            "scroll-region",
            piece(|text, random| {
                text.push_str("\x1b[2;22r\x1b[22;1H");
                for _ in 0..200 {
                    let len = random.below(60);
                    ascii(text, random, len);
                    text.push_str("\r\n");
                }
            }),
        ),
        (
            "insert-delete",
            piece(|text, random| {
                let (row, col) = (random.below(24) + 1, random.below(80) + 1);
                let n = random.below(4) + 1;
                let _ = write!(
                    text,
                    "\x1b[{row};{col}H\x1b[{n}{}",
                    ["@", "P", "L", "M", "X"][random.below(5)]
                );
                ascii(text, random, 8);
            }),
        ),
        (
            "alt-redraw",
            piece(|text, random| {
                text.push_str("\x1b[?2026h\x1b[H");
                for row in 1..=24 {
                    let _ = write!(text, "\x1b[{row};1H\x1b[38;5;{}m", random.below(256));
                    ascii(text, random, 20);
                    let _ = write!(text, "\x1b[1;44m");
                    ascii(text, random, 30);
                    text.push_str("\x1b[m\x1b[K");
                }
                text.push_str("\x1b[?2026l");
            }),
        ),
        // Recorded programs; see src/tests/sessions.rs.
        (
            "recorded-vim",
            piece(|text, _| text.push_str(include_str!("../src/tests/sessions/vim-scroll.vt"))),
        ),
        (
            "recorded-htop",
            piece(|text, _| text.push_str(include_str!("../src/tests/sessions/htop.vt"))),
        ),
        (
            "recorded-agent",
            piece(|text, _| text.push_str(include_str!("../src/tests/sessions/agent.vt"))),
        ),
    ]
}
