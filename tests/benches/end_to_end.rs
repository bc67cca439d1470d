//! Sends 256 MiB of output through a headless pane of the real program, and compares it with a reader that discards the
//! same bytes.
//!
//! Both sides run the same script, which times itself. It starts before its `cat` and ends when the terminal has
//! answered a query (DSR 6) sent after the last byte, so that everything before it was parsed and not only read. The
//! discarding reader looks only for that query. Prints seconds and the ratio; asserts nothing.

#![allow(clippy::print_stdout, reason = "a bench prints its figures")]

use std::{fs, path::Path};

use anyhow::Result;
use serde_json::json;
use unterm_tests::{Start, run_and_throw_away, wait_for};

const BYTES: usize = 256 << 20;
const ROUNDS: usize = 5;

/// The script in the pane. Its arguments are the file to show, and the file to which it writes the elapsed time.
const SCRIPT: &str = r#"
stty raw -echo </dev/tty
start=$EPOCHREALTIME
cat "$1"
printf '\033[6n'
IFS= read -r -d R answer </dev/tty
end=$EPOCHREALTIME
echo "$(( ${end/./} - ${start/./} ))" >"$2.new"
mv "$2.new" "$2"
"#;

fn main() -> Result<()> {
    // `cargo test --benches` only checks that the bench runs.
    let is_bench = std::env::args().any(|argument| argument == "--bench");
    let (bytes, rounds) = if is_bench { (BYTES, ROUNDS) } else { (1 << 20, 1) };
    let folder = tempfile::tempdir()?;
    println!(
        "{} MiB, 120×30, seconds: thrown away, unterm, ratio (medians of {rounds})",
        bytes >> 20
    );
    for (name, unit) in [
        (
            "ASCII lines",
            "The quick brown fox jumps over the lazy dog and runs on to column eighty, or so\n",
        ),
        (
            "coloured lines",
            "\x1b[1;32muser\x1b[0m:\x1b[34m~/src\x1b[0m$ \x1b[38;2;250;120;10mwarning\x1b[0m: unused\n",
        ),
        (
            "mixed Unicode",
            "Grüße aus Köln — 漢字とかな, ελληνικά, русский, 한국어 and 🎉 a few more\n",
        ),
    ] {
        let text = folder.path().join("text");
        fs::write(&text, unit.repeat(bytes / unit.len()))?;
        let (mut floor, mut unterm) = (Vec::new(), Vec::new());
        // Alternate, so that a busy moment of the machine affects both.
        for _ in 0..rounds {
            floor.push(thrown_away(&text, folder.path())?);
            unterm.push(in_a_pane(&text, folder.path())?);
        }
        let (floor, unterm) = (median(&mut floor), median(&mut unterm));
        println!("{name:>16}: {floor:.3}  {unterm:.3}  {:.2}", unterm / floor);
    }
    Ok(())
}

fn median(samples: &mut [f64]) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples[samples.len() / 2]
}

fn read_seconds(result: &Path) -> Result<f64> {
    let micros: f64 = fs::read_to_string(result)?.trim().parse()?;
    fs::remove_file(result)?;
    Ok(micros / 1e6)
}

fn thrown_away(text: &Path, folder: &Path) -> Result<f64> {
    let result = folder.join("floor");
    let (shown, written) = (text.to_string_lossy(), result.to_string_lossy());
    run_and_throw_away(120, 30, &["bash", "-c", SCRIPT, "bash", &shown, &written])?;
    read_seconds(&result)
}

fn in_a_pane(text: &Path, folder: &Path) -> Result<f64> {
    let result = folder.join("unterm");
    let mut unterm = Start::headless().now()?;
    let args = ["-c", SCRIPT, "bash", &text.to_string_lossy(), &result.to_string_lossy()];
    unterm.open(json!({"program": "bash", "args": args, "cols": 120, "rows": 30}))?;
    wait_for("the end of the output", || Ok(result.exists().then_some(())), || unterm.log())?;
    read_seconds(&result)
}
