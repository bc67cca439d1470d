//! End to end: a program's output through a pane, against a reader of the same pty that throws the bytes away.
//!
//! `cargo bench -p unterm-mux [-- MEBIBYTES [ROUNDS]]`. The two are run by turns, so that a slow moment of the machine
//! hits both, and compared by their medians. The aim is a ratio of at most 1.25.
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

/// Takes this many bytes from the program that writes them, and says how long it took.
type Run = fn(usize) -> Result<Duration>;

/// Tells this program to be the one that writes, and how much.
const PRODUCE: &str = "--produce";

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if args.first().is_some_and(|arg| arg == PRODUCE) {
        return produce(args.get(1).ok_or("how much?")?.parse()?);
    }
    // `cargo test` runs benches too, to see that they work.
    let is_bench = args.iter().any(|arg| arg == "--bench");
    let mut numbers = args.iter().filter_map(|arg| arg.parse::<usize>().ok());
    let mebibytes = numbers.next().unwrap_or(if is_bench { 256 } else { 1 });
    let rounds = numbers.next().unwrap_or(if is_bench { 5 } else { 1 });

    let kinds: [(&str, Run); 4] = [
        ("thrown away", throw_away),
        ("read by a process", read_by_process),
        ("pane", |bytes| through_pane(bytes, false)),
        ("pane that is waited for", |bytes| through_pane(bytes, true)),
    ];
    let mut times = [const { Vec::new() }; 4];
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

/// Processor time of this process, without the program that writes; a machine's other work does not disturb it. Known on
/// Linux only.
fn own_cpu() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_ascii_whitespace();
    // utime and stime, in hundredths of a second.
    let ticks = fields.skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum::<u64>();
    Duration::from_millis(ticks * 10)
}

/// Writes lines of 79 characters.
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

/// The pane's way of reading, without a terminal behind it.
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

/// Hears of every change, as a window does, and says when the program has ended.
struct Ended(Mutex<Sender<()>>);

impl Observer for Ended {
    fn output(&self, _: PaneId) {}
    fn event(&self, event: MuxEvent) {
        if let MuxEvent::PaneExited(_) = event {
            let _ = self.0.lock().map(|ended| ended.send(()));
        }
    }
}

fn through_pane(bytes: usize, is_waited_for: bool) -> Result<Duration> {
    let mux = Mux::new(MuxOptions::default());
    let (sender, ended) = channel();
    mux.observe(Arc::new(Ended(Mutex::new(sender))));
    let start = Instant::now();
    let pane = mux.open_tab(producer(bytes)?, Some(Size::cells(120, 30)), OnExit::Hold)?;
    if is_waited_for {
        // As a wire does that waits for some text which does not come.
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
