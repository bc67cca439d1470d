//! Runs Unterm without a window. It starts with one pane and serves control clients. It runs until it is stopped or,
//! if a client started it for its own use, until the last client disconnects.

use std::{
    fs::OpenOptions,
    io::{self, Write as _},
    sync::{Arc, Weak, mpsc},
    thread::JoinHandle,
    time::Duration,
};

use anyhow::{Context, Result, bail};
use unterm_control::{RegistryFault, held::Keeper, workspace::LAST};
use unterm_mux::{Mux, Observer, OnExit};

use crate::{
    args::Args,
    config::{Change, wire::HeadlessHost},
    ending::{Ending, Stop},
    environment,
    last_session::LastSession,
    layout_file::LayoutFile,
    proxy, signals,
    startup::Startup,
    succession::{Restart, Succession},
};

/// Runs until a signal arrives or the last client disconnects. Returns the program that replaces this one, if a caller has
/// asked for it.
pub(crate) fn run(args: &Args) -> Result<Option<Restart>> {
    let (stop, stopped) = mpsc::channel();
    let (last_goes, stop_leaving) = (stop.clone(), stop.clone());
    signals::on_stop(move |signal| {
        let _ = stop.send(Stop { reason: format!("signal {signal}"), ends_programs: true });
    })?;
    let Succession { predecessor, faults, lock } = Succession::find(args, &unterm_control::home())?;
    let startup = Startup::new(args, false, predecessor.is_some(), apply, |mux, path| {
        if path.file_name().is_some_and(|name| name == proxy::FILE)
            && let Some(mux) = mux.upgrade()
        {
            unterm_control::apply_proxy(&mux, &unterm_control::home());
        }
    });
    for fault in faults {
        tracing::warn!("{fault}");
    }
    for complaint in &startup.complaints {
        tracing::error!("{complaint}; using the default of each invalid setting");
    }
    if let Some(complaint) = &startup.shell_complaint {
        tracing::error!("{complaint}");
    }
    let (mux, home) = (Arc::clone(&startup.mux), startup.settings.home().to_owned());
    let (settings, changes) = (Arc::clone(&startup.settings), Arc::clone(&startup.changes));
    let sessions = Arc::clone(&startup.sessions);
    let ending = Arc::new(Ending::new(&mux, args, &sessions, stop_leaving));
    let host = Arc::new(HeadlessHost {
        settings,
        changes,
        ending: Arc::clone(&ending),
        sessions: Arc::clone(&sessions),
        args: args.clone(),
    });
    let server = startup.serve(args, host, predecessor.as_ref())?;
    drop(lock);
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
    mux.observe(Arc::clone(&ending) as Arc<dyn Observer>);
    let hours = startup.settings.get().sessions.keep_for;
    if args.waits_for_window() && hours > 0 {
        ending.end_unless_shown(Duration::from_secs(3600 * u64::from(hours)))?;
    }
    // What ends without a window must be shown as ended in the next one.
    let on_end = if args.waits_for_window() { OnExit::Hold } else { OnExit::Close };
    let inherited = predecessor.map(|it| startup.sessions.inherit(&mux, &it, on_end));
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
    let Stop { reason, ends_programs } =
        stopped.recv().context("the thread that waits for signals ended")?;
    tracing::info!("stopping on {reason}");
    server.mover().finish();
    let next = ending.take_next().map(|next| next.refreshed(&sessions));
    server.stop();
    match ends_programs {
        true => sessions.end_deliberately(),
        false => drop(mux.leave_to_successor()),
    }
    mux.shutdown();
    Ok(next)
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

/// Waits until the client that started this process ends, and then until all other clients have disconnected.
fn keep(keeper: Keeper, last_goes: mpsc::Sender<Stop>) -> io::Result<JoinHandle<Keeper>> {
    std::thread::Builder::new().name("unterm-stdin".to_owned()).spawn(move || {
        // However the client ends, its side of the pipe is then closed.
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
        let reason = "the end of the last client".to_owned();
        let _ = last_goes.send(Stop { reason, ends_programs: true });
        keeper
    })
}
