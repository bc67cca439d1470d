//! The thread of an instance. It owns the Luau state, and a caller can abandon it.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel},
    },
    thread,
};

use parking_lot::Mutex;
use serde_json::Value;

use crate::{
    error::{CallError, LimitKind},
    limits::Limits,
    manifest::Manifest,
    sandbox::{FILE, Sandbox, describe},
};

/// The stack size of a thread. Luau nests at most 200 C calls, which need about 1 MiB in a debug build.
const STACK: usize = 8 << 20;

/// The manifest and the source of a plugin.
pub(crate) struct Program {
    pub(crate) manifest: Manifest,
    pub(crate) source: String,
}

/// The threads of a registry's instances.
pub(crate) struct Threads {
    limits: Limits,
    count: Mutex<Count>,
}

#[derive(Default)]
struct Count {
    /// The number of threads that serve an instance.
    serving: usize,
    /// The number of threads that were abandoned and have not ended.
    abandoned: usize,
}

impl Threads {
    pub(crate) fn new(limits: Limits) -> Arc<Self> {
        Arc::new(Self { limits, count: Mutex::default() })
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }
}

/// A job for the thread.
pub(crate) enum Job {
    /// Run the plugin's file.
    Load,
    /// List the exported functions.
    Exports,
    /// Call an exported function.
    Call {
        /// The name of the function.
        function: String,
        /// The argument of the function.
        argument: Value,
    },
}

impl Job {
    fn function(&self) -> &str {
        match self {
            Self::Load | Self::Exports => FILE,
            Self::Call { function, .. } => function,
        }
    }
}

type Reply = Result<Value, CallError>;

/// A worker's report about a job.
enum Report {
    /// The plugin's file has been run, and the job begins now.
    Loaded,
    /// The job is done.
    Done(Reply),
}

struct Request {
    job: Job,
    reports: SyncSender<Report>,
}

/// A thread that serves one instance. It ends when this is dropped.
pub(crate) struct Worker {
    requests: SyncSender<Request>,
    place: Arc<ThreadEntry>,
}

/// The entry of a thread in the numbers of [`Threads`].
struct ThreadEntry {
    threads: Arc<Threads>,
    state: Mutex<State>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Serving,
    Abandoned,
    Ended,
}

impl ThreadEntry {
    /// Adds a serving thread to the numbers, if a limit allows it.
    fn take(threads: &Arc<Threads>) -> Result<Arc<Self>, CallError> {
        let limits = &threads.limits;
        let mut count = threads.count.lock();
        if count.abandoned >= limits.abandoned {
            return Err(CallError::Busy(format!(
                "{} plugin calls that exceeded their time limit still run; try again after they end",
                count.abandoned
            )));
        }
        if count.serving >= limits.instances {
            return Err(CallError::Busy(format!(
                "{} instances of plugins run, and no more are allowed; close an adapter first",
                count.serving
            )));
        }
        count.serving += 1;
        Ok(Arc::new(Self { threads: threads.clone(), state: Mutex::new(State::Serving) }))
    }

    fn change(&self, to: State) {
        let mut state = self.state.lock();
        let mut count = self.threads.count.lock();
        match (*state, to) {
            (State::Serving, State::Abandoned) => {
                count.serving -= 1;
                count.abandoned += 1;
            }
            (State::Serving, State::Ended) => count.serving -= 1,
            (State::Abandoned, State::Ended) => count.abandoned -= 1,
            _ => return,
        }
        *state = to;
    }
}

/// Updates the numbers when the thread ends, also after a panic.
struct Leave(Arc<ThreadEntry>);

impl Drop for Leave {
    fn drop(&mut self) {
        self.0.change(State::Ended);
    }
}

impl Worker {
    pub(crate) fn start(threads: &Arc<Threads>, program: Arc<Program>) -> Result<Self, CallError> {
        let place = ThreadEntry::take(threads)?;
        let (requests, received) = sync_channel::<Request>(1);
        let leave = Leave(place.clone());
        let limits = threads.limits.clone();
        let serve = move || {
            let _leave = leave;
            serve(&program, &limits, &received);
        };
        thread::Builder::new().name("plugin".into()).stack_size(STACK).spawn(serve).map_err(
            |error| CallError::Busy(format!("can't start a thread for the plugin: {error}")),
        )?;
        Ok(Self { requests, place })
    }

    /// Sends `job` to the thread. Returns the reply, and whether the worker can be used again.
    pub(crate) fn ask(&self, job: Job) -> (Reply, bool) {
        let limits = &self.place.threads.limits;
        let function = job.function().to_owned();
        let (sender, reports) = sync_channel(2);
        let ended = |function| (Err(CallError::Ended { function }), false);
        if self.requests.send(Request { job, reports: sender }).is_err() {
            return ended(function);
        }
        loop {
            match reports.recv_timeout(limits.time + limits.grace) {
                // The run of the file and the call may each use the full time.
                Ok(Report::Loaded) => {}
                Ok(Report::Done(reply)) => return (reply, true),
                Err(RecvTimeoutError::Disconnected) => return ended(function),
                Err(RecvTimeoutError::Timeout) => {
                    self.place.change(State::Abandoned);
                    let kind = LimitKind::Time;
                    let limit = describe(limits, kind);
                    return (Err(CallError::Limit { function, kind, limit }), false);
                }
            }
        }
    }
}

fn serve(program: &Program, limits: &Limits, requests: &Receiver<Request>) {
    let mut sandbox = None;
    while let Ok(Request { job, reports }) = requests.recv() {
        let loaded = || drop(reports.send(Report::Loaded));
        let work = || work(program, limits, &mut sandbox, &job, loaded);
        let done = catch_unwind(AssertUnwindSafe(work));
        let Ok(done) = done else {
            tracing::error!(
                plugin = program.manifest.name,
                "the engine of a plugin panicked in {}",
                job.function()
            );
            return;
        };
        // After a call that exceeded a limit, the variables of the Luau state may be inconsistent, and its memory may
        // be full.
        if matches!(done, Err(CallError::Limit { .. })) {
            sandbox = None;
        }
        if reports.send(Report::Done(done)).is_err() {
            return;
        }
    }
}

fn work(
    program: &Program,
    limits: &Limits,
    sandbox: &mut Option<Sandbox>,
    job: &Job,
    loaded: impl FnOnce(),
) -> Reply {
    let sandbox = match sandbox {
        Some(sandbox) => sandbox,
        None => {
            let new = Sandbox::load(&program.manifest, &program.source, limits)?;
            loaded();
            sandbox.insert(new)
        }
    };
    match job {
        Job::Load => Ok(Value::Null),
        Job::Exports => {
            sandbox.exports().map(|names| names.into_iter().map(Value::String).collect())
        }
        Job::Call { function, argument } => sandbox.call(function, argument),
    }
}
