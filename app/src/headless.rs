//! Unterm without a window: starts with one pane and serves control clients until it is stopped, or until the last of
//! the clients that it was started for disconnects.

use std::{
    fs::OpenOptions,
    io::{self, Write as _},
    sync::{Arc, mpsc},
    thread::JoinHandle,
};

use anyhow::{Context, Result, bail};
use unterm_control::{
    Changes, LoginLimits, RegistryFault, Server, ServerOptions, Topic, held::Keeper,
};
use unterm_mux::{Mux, OnExit};

use crate::{
    args::Args,
    config::{
        Change, Settings,
        wire::{HeadlessHost, told_page},
    },
    environment, proxy,
    ready::Ready,
    signals,
};

/// Runs until a signal arrives, or the last client disconnects.
pub(crate) fn run(args: &Args) -> Result<()> {
    let (stop, stopped) = mpsc::channel();
    let last_goes = stop.clone();
    signals::on_stop(move |signal| {
        let _ = stop.send(format!("signal {signal}"));
    })?;
    let (settings, complaints) = Settings::read(unterm_control::home());
    for complaint in complaints {
        tracing::error!("{complaint}; what is wrong has its default");
    }
    let approval = args.approval(&settings.get());
    let mux = Mux::new(environment::mux_options(false, args.allow()));
    let home = settings.home().to_owned();
    let palette = environment::palette(&settings.get(), &home, None);
    if let Some(complaint) = environment::apply(&mux, &settings.get(), &home, &palette) {
        tracing::error!("{complaint}");
    }
    let told = (Arc::downgrade(&mux), home.clone());
    let changes = Arc::new(Changes::default());
    let page = Arc::clone(&changes);
    let apply = move |change: Change| {
        page.tell(Topic::Settings);
        match (change, told.0.upgrade()) {
            (Ok(config), Some(mux)) => {
                let palette = environment::palette(&config, &told.1, None);
                if let Some(complaint) = environment::apply(&mux, &config, &told.1, &palette) {
                    tracing::error!("{complaint}");
                }
                tracing::info!("the configuration is applied");
            }
            (Err(complaints), _) => {
                for complaint in complaints {
                    tracing::error!("{complaint}; the last good configuration stays");
                }
            }
            (Ok(_), None) => {}
        }
    };
    let beside = (Arc::downgrade(&mux), home.clone());
    let page = Arc::clone(&changes);
    let settings = settings.watch(apply, move |path| {
        told_page(&page, path);
        if path.file_name().is_some_and(|name| name == proxy::FILE)
            && let Some(mux) = beside.0.upgrade()
        {
            unterm_control::apply_proxy(&mux, &beside.1);
        }
    });
    let ready = Ready::new();
    let options = ServerOptions {
        mux: Arc::clone(&mux),
        host: Arc::new(HeadlessHost { settings, changes }),
        home: home.clone(),
        approval,
        login: LoginLimits::default(),
    };
    let server = Server::start_gated(options, vec![ready.clone()])
        .context("cannot start the control server")?;
    match server.registry_fault() {
        // Only the client that started this instance would use it, and that client reads the registry.
        Some(fault @ RegistryFault::NotEntered(_)) if args.with_stdin => bail!("{fault}"),
        Some(fault) => tracing::error!("{fault}"),
        None => {}
    }
    let keeper = args.with_stdin.then(|| Keeper::new(&home, server.address().port())).transpose();
    let keeper = keeper.context("cannot be held by clients")?;
    environment::announce(&mux, &server);
    // Only clients type here, so shells report variables that clients set while a prompt waits.
    mux.set_env("UNTERM_DRIVEN", "1");
    // A pane whose program was given stays open after it ends, because no user watched it end.
    let on_exit = if args.execute.is_empty() { OnExit::Close } else { OnExit::Hold };
    mux.open_tab(args.first_spawn(), None, on_exit)?;
    ready.set();
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
