//! Runs Unterm without a window. It starts with one pane and serves control clients. It runs until it is stopped or,
//! if a client started it for its own use, until the last client disconnects.

use std::{
    fs::OpenOptions,
    io::{self, Write as _},
    sync::{Arc, Weak, mpsc},
    thread::JoinHandle,
};

use anyhow::{Context, Result, bail};
use parking_lot::Mutex;
use unterm_control::{RegistryFault, held::Keeper, workspace::LAST};
use unterm_mux::{Mux, MuxEvent, Observer, OnExit, Pane, PaneId, PaneState};

use crate::{
    args::Args,
    config::{
        Change,
        wire::{HeadlessHost, Leaving},
    },
    environment,
    last_session::LastSession,
    layout_file::LayoutFile,
    proxy,
    sessions::Sessions,
    signals,
    startup::Startup,
    succession::{self, Restart},
};

/// Runs until a signal arrives or the last client disconnects. Returns the program that replaces this one, if a caller has
/// asked for it.
pub(crate) fn run(args: &Args) -> Result<Option<Restart>> {
    let (stop, stopped) = mpsc::channel();
    let (last_goes, stop_leaving, stop_empty) = (stop.clone(), stop.clone(), stop.clone());
    signals::on_stop(move |signal| {
        let _ = stop.send(format!("signal {signal}"));
    })?;
    let predecessor = succession::predecessor(args, &unterm_control::home())?;
    let startup = Startup::new(args, false, apply, |mux, path| {
        if path.file_name().is_some_and(|name| name == proxy::FILE)
            && let Some(mux) = mux.upgrade()
        {
            unterm_control::apply_proxy(&mux, &unterm_control::home());
        }
    });
    for complaint in &startup.complaints {
        tracing::error!("{complaint}; using the default of each invalid setting");
    }
    if let Some(complaint) = &startup.shell_complaint {
        tracing::error!("{complaint}");
    }
    let (mux, home) = (Arc::clone(&startup.mux), startup.settings.home().to_owned());
    let (settings, changes) = (Arc::clone(&startup.settings), Arc::clone(&startup.changes));
    let sessions = Arc::clone(&startup.sessions);
    let restart = Arc::default();
    let leave = leaving(args, &sessions, &mux, stop_leaving, &restart);
    let host = Arc::new(HeadlessHost { settings, changes, leave, sessions, args: args.clone() });
    let server = startup.serve(args, host, predecessor.as_ref())?;
    match server.registry_fault() {
        // With `--with-stdin`, the client that started this instance finds it through the registry. So without an
        // entry in the registry, the instance would be useless.
        Some(fault @ RegistryFault::NotEntered(_)) if args.with_stdin => bail!("{fault}"),
        Some(fault) => tracing::error!("{fault}"),
        None => {}
    }
    let keeper = args.with_stdin.then(|| Keeper::new(&home, server.address().port())).transpose();
    let keeper = keeper.context("cannot be held by clients")?;
    // With this variable, shells report environment variables that clients set while the shell shows a prompt. In a
    // headless instance, only clients type.
    mux.set_env("UNTERM_DRIVEN", "1");
    // If the user gave a program, its pane stays open after the program has ended. Otherwise its output would be lost,
    // because no user was watching.
    let on_exit = if args.execute.is_empty() { OnExit::Close } else { OnExit::Hold };
    if args.waits_for_window() {
        mux.observe(Arc::new(StopWhenEmpty(stop_empty)));
    }
    let inherited = predecessor.map(|it| startup.sessions.inherit(&mux, &it));
    // If another process has taken the programs in the meantime, they are not lost.
    let attached = match &args.attach {
        Some(instance)
            if inherited.as_ref().is_none_or(|it| it.panes == 0 || instance.is_empty()) =>
        {
            Some(startup.sessions.attach(&mux, instance))
        }
        _ => inherited,
    };
    if let Some(attached) = attached {
        if attached.panes == 0 && mux.layout().tabs.is_empty() {
            bail!("{}", attached.faults.join("\n"));
        }
        for fault in attached.faults {
            tracing::warn!("{fault}");
        }
    }
    if let Some(name) = &args.layout {
        let layout = match name.as_str() {
            LAST => LastSession::read(&home).unwrap_or_default().layout,
            name => LayoutFile::read(&home, name)?,
        };
        for fault in layout.open(&mux) {
            tracing::warn!("{fault}");
        }
    }
    if mux.layout().tabs.is_empty() {
        mux.open_tab(args.first_spawn(&startup.settings.get()), None, on_exit)?;
    }
    startup.open();
    // Keep this until the end, so that new clients can detect that this instance is ending.
    let _kept = match keeper {
        Some(keeper) => {
            writeln!(io::stdout(), "{}", server.instance_id())
                .context("cannot tell who started this")?;
            Some(keep(keeper, last_goes)?)
        }
        None => None,
    };
    let reason = stopped.recv().context("the thread that waits for signals ended")?;
    tracing::info!("stopping on {reason}");
    server.stop();
    mux.shutdown();
    let next = restart.lock().take();
    Ok(next)
}

/// Ends an instance that waits for a window, when its last program has ended.
struct StopWhenEmpty(mpsc::Sender<String>);

impl Observer for StopWhenEmpty {
    fn output(&self, _: PaneId) {}

    fn event(&self, event: MuxEvent) {
        if event == MuxEvent::Empty {
            let _ = self.0.send("the end of the last program".to_owned());
        }
    }
}

/// Applies changed preferences, or logs the errors in the file.
fn apply(mux: &Weak<Mux>, change: Change) {
    match (change, mux.upgrade()) {
        (Ok(config), Some(mux)) => {
            let home = unterm_control::home();
            let palette = environment::palette(&config, &home, None);
            if let Some(complaint) = environment::apply(&mux, &config, &home, &palette) {
                tracing::error!("{complaint}");
            }
            tracing::info!("the configuration is applied");
        }
        (Err(complaints), _) => {
            for complaint in complaints {
                tracing::error!("{complaint}; keeping the last valid configuration");
            }
        }
        (Ok(_), None) => {}
    }
}

/// The program that replaces this one once the instance has ended.
type NextProgram = Arc<Mutex<Option<Restart>>>;

/// A function that lets programs continue without this instance, and then ends the instance.
fn leaving(
    args: &Args,
    sessions: &Arc<Sessions>,
    mux: &Arc<Mux>,
    stop: mpsc::Sender<String>,
    next: &NextProgram,
) -> Box<dyn Fn(Leaving) -> Result<bool, String> + Send + Sync> {
    let (args, sessions) = (args.clone(), Arc::clone(sessions));
    let (mux, next) = (Arc::downgrade(mux), Arc::clone(next));
    Box::new(move |leaving| {
        let Some(mux) = mux.upgrade().filter(|mux| !mux.kept_panes().is_empty()) else {
            return Ok(false);
        };
        let (count, reason) = match leaving {
            Leaving::Detach => (mux.leave(), "a request to detach"),
            Leaving::Restart => {
                let is_running = |pane: &Arc<Pane>| pane.state() == PaneState::Running;
                let ends = mux.panes().into_iter().filter(is_running).count();
                let ends = ends.saturating_sub(mux.kept_panes().len());
                if ends > 0 {
                    return Err(format!("{ends} programs would end: no keeper is their parent"));
                }
                let restart = Restart::prepare(&args, &sessions);
                *next.lock() = Some(restart.map_err(|error| format!("{error:#}"))?);
                (mux.leave_to_successor(), "a request to restart")
            }
        };
        let _ = stop.send(format!("{reason}; {count} programs continue"));
        Ok(true)
    })
}

/// Waits until the client that started this process ends, and then until all other clients have disconnected.
fn keep(keeper: Keeper, last_goes: mpsc::Sender<String>) -> io::Result<JoinHandle<Keeper>> {
    std::thread::Builder::new().name("unterm-stdin".to_owned()).spawn(move || {
        // Whichever way the client ends, its end of the pipe is closed.
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
        if !keeper.is_last() {
            tracing::info!("staying for other clients");
            // The client may have read the log. After its end, writing to the closed pipe would fail, so discard the
            // log.
            if let Ok(nowhere) = OpenOptions::new().write(true).open("/dev/null") {
                let _ = rustix::stdio::dup2_stderr(nowhere);
            }
            // Informs the relay that started this process that it must not wait for the end of this process.
            let _ = writeln!(io::stdout(), "held");
            if let Err(error) = keeper.wait() {
                tracing::warn!(%error, "cannot wait for other clients");
            }
        }
        let _ = last_goes.send("the end of the last client".to_owned());
        keeper
    })
}
