//! Runs a fuzz body over generated input for a given time, and keeps its findings.
//!
//!     cargo run -p unterm-tests --bin fuzz -- --body engine --seconds 1800
//!
//! Options: `--body NAME` (default: all in turn), `--seconds N` of processor time for each body (default: 60),
//! `--inputs N` (default: as many as fit), `--seed N` (default: from the clock), `--save FOLDER` for findings, with a
//! subfolder per body (default: `tests/fuzz/regressions`), or names of files to play once each. A finding is minimized,
//! saved, and printed with its seed. The run then continues, and ends with status 1. An input that takes more than 20 s
//! of processor time, or too much memory, is saved before the run is aborted.

use std::{
    collections::BTreeMap,
    fs,
    panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use anyhow::{Context as _, Result, bail};
use unterm_tests::{
    Resources,
    fuzz::{BODIES, Body, Corpus, Random, minimize},
};

/// The maximum processor time for an input of at most 100 KiB, in any build profile.
const PATIENCE: Duration = Duration::from_secs(20);
/// The maximum memory, in KiB, that a terminal may use after an input of at most 100 KiB.
const MEMORY: u64 = 1 << 20;
/// The number of findings after which the run of one body ends.
const ENOUGH: usize = 20;

struct Settings {
    bodies: Vec<&'static Body>,
    time: Duration,
    inputs: u64,
    seed: u64,
    save: PathBuf,
    files: Vec<PathBuf>,
}

fn main() -> Result<()> {
    let settings = Settings::from_arguments()?;
    std::panic::set_hook(Box::new(remember));
    let running = Arc::new(Running::default());
    thread::spawn({
        let (running, save) = (running.clone(), settings.save.clone());
        move || running.watch(&save)
    });
    let mut findings = 0;
    for body in &settings.bodies {
        findings += if settings.files.is_empty() {
            run(body, &settings, &running)?
        } else {
            replay(body, &settings.files)?
        };
    }
    std::process::exit(i32::from(findings > 0));
}

impl Settings {
    fn from_arguments() -> Result<Self> {
        let clock = SystemTime::now().duration_since(UNIX_EPOCH)?.as_nanos() as u64;
        let mut settings = Self {
            bodies: BODIES.iter().collect(),
            time: Duration::from_secs(60),
            inputs: u64::MAX,
            seed: clock,
            save: Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/regressions"),
            files: Vec::new(),
        };
        let mut arguments = std::env::args().skip(1);
        while let Some(option) = arguments.next() {
            let mut value = || arguments.next().with_context(|| format!("{option} wants a value"));
            match option.as_str() {
                "--body" => {
                    let name = value()?;
                    let names: Vec<_> = BODIES.iter().map(|body| body.name).collect();
                    let body = Body::named(&name);
                    settings.bodies = vec![
                        body.with_context(|| format!("no body {name:?}; there are {names:?}"))?,
                    ];
                }
                "--seconds" => settings.time = Duration::from_secs(value()?.parse()?),
                "--inputs" => settings.inputs = value()?.parse()?,
                "--seed" => settings.seed = value()?.parse()?,
                "--save" => settings.save = value()?.into(),
                _ if option.starts_with("--") => bail!("no option {option}"),
                _ => settings.files.push(option.into()),
            }
        }
        Ok(settings)
    }
}

/// The input that is being played, for the watchdog thread.
#[derive(Default)]
struct Running(Mutex<Option<(Duration, &'static str, Vec<u8>)>>);

impl Running {
    fn set(&self, now: Option<(Duration, &'static str, Vec<u8>)>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = now;
    }

    /// Saves the input and ends the process if an input takes too much time or memory.
    fn watch(&self, save: &Path) {
        loop {
            thread::sleep(Duration::from_millis(200));
            let now = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let Some((since, body, input)) = &*now else { continue };
            let memory = Resources::of(std::process::id()).map_or(0, |used| used.resident_kb);
            let what = if busy() > *since + PATIENCE {
                "takes too long"
            } else if memory > MEMORY {
                "takes too much memory"
            } else {
                continue;
            };
            let path = keep(save, body, input);
            eprintln!("{body}: {what} ({memory} KiB resident): {path:?}");
            std::process::exit(2);
        }
    }
}

/// The processor time of this process, including its ended threads. Elapsed time would report a busy machine as a
/// finding.
fn busy() -> Duration {
    let text = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // After the program's name, which ends with `)`, the fields 14 and 15 are utime and stime, in units of 10 ms
    // (proc_pid_stat(5)).
    let fields = text.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: u64 = fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
    Duration::from_millis(ticks * 10)
}

/// Message and location of the last panic.
static LAST_PANIC: Mutex<(String, String)> = Mutex::new((String::new(), String::new()));

fn remember(info: &PanicHookInfo<'_>) {
    let place = info.location().map(|place| format!("{}:{}", place.file(), place.line()));
    let last = (place.unwrap_or_default(), info.to_string());
    *LAST_PANIC.lock().unwrap_or_else(PoisonError::into_inner) = last;
}

/// Plays an input. If it fails, returns the location and the message of the panic.
fn fails(body: &Body, input: &[u8]) -> Option<(String, String)> {
    catch_unwind(AssertUnwindSafe(|| body.run(input))).err()?;
    Some(LAST_PANIC.lock().unwrap_or_else(PoisonError::into_inner).clone())
}

fn run(body: &'static Body, settings: &Settings, running: &Running) -> Result<usize> {
    let mut corpus = Corpus::new(body)?;
    let mut found: BTreeMap<String, u64> = BTreeMap::new();
    let (start, mut count) = (busy(), 0);
    while busy() - start < settings.time && count < settings.inputs && found.len() < ENOUGH {
        let mut random = Random::new(settings.seed.wrapping_add(count));
        let input = corpus.next(&mut random);
        count += 1;
        running.set(Some((busy(), body.name, input.clone())));
        let failure = fails(body, &input);
        running.set(None);
        let Some((place, message)) = failure else { continue };
        // Store one finding per code location, because further findings at the same location mostly have the same
        // cause.
        let again = found.entry(place.clone()).or_default();
        *again += 1;
        if *again > 1 {
            continue;
        }
        let small =
            minimize(&input, |input| fails(body, input).is_some_and(|(other, _)| other == place));
        let path = keep(&settings.save, body.name, &small);
        eprintln!("{}: input {count} of seed {}: {message}", body.name, settings.seed);
        eprintln!("  {:?}\n  saved as {}", String::from_utf8_lossy(&small), path.display());
    }
    let memory = Resources::of(std::process::id())?.resident_kb >> 10;
    eprintln!(
        "{}: {count} inputs in {} s of the processor, seed {}, {memory} MiB resident, {} findings {found:?}",
        body.name,
        (busy() - start).as_secs(),
        settings.seed,
        found.len(),
    );
    Ok(found.len())
}

fn replay(body: &Body, files: &[PathBuf]) -> Result<usize> {
    let mut findings = 0;
    for file in files {
        let input = fs::read(file).with_context(|| file.display().to_string())?;
        let failure = fails(body, &input);
        findings += usize::from(failure.is_some());
        let message = failure.map_or_else(|| "passes".to_owned(), |(_, message)| message);
        eprintln!("{} {}: {message}", body.name, file.display());
    }
    Ok(findings)
}

/// Saves an input under a name derived from its contents.
fn keep(save: &Path, body: &str, input: &[u8]) -> PathBuf {
    let hash = input.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let path = save.join(body).join(format!("{hash:016x}"));
    let saved = fs::create_dir_all(save.join(body)).and_then(|()| fs::write(&path, input));
    if let Err(error) = saved {
        eprintln!("{} cannot be written: {error}", path.display());
    }
    path
}
