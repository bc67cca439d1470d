//! Compares the window with other terminals on one display without a window manager: key to pixel, a flood, startup,
//! memory, and idling.
//!
//!     [VTEBENCH=PATH] cargo bench -p unterm-tests --bench window [-- key|flood|start|memory|idle…]
//!
//! alacritty and xterm are measured if they are installed. Prints figures and their ratios; asserts nothing. The
//! terminals run in turns, so that a busy moment of the machine affects all.

#![allow(clippy::print_stdout, reason = "a bench prints its figures")]

use std::{
    collections::HashMap,
    fs,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, ensure};
use serde_json::json;
use unterm_tests::{
    Display, Picture, Start, Window,
    peer::{ALACRITTY, BARE, Peer, Terminal, UNTERM, UNTERM_CPU, UNTERM_GPU, WindowPart, XTERM},
    vtebench::{Vtebench, geometric_mean, median, wait_for_figures},
};

/// Keys pressed in each terminal, in turns of [`TURN`] keys.
const KEYS: usize = 200;
const TURN: usize = 20;
const FLOODS: usize = 7;
const STARTS: usize = 11;
const PANES: usize = 20;
const IDLE: Duration = Duration::from_secs(60);
/// A picture that has not changed for this long is complete.
const STILL: Duration = Duration::from_millis(40);

fn main() -> Result<()> {
    // `cargo test --benches` only checks that the bench runs.
    if !std::env::args().any(|argument| argument == "--bench") {
        return Ok(());
    }
    let chosen: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    for (name, part) in PARTS {
        if chosen.is_empty() || chosen.iter().any(|chosen| chosen == name) {
            part()?;
        }
    }
    Ok(())
}

/// The parts, each with the name that selects it.
#[expect(clippy::type_complexity, reason = "a table of two columns")]
const PARTS: &[(&str, fn() -> Result<()>)] =
    &[("key", keys), ("flood", floods), ("start", starts), ("memory", memory), ("idle", idle)];

fn installed(terminals: &[&'static Terminal]) -> Vec<&'static Terminal> {
    let (here, missing): (Vec<&Terminal>, Vec<&Terminal>) =
        terminals.iter().partition(|terminal| terminal.is_installed());
    for terminal in missing {
        println!("{} is not installed", terminal.name);
    }
    here
}

fn load() -> String {
    fs::read_to_string("/proc/loadavg").unwrap_or_default().trim().to_owned()
}

fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

/// The sample below which `percent` of the samples lie.
fn percentile(samples: &mut [f64], percent: usize) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples[(samples.len() * percent / 100).min(samples.len() - 1)]
}

/// Measures the time from a key until part of the window shows it, while `cat` runs in a terminal.
fn keys() -> Result<()> {
    println!("key to pixel, {KEYS} keys, ms: median, p99; load {}", load());
    println!(
        "(from XTest's key press until GetImage returns other pixels of the place that the key changes;"
    );
    println!(
        "Xvfb, no window manager, cat inside; in turns of {TURN} keys, {STILL:?} without a change between keys)"
    );
    let terminals = installed(&[&BARE, &XTERM, &ALACRITTY, &UNTERM_CPU, &UNTERM_GPU]);
    let display = Display::sized(3 * 1280, 2 * 1024)?;
    let mut typists = Vec::new();
    for (index, terminal) in terminals.iter().enumerate() {
        let mut peer = terminal.spawn(&display, &["cat"])?;
        let window = peer.window()?;
        window.place((index % 3 * 1280) as i32, (index / 3 * 1024) as i32)?;
        let typist =
            Typist::start(window).with_context(|| format!("{}: {}", terminal.name, peer.log()))?;
        typists.push((terminal.name, peer, typist, Vec::new()));
    }
    for _ in 0..KEYS / TURN {
        for (_, _, typist, samples) in &mut typists {
            typist.turn(samples)?;
        }
    }
    let mut medians = HashMap::new();
    for (name, _, _, samples) in &mut typists {
        let middle = median(samples);
        println!("{name:>30}: {middle:6.3}  {:6.3}", percentile(samples, 99));
        medians.insert(*name, middle);
    }
    for (of, to) in [(&UNTERM_CPU, &XTERM), (&UNTERM_GPU, &ALACRITTY)] {
        if let (Some(of_median), Some(to_median)) = (medians.get(of.name), medians.get(to.name)) {
            println!("{:>30}: {:6.2}", format!("{} / {}", of.name, to.name), of_median / to_median);
        }
    }
    Ok(())
}

/// A simulated user who types a letter, deletes it again, and watches the place where it appears.
struct Typist<'a> {
    window: Window<'a>,
    part: WindowPart,
    is_typed: bool,
}

const LETTER: &str = "x";

impl<'a> Typist<'a> {
    /// Types the first letter and finds where it appears.
    fn start(window: Window<'a>) -> Result<Self> {
        window.focus()?;
        still(|| window.picture())?;
        // A starting program may swallow the first keys, and show them late or twice.
        for _ in 0..2 {
            for key in [LETTER, "BackSpace"] {
                window.press(key)?;
                window.release(key)?;
            }
            still(|| window.picture())?;
        }
        let before = still(|| window.picture())?;
        window.press(LETTER)?;
        window.release(LETTER)?;
        let after = still(|| window.picture())?;
        let part = changed(&before, &after).context("the key changed nothing")?;
        Ok(Self { window, part, is_typed: true })
    }

    fn turn(&mut self, samples: &mut Vec<f64>) -> Result<()> {
        let Self { window, part, is_typed } = self;
        window.focus()?;
        let mut shown = still(|| window.part(*part))?;
        for _ in 0..TURN {
            let key = if *is_typed { "BackSpace" } else { LETTER };
            let start = Instant::now();
            window.press(key)?;
            while window.part(*part)? == shown {
                ensure!(start.elapsed() < Duration::from_secs(10), "a key was not shown");
            }
            samples.push(milliseconds(start.elapsed()));
            window.release(key)?;
            *is_typed = !*is_typed;
            shown = still(|| window.part(*part))?;
        }
        Ok(())
    }
}

/// Repeats `look` until the result stays the same.
fn still<T: PartialEq>(look: impl Fn() -> Result<T>) -> Result<T> {
    let mut seen = look()?;
    let mut since = Instant::now();
    while since.elapsed() < STILL {
        std::thread::sleep(Duration::from_millis(2));
        let now = look()?;
        if now != seen {
            (seen, since) = (now, Instant::now());
        }
    }
    Ok(seen)
}

/// The smallest part that contains all pixels in which two pictures of a window differ.
fn changed(before: &Picture, after: &Picture) -> Option<WindowPart> {
    let pixels = before.pixels.iter().zip(&after.pixels).enumerate();
    let differing = pixels.filter(|(_, (before, after))| before != after);
    let mut edges: Option<(usize, usize, usize, usize)> = None;
    for (index, _) in differing {
        let (x, y) = (index % before.width, index / before.width);
        let (left, top, right, bottom) = edges.unwrap_or((x, y, x, y));
        edges = Some((left.min(x), top.min(y), right.max(x), bottom.max(y)));
    }
    edges.map(|(left, top, right, bottom)| WindowPart {
        x: left as i16,
        y: top as i16,
        width: (right - left + 1) as u16,
        height: (bottom - top + 1) as u16,
    })
}

/// Runs vtebench in the window.
fn floods() -> Result<()> {
    let Some(vtebench) = Vtebench::from_environment()? else {
        println!("VTEBENCH names no checkout of alacritty/vtebench: no flood is measured");
        return Ok(());
    };
    if installed(&[&ALACRITTY]).is_empty() {
        return Ok(());
    }
    println!(
        "vtebench in a window, ms a sample of 4 MiB: alacritty, unterm, ratio (medians of {FLOODS}); load {}",
        load()
    );
    let display = Display::sized(1280, 1024)?;
    let mut ratios = Vec::new();
    for name in vtebench.names(&[]) {
        let (mut alacritty, mut unterm) = (Vec::new(), Vec::new());
        for _ in 0..FLOODS {
            for (terminal, samples) in [(&ALACRITTY, &mut alacritty), (&UNTERM, &mut unterm)] {
                samples.push(vtebench.run(&name, |words, figures| {
                    let words: Vec<&str> = words.iter().map(String::as_str).collect();
                    let mut peer = terminal.spawn(&display, &words)?;
                    wait_for_figures(figures, || peer.log())?;
                    peer.wait_for_exit()
                })?);
            }
        }
        let (alacritty, unterm) = (median(&mut alacritty), median(&mut unterm));
        println!("{name:>30}: {alacritty:6.1}  {unterm:6.1}  {:.2}", unterm / alacritty);
        ratios.push(unterm / alacritty);
    }
    println!("{:>30}: {:.2}; load {}", "geometric mean", geometric_mean(&ratios), load());
    Ok(())
}

/// Measures the time from the start of the process until its window is visible, and until it shows text.
fn starts() -> Result<()> {
    println!("start, ms: window shown, text shown (medians of {STARTS}); load {}", load());
    let terminals = installed(&[&BARE, &XTERM, &ALACRITTY, &UNTERM_CPU, &UNTERM_GPU]);
    let display = Display::sized(1280, 1024)?;
    let mut samples = vec![(Vec::new(), Vec::new()); terminals.len()];
    for _ in 0..STARTS {
        for (terminal, (shown, drawn)) in terminals.iter().zip(&mut samples) {
            let start = Instant::now();
            let mut peer = terminal
                .spawn(&display, &["sh", "-c", "printf '\\n\\nMMMMMMMM'; exec sleep 1000"])?;
            let window = peer.window()?;
            shown.push(milliseconds(start.elapsed()));
            // Text has more than one color; antialiased text more than two.
            let corner = WindowPart { x: 0, y: 0, width: 200, height: 80 };
            let is_drawn = |bytes: &[u8]| {
                bytes.chunks_exact(4).filter(|pixel| pixel[..3] != bytes[..3]).count() > 50
            };
            while !is_drawn(&window.part(corner)?) {
                ensure!(
                    start.elapsed() < Duration::from_secs(30),
                    "{} shows nothing",
                    terminal.name
                );
            }
            drawn.push(milliseconds(start.elapsed()));
        }
    }
    for (terminal, (shown, drawn)) in terminals.iter().zip(&mut samples) {
        println!("{:>30}: {:6.1}  {:6.1}", terminal.name, median(shown), median(drawn));
    }
    Ok(())
}

/// Resident memory of a window with one shell, and of Unterm with many.
fn memory() -> Result<()> {
    println!("resident, MB (threads)");
    let display = Display::sized(1280, 1024)?;
    for terminal in installed(&[&XTERM, &ALACRITTY, &UNTERM_CPU, &UNTERM_GPU]) {
        let mut peer = terminal.spawn(&display, &["bash", "--norc"])?;
        let window = peer.window()?;
        still(|| window.picture())?;
        told(terminal.name, 1, &peer)?;
    }
    for painter in ["cpu", "gpu"] {
        let mut unterm = Start::windowed(&display).arg("--painter").arg(painter).now()?;
        let window = display.window_of(&unterm)?;
        for _ in 1..PANES {
            let pane = unterm.open(json!({}))?;
            pane.wait_for_prompt(&mut unterm)?;
        }
        still(|| window.picture())?;
        let used = unterm.resources()?;
        let name = format!("unterm, {painter}, {PANES} panes");
        println!("{name:>30}: {:6.1} ({})", used.resident_kb as f64 / 1e3, used.threads);
    }
    if let [alacritty] = installed(&[&ALACRITTY])[..] {
        let mut peer = alacritty.spawn(&display, &["bash", "--norc"])?;
        let window = peer.window()?;
        for _ in 1..PANES {
            peer.message(&["alacritty", "msg", "create-window", "-e", "bash", "--norc"])?;
        }
        peer.wait_for_windows(PANES)?;
        still(|| window.picture())?;
        told(alacritty.name, PANES, &peer)?;
    }
    Ok(())
}

fn told(name: &str, panes: usize, peer: &Peer<'_>) -> Result<()> {
    let used = peer.resources()?;
    let name = format!("{name}, {panes}");
    println!("{name:>30}: {:6.1} ({})", used.resident_kb as f64 / 1e3, used.threads);
    Ok(())
}

/// Processor time while nothing happens.
fn idle() -> Result<()> {
    println!("processor time of {} s at a prompt, ms", IDLE.as_secs());
    let display = Display::sized(3 * 1280, 2 * 1024)?;
    let mut peers = Vec::new();
    for terminal in installed(&[&XTERM, &ALACRITTY, &UNTERM_CPU, &UNTERM_GPU]) {
        let mut peer = terminal.spawn(&display, &["bash", "--norc"])?;
        let window = peer.window()?;
        still(|| window.picture())?;
        peers.push((terminal.name, peer));
    }
    let used = |peer: &Peer<'_>| peer.processor_time();
    let before: Vec<Duration> = peers.iter().map(|(_, peer)| used(peer)).collect::<Result<_>>()?;
    std::thread::sleep(IDLE);
    for ((name, peer), before) in peers.iter().zip(before) {
        println!("{name:>30}: {:6.0}", milliseconds(used(peer)? - before));
    }
    Ok(())
}
