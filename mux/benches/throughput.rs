//! Measures a program's output through a whole pane, compared with a reader of a pty that discards the bytes. A kept pane
//! writes the journal from which the next window rebuilds its terminal. It must not be slower than another pane.
//!
//! `cargo build --release -p unterm-keeper; cargo bench -p unterm-mux [-- MEBIBYTES [ROUNDS]]`. The cases run in turn, so
//! that a slow moment of the machine affects all of them. Their medians are compared. The goal is a ratio of at most 1.25.
#![allow(clippy::print_stdout, reason = "a bench reports on stdout")]

use std::{
    error::Error,
    io::{Read, Write},
    sync::{
        Arc, Mutex,
        mpsc::{Sender, channel},
    },
    time::{Duration, Instant},
};

use portable_pty::{CommandBuilder, PtySize, native_pty_system};
use unterm_mux::{
    Mux, MuxEvent, MuxOptions, Observer, OnExit, PaneId, PaneState, Process, PtyProcess,
    ReadOutcome, Spawn,
};
use unterm_term::Size;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Starts the program that writes this many bytes, reads them, and returns the time that this took.
type Run = fn(usize) -> Result<Duration>;

/// The option with which this program becomes the writing program. Its value is the number of bytes.
const PRODUCE: &str = "--produce";

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if args.first().is_some_and(|arg| arg == PRODUCE) {
        return produce(args.get(1).ok_or("how much?")?.parse()?);
    }
    // `cargo test` also runs benches, to check that they work. It does not pass `--bench`.
    let is_bench = args.iter().any(|arg| arg == "--bench");
    let mut numbers = args.iter().filter_map(|arg| arg.parse::<usize>().ok());
    let mebibytes = numbers.next().unwrap_or(if is_bench { 256 } else { 1 });
    let rounds = numbers.next().unwrap_or(if is_bench { 5 } else { 1 });

    let mut kinds: Vec<(&str, Run)> = vec![
        ("thrown away", throw_away),
        ("read by a process", read_by_process),
        ("pane", |bytes| through_pane(&Mux::new(MuxOptions::default()), bytes, false)),
        ("pane that is waited for", |bytes| {
            through_pane(&Mux::new(MuxOptions::default()), bytes, true)
        }),
    ];
    #[cfg(target_os = "linux")]
    if keeper()?.exists() {
        kinds.push(("kept pane", through_kept_pane));
    }
    let mut times = vec![Vec::new(); kinds.len()];
    for _ in 0..rounds {
        for ((_, run), times) in kinds.iter().zip(&mut times) {
            let before = own_cpu();
            let time = run(mebibytes << 20)?;
            times.push((time, own_cpu() - before));
        }
    }
    println!("{mebibytes} MiB of ASCII lines through a pty, {rounds} rounds:");
    println!("{:<24} {:>8} {:>8} {:>8} {:>8} {:>8}", "", "median", "", "best", "", "own CPU");
    for times in &mut times {
        times.sort();
    }
    let floor = (times[0][rounds / 2].0, times[0][0].0);
    for ((name, _), times) in kinds.iter().zip(&times) {
        let ((median, cpu), (best, _)) = (times[rounds / 2], times[0]);
        let ratio = |time: Duration, floor: Duration| time.as_secs_f64() / floor.as_secs_f64();
        println!(
            "{name:<24} {:6.2} s {:6.2} x {:6.2} s {:6.2} x {:6.2} s",
            median.as_secs_f64(),
            ratio(median, floor.0),
            best.as_secs_f64(),
            ratio(best, floor.1),
            cpu.as_secs_f64(),
        );
    }
    Ok(())
}

/// The processor time of this process, without that of the writing program. Other load on the machine does not change
/// it. Zero on systems other than Linux.
fn own_cpu() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_ascii_whitespace();
    // The fields utime and stime, in hundredths of a second.
    let ticks = fields.skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum::<u64>();
    Duration::from_millis(ticks * 10)
}

/// Writes `bytes` bytes in lines of 79 characters.
fn produce(bytes: usize) -> Result<()> {
    let line: String = (b' '..b'~').cycle().map(char::from).take(79).chain(['\n']).collect();
    let block = line.repeat(1024);
    let mut out = std::io::stdout().lock();
    let mut left = bytes;
    while left > 0 {
        let part = &block.as_bytes()[..left.min(block.len())];
        out.write_all(part)?;
        left -= part.len();
    }
    Ok(out.flush()?)
}

fn throw_away(bytes: usize) -> Result<Duration> {
    let pair =
        native_pty_system().openpty(PtySize { rows: 30, cols: 120, ..PtySize::default() })?;
    let mut command = CommandBuilder::new(std::env::current_exe()?);
    command.args([PRODUCE, &bytes.to_string()]);
    let mut reader = pair.master.try_clone_reader()?;
    let start = Instant::now();
    let mut child = pair.slave.spawn_command(command)?;
    drop(pair.slave);
    let mut buffer = vec![0; 64 * 1024];
    let mut read = 0;
    loop {
        match reader.read(&mut buffer)? {
            0 => break,
            count => read += count,
        }
    }
    child.wait()?;
    assert!(read > bytes);
    Ok(start.elapsed())
}

fn producer(bytes: usize) -> Result<Spawn> {
    Ok(Spawn {
        program: Some(std::env::current_exe()?.to_string_lossy().into_owned()),
        args: vec![PRODUCE.into(), bytes.to_string()],
        ..Spawn::default()
    })
}

/// Reads as a pane reads, but discards the bytes instead of passing them to a terminal.
fn read_by_process(bytes: usize) -> Result<Duration> {
    let start = Instant::now();
    let process = PtyProcess::spawn(&producer(bytes)?, Size::cells(120, 30))?;
    let mut buffer = vec![0; 64 * 1024];
    let mut read = 0;
    while let ReadOutcome::Bytes(count) = process.read(&mut buffer, None)? {
        read += count;
    }
    assert!(read > bytes);
    Ok(start.elapsed())
}

/// Receives every change, as a window does. Sends a message when the program has ended.
struct Ended(Mutex<Sender<()>>);

impl Observer for Ended {
    fn output(&self, _: PaneId) {}
    fn event(&self, event: MuxEvent) {
        if let MuxEvent::PaneExited(_) = event {
            let _ = self.0.lock().map(|ended| ended.send(()));
        }
    }
}

/// The program of the keeper. It exists if it was built with this profile.
#[cfg(target_os = "linux")]
fn keeper() -> Result<std::path::PathBuf> {
    let bench = std::env::current_exe()?;
    let folder = bench.ancestors().nth(2).ok_or("no folder")?;
    Ok(folder.join("unterm-keeper"))
}

/// Starts the program with a keeper.
#[cfg(target_os = "linux")]
fn through_kept_pane(bytes: usize) -> Result<Duration> {
    let folder = tempfile::tempdir()?;
    let spawner = unterm_mux::KeptSpawner::new(keeper()?, folder.path().join("keeper.sock"));
    let spawner = Arc::new(spawner);
    let mux = Mux::with_spawner(MuxOptions::default(), spawner.clone());
    let time = through_pane(&mux, bytes, false)?;
    spawner.take_fault().map_or(Ok(time), |fault| Err(fault.into()))
}

fn through_pane(mux: &Arc<Mux>, bytes: usize, is_waited_for: bool) -> Result<Duration> {
    let (sender, ended) = channel();
    mux.observe(Arc::new(Ended(Mutex::new(sender))));
    let start = Instant::now();
    let pane = mux.open_tab(producer(bytes)?, Some(Size::cells(120, 30)), OnExit::Hold)?;
    if is_waited_for {
        // Wakes up for every change, like a client that waits for a text that never appears.
        let runtime = tokio::runtime::Builder::new_current_thread().build()?;
        runtime.block_on(async {
            let mut seq = pane.watch();
            while pane.state() == PaneState::Running {
                seq.changed().await?;
            }
            Ok::<_, Box<dyn Error>>(())
        })?;
    } else {
        ended.recv()?;
    }
    let time = start.elapsed();
    assert!(pane.term().seq() > 0);
    mux.shutdown();
    Ok(time)
}
