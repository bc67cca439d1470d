//! How responsive the program is: its startup, and a pane during a `cat` of 100 MB. Prints milliseconds beside a floor
//! measured in the same run; asserts nothing.

#![allow(clippy::print_stdout, reason = "a bench prints its figures")]

use std::{
    fs,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::Result;
use serde_json::json;
use unterm_tests::{Display, Instance, PROMPT, Pane, Start, wait_for};

fn main() -> Result<()> {
    // `cargo test --benches` only checks that the bench runs.
    let is_bench = std::env::args().any(|argument| argument == "--bench");
    let rounds = if is_bench { 15 } else { 1 };
    start_up(rounds)?;
    flood(rounds)
}

fn print(name: &str, samples: &mut [Duration]) {
    samples.sort();
    let milliseconds = |duration: &Duration| duration.as_secs_f64() * 1e3;
    println!(
        "{name:<52} median {:>7.2} ms, worst {:>7.2} ms of {}",
        milliseconds(&samples[samples.len() / 2]),
        milliseconds(samples.last().unwrap_or(&Duration::ZERO)),
        samples.len()
    );
}

fn start_up(rounds: usize) -> Result<()> {
    let mut floor = Vec::new();
    let mut headless = Vec::new();
    let mut windowed = Vec::new();
    let mut resident = Vec::new();
    let display = Display::start()?;
    for _ in 0..rounds {
        let start = Instant::now();
        Command::new("true").stdin(Stdio::null()).status()?;
        floor.push(start.elapsed());

        let start = Instant::now();
        let mut unterm = Start::headless().now()?;
        headless.push(start.elapsed());
        unterm.first_pane()?.wait_for_prompt(&mut unterm)?;
        resident.push(unterm.resources()?);
        drop(unterm);

        let start = Instant::now();
        let unterm = Start::windowed(&display).now()?;
        display.window_of(&unterm)?;
        windowed.push(start.elapsed());
    }
    print("start of `true` (the floor)", &mut floor);
    print("start until it answers on the control port, headless", &mut headless);
    print("start until its window is shown", &mut windowed);
    if let Some(last) = resident.last() {
        println!(
            "one idle pane, headless: {:.1} MB resident, {} threads",
            last.resident_kb as f64 / 1e3,
            last.threads
        );
    }
    Ok(())
}

fn flood(rounds: usize) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let text = folder.path().join("text");
    let line = "a line of a file that is a hundred megabytes long, shown by cat\n";
    fs::write(&text, line.repeat(100_000_000 / line.len()))?;
    let text = text.to_string_lossy().into_owned();
    let display = Display::start()?;
    for (name, start) in
        [("headless", Start::headless()), ("in a window", Start::windowed(&display))]
    {
        let mut unterm = start.now()?;
        let (mut idle, mut prompt, mut typed) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..rounds {
            idle.push(until_prompt(&mut unterm, "sleep 100\r")?);
            prompt.push(until_prompt(&mut unterm, &format!("cat {text}\r"))?);
            typed.push(typed_in_another(&mut unterm, &text)?);
        }
        print(&format!("{name}: Ctrl+C to prompt, idle (the floor)"), &mut idle);
        print(&format!("{name}: Ctrl+C to prompt, during a 100 MB cat"), &mut prompt);
        print(&format!("{name}: a key to its echo, another pane in a cat"), &mut typed);
    }
    Ok(())
}

/// Runs a command that prints for a long time, or prints nothing, then measures the time from Ctrl+C until a prompt is
/// on the screen.
fn until_prompt(unterm: &mut Instance, command: &str) -> Result<Duration> {
    let pane = unterm.first_pane()?;
    clear(unterm, pane)?;
    pane.type_text(unterm, command)?;
    if command.starts_with("cat") {
        pane.wait(unterm, "the flood", |lines| lines[0].starts_with("a line of a file"))?;
    } else {
        // The command's echo appears a little before the program starts.
        let runs = || {
            let status = unterm.call("exec.status", json!({"id": pane.id}))?;
            let process = status["foreground_process"].as_str().unwrap_or_default();
            Ok(process.ends_with("sleep").then_some(()))
        };
        wait_for("the running command", runs, String::new)?;
    }
    let start = Instant::now();
    pane.type_text(unterm, "\u{3}")?;
    pane.wait_for_prompt(unterm)?;
    Ok(start.elapsed())
}

/// Waits for a prompt and clears the screen.
fn clear(unterm: &mut Instance, pane: Pane) -> Result<()> {
    pane.wait_for_prompt(unterm)?;
    pane.type_text(unterm, "clear\r")?;
    pane.wait(unterm, "a clear screen", |lines| {
        lines[0] == PROMPT.trim_end() && lines[1].is_empty()
    })?;
    Ok(())
}

/// While the first pane shows the file, measures the time from a key in a second pane until its echo can be read.
fn typed_in_another(unterm: &mut Instance, text: &str) -> Result<Duration> {
    let first = unterm.first_pane()?;
    let second = unterm.open(json!({"cols": 80, "rows": 24}))?;
    second.wait_for_prompt(unterm)?;
    // The rest of the previous flood must not count as part of this flood.
    clear(unterm, first)?;
    first.type_text(unterm, &format!("cat {text}\r"))?;
    first.wait(unterm, "the flood", |lines| lines[0].starts_with("a line of a file"))?;
    let start = Instant::now();
    second.type_text(unterm, "x")?;
    second.wait(unterm, "the echo", |lines| lines[0].ends_with('x'))?;
    let elapsed = start.elapsed();
    first.type_text(unterm, "\u{3}")?;
    second.close(unterm)?;
    Ok(elapsed)
}
