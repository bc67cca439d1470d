//! Memory used by a terminal's cells and history, compared with the `alacritty_terminal` crate.
//!
//! `cargo bench -p unterm-term --bench memory`. Each figure comes from a separate process that does nothing else: it is
//! the growth of its resident memory (`VmRSS`) from building one terminal. Linux only.
//!
//! The compiler output imitates the output of cargo, rustc and gcc: colored, in lines of 0–100 columns, with files and
//! names in random order.

#![allow(clippy::print_stdout, reason = "a benchmark's output is its result")]

use std::fmt::Write;
use std::process::Command;
use std::time::Instant;

use alacritty_terminal::event::VoidListener;
use alacritty_terminal::grid::Dimensions;
use alacritty_terminal::term::Config;
use alacritty_terminal::vte::ansi::Processor;
use unterm_term::{Options, Parser, Size, Term};

/// A case: its name, its size in columns and rows, and lines of history.
const CASES: [(&str, u16, u16, usize); 4] = [
    ("hot", 1000, 1000, 0),
    ("ascii", 80, 24, 100_000),
    ("compiler", 120, 40, 1_000_000),
    ("compiler-packed", 120, 40, 1_000_000),
];

struct Cells(u16, u16);

impl Dimensions for Cells {
    fn total_lines(&self) -> usize {
        self.1 as usize
    }

    fn screen_lines(&self) -> usize {
        self.1 as usize
    }

    fn columns(&self) -> usize {
        self.0 as usize
    }
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    if let [flag, case, whose] = &args[..]
        && flag == "--measure"
    {
        return measure(case, whose == "ours");
    }
    println!("{:<44} {:>10} {:>10}", "", "unterm", "alacritty");
    for (case, cols, rows, history) in CASES {
        let ours = child(case, "ours");
        let theirs = (case != "compiler-packed").then(|| child(case, "theirs"));
        let cells = if history == 0 { cols as usize * rows as usize } else { 78 * history } as f64;
        let (name, unit): (String, &dyn Fn(f64) -> String) = match case {
            "hot" => ("bytes a hot cell".into(), &|kib| format!("{:.2}", kib * 1024.0 / cells)),
            "ascii" => (format!("bytes a cold ASCII cell ({history} lines of 78)"), &|kib| {
                format!("{:.2}", kib * 1024.0 / cells)
            }),
            "compiler" => (format!("MB, {history} lines of compiler output"), &|kib| {
                format!("{:.1}", kib * 1024.0 / 1e6)
            }),
            _ => ("MB, the same before any pause".into(), &|kib| {
                format!("{:.1}", kib * 1024.0 / 1e6)
            }),
        };
        println!(
            "{name:<44} {:>10} {:>10}",
            ours.map_or_else(|| "?".into(), unit),
            theirs.flatten().map_or_else(|| "".into(), unit)
        );
    }
}

/// Measures a case in a separate process. Returns the memory in KiB, or `None` if the measurement failed.
fn child(case: &str, whose: &str) -> Option<f64> {
    let program = std::env::current_exe().ok()?;
    let output = Command::new(program).args(["--measure", case, whose]).output().ok()?;
    eprint!("{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).ok()?.trim().parse().ok()
}

/// Resident memory of this process in KiB.
fn resident() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(f64::NAN)
}

fn measure(case: &str, ours: bool) {
    let Some(&(_, cols, rows, history)) = CASES.iter().find(|(name, ..)| *name == case) else {
        return;
    };
    let mut random = Random(1);
    let mut text = String::with_capacity(1 << 20);
    // One block warms up memory outside the terminal: allocator, tables, this buffer.
    let mut block = |text: &mut String| {
        text.clear();
        match case {
            "hot" => {
                let _ = write!(text, "\x1b[H");
                ascii(text, &mut random, cols as usize * rows as usize);
                1
            }
            "ascii" => {
                for _ in 0..1000 {
                    ascii(text, &mut random, 78);
                    text.push_str("\r\n");
                }
                1000
            }
            _ => compiler(text, &mut random),
        }
    };
    block(&mut text);
    let total = if history == 0 { 1 } else { history + rows as usize };
    let mut lines = 0;
    if ours {
        let mut warm = Term::new(Size::cells(80, 24), Options::default());
        Parser::new().advance(&mut warm, text.as_bytes());
        drop(warm);
        let before = resident();
        let options = Options { scrollback: history, ..Options::default() };
        let mut term = Term::new(Size::cells(cols, rows), options);
        let mut parser = Parser::new();
        let mut bytes = 0;
        let start = Instant::now();
        while lines < total {
            lines += block(&mut text);
            bytes += text.len();
            parser.advance(&mut term, text.as_bytes());
        }
        let fed = start.elapsed();
        let start = Instant::now();
        if case != "compiler-packed" {
            // Compress the history. A pane's reader does this while its program writes nothing.
            while let Some(mut due) = term.compression() {
                due.run();
                term.compressed(due);
            }
        }
        let after = resident();
        eprintln!(
            "  {case}: {lines} lines, {:.0} MB fed in {:.2} s, {:.3} s of compressing in the pause, {:.1} MB of history",
            bytes as f64 / 1e6,
            fed.as_secs_f64(),
            start.elapsed().as_secs_f64(),
            term.history_size() as f64 / 1e6,
        );
        println!("{}", after - before);
    } else {
        let warm = alacritty_terminal::Term::new(Config::default(), &Cells(80, 24), VoidListener);
        drop(warm);
        let before = resident();
        let config = Config { scrolling_history: history, ..Config::default() };
        let mut term = alacritty_terminal::Term::new(config, &Cells(cols, rows), VoidListener);
        let mut parser: Processor = Processor::new();
        while lines < total {
            lines += block(&mut text);
            parser.advance(&mut term, text.as_bytes());
        }
        println!("{}", resident() - before);
    }
}

/// A generator of small pseudorandom numbers, with the same numbers in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % n
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }
}

fn ascii(text: &mut String, random: &mut Random, len: usize) {
    text.extend((0..len).map(|_| (b' ' + random.below(95) as u8) as char));
}

const WORDS: [&str; 40] = [
    "alloc", "arena", "atlas", "batch", "block", "buffer", "builder", "cache", "cell", "channel",
    "client", "cluster", "codec", "config", "context", "cursor", "decode", "driver", "encode",
    "engine", "event", "filter", "format", "frame", "grid", "handle", "header", "index", "input",
    "layout", "loader", "lookup", "matrix", "module", "packet", "parser", "reader", "record",
    "render", "schema",
];

fn name(random: &mut Random) -> String {
    match random.below(3) {
        0 => random.pick(&WORDS).to_owned(),
        1 => format!("{}_{}", random.pick(&WORDS), random.pick(&WORDS)),
        _ => format!("{}_{}_{}", random.pick(&WORDS), random.pick(&WORDS), random.below(100)),
    }
}

/// Writes about a thousand lines of build output, and returns how many.
fn compiler(text: &mut String, random: &mut Random) -> usize {
    let mut lines = 0;
    while lines < 1000 {
        let before = text.len();
        let (a, b, c) = (name(random), name(random), name(random));
        let (line, col) = (random.below(4000) + 1, random.below(90) + 1);
        let pad = " ".repeat(line.to_string().len());
        let _ = match random.below(6) {
            0..=2 => write!(
                text,
                "\x1b[1m\x1b[32m   Compiling\x1b[0m {a}-{b} v{}.{}.{} (/home/user/src/{c}/crates/{a})\r\n",
                random.below(4),
                random.below(40),
                random.below(20)
            ),
            3 => write!(
                text,
                "\x1b[1m\x1b[33mwarning\x1b[0m\x1b[1m: unused variable: `{a}`\x1b[0m\r\n\
                 {pad}\x1b[1m\x1b[34m-->\x1b[0m crates/{b}/src/{c}.rs:{line}:{col}\r\n\
                 {pad} \x1b[1m\x1b[34m|\x1b[0m\r\n\
                 \x1b[1m\x1b[34m{line}\x1b[0m \x1b[1m\x1b[34m|\x1b[0m     let {a} = self.{b}.{c}(&mut {a}, {line});\r\n\
                 {pad} \x1b[1m\x1b[34m|\x1b[0m         \x1b[1m\x1b[33m{}\x1b[0m \x1b[1m\x1b[33mhelp: if this is intentional, prefix it with an underscore: `_{a}`\x1b[0m\r\n\
                 {pad} \x1b[1m\x1b[34m|\x1b[0m\r\n\r\n",
                "^".repeat(a.len())
            ),
            4 => write!(
                text,
                "\x1b[01m\x1b[Ksrc/{a}/{b}.c:{line}:{col}:\x1b[m\x1b[K \x1b[01;35m\x1b[Kwarning: \x1b[m\x1b[Kcomparison of integer expressions of different signedness: ‘\x1b[01m\x1b[Kint\x1b[m\x1b[K’ and ‘\x1b[01m\x1b[Ksize_t\x1b[m\x1b[K’ [\x1b[01;35m\x1b[K-Wsign-compare\x1b[m\x1b[K]\r\n\
                 {line} |     for (int {a} = 0; \x1b[01;35m\x1b[K{a} < {b}->{c}\x1b[m\x1b[K; ++{a}) {{\r\n\
                 {pad} |                       \x1b[01;35m\x1b[K{}\x1b[m\x1b[K\r\n",
                "~".repeat(a.len() + b.len() + c.len() + 5)
            ),
            _ => write!(
                text,
                "[{:3}%] \x1b[32mBuilding CXX object src/{a}/CMakeFiles/{b}.dir/{c}.cpp.o\x1b[0m\r\n\
                 /usr/bin/c++ -DNDEBUG -I/home/user/src/{a}/include -I/usr/include/{b} -O2 -g -std=c++20 -o {c}.o -c {c}.cpp\r\n",
                random.below(100)
            ),
        };
        lines += text[before..].matches('\n').count();
    }
    lines
}
