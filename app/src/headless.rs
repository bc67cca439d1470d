//! Unterm without a window: starts with one pane and serves control clients until it is stopped, or until the last of
//! the clients that it was started for disconnects.

use std::{
    fs::OpenOptions,
    io::{self, Write as _},
    sync::{Arc, Weak, mpsc},
    thread::JoinHandle,
};

use anyhow::{Context, Result, bail};
use unterm_control::{RegistryFault, held::Keeper};
use unterm_mux::{Mux, OnExit};

use crate::{
    args::Args,
    config::{Change, wire::HeadlessHost},
    environment, proxy, signals,
    startup::Startup,
};

/// Runs until a signal arrives, or the last client disconnects.
pub(crate) fn run(args: &Args) -> Result<()> {
    let (stop, stopped) = mpsc::channel();
    let last_goes = stop.clone();
    signals::on_stop(move |signal| {
        let _ = stop.send(format!("signal {signal}"));
    })?;
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
    let server = startup.serve(Arc::new(HeadlessHost { settings, changes }))?;
    match server.registry_fault() {
        // Only the client that started this instance would use it, and that client reads the registry.
        Some(fault @ RegistryFault::NotEntered(_)) if args.with_stdin => bail!("{fault}"),
        Some(fault) => tracing::error!("{fault}"),
        None => {}
    }
    let keeper = args.with_stdin.then(|| Keeper::new(&home, server.address().port())).transpose();
    let keeper = keeper.context("cannot be held by clients")?;
    // Only clients type here, so shells report variables that clients set while a prompt waits.
    mux.set_env("UNTERM_DRIVEN", "1");
    // A pane whose program was given stays open after it ends, because no user watched it end.
    let on_exit = if args.execute.is_empty() { OnExit::Close } else { OnExit::Hold };
    mux.open_tab(args.first_spawn(&startup.settings.get()), None, on_exit)?;
    startup.open();
    // Kept to the end: new clients then see that this instance is ending.
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
    Ok(())
}

/// Applies changed preferences.
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

/// Waits until the client that started this process ends, and then all other clients.
fn keep(keeper: Keeper, last_goes: mpsc::Sender<String>) -> io::Result<JoinHandle<Keeper>> {
    std::thread::Builder::new().name("unterm-stdin".to_owned()).spawn(move || {
        // However that client ends, its end of the pipe closes.
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
        if !keeper.is_last() {
            tracing::info!("staying for other clients");
            // The reader of the log may end with that client; writing to a closed pipe would fail.
            if let Ok(nowhere) = OpenOptions::new().write(true).open("/dev/null") {
                let _ = rustix::stdio::dup2_stderr(nowhere);
            }
            // Tells a relay that started this process not to wait for its end.
            let _ = writeln!(io::stdout(), "held");
            if let Err(error) = keeper.wait() {
                tracing::warn!(%error, "cannot wait for other clients");
            }
        }
        let _ = last_goes.send("the end of the last client".to_owned());
        keeper
    })
}
