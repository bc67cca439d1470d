//! Unterm without a window: one pane at the start, driven over the control server until it is stopped.

use std::{
    io::{self, Write as _},
    sync::{Arc, mpsc},
};

use anyhow::{Context, Result};
use unterm_control::{Changes, Server, ServerOptions, Topic};
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

/// Runs until a signal says stop.
pub(crate) fn run(args: &Args) -> Result<()> {
    let (stop, stopped) = mpsc::channel();
    let stdin_ends = stop.clone();
    signals::on_stop(move |signal| {
        let _ = stop.send(format!("signal {signal}"));
    })?;
    let (settings, complaints) = Settings::read(unterm_control::home());
    for complaint in complaints {
        tracing::error!("{complaint}");
    }
    let mux = Mux::new(environment::mux_options(false, args.allow()));
    let home = settings.home().to_owned();
    let palette = environment::palette(&settings.get(), &home, None);
    environment::apply(&mux, &settings.get(), settings.home(), &palette);
    let told = (Arc::downgrade(&mux), home.clone());
    let changes = Arc::new(Changes::default());
    let page = Arc::clone(&changes);
    let apply = move |change: Change| {
        page.tell(Topic::Settings);
        match (change, told.0.upgrade()) {
            (Ok(config), Some(mux)) => {
                let palette = environment::palette(&config, &told.1, None);
                environment::apply(&mux, &config, &told.1, &palette);
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
    let _settings = settings.watch(apply, move |path| {
        told_page(&page, path);
        if path.file_name().is_some_and(|name| name == proxy::FILE)
            && let Some(mux) = beside.0.upgrade()
        {
            unterm_control::apply_proxy(&mux, &beside.1);
        }
    });
    let ready = Ready::new();
    let options =
        ServerOptions { mux: Arc::clone(&mux), host: Arc::new(HeadlessHost { changes }), home };
    let server = Server::start_gated(options, vec![ready.clone()])
        .context("cannot start the control server")?;
    environment::announce(&mux, &server);
    // Nobody but callers works here: shells listen for the variables that they set.
    mux.set_env("UNTERM_DRIVEN", "1");
    // A program that was asked for stays readable after its end: nobody watched it end.
    let on_exit = if args.execute.is_empty() { OnExit::Close } else { OnExit::Hold };
    mux.open_tab(args.first_spawn(), None, on_exit)?;
    ready.set();
    if args.with_stdin {
        writeln!(io::stdout(), "{}", server.instance_id())
            .context("cannot tell who started this")?;
        // Whoever started it is gone when its end of the pipe is, however it went.
        std::thread::Builder::new().name("unterm-stdin".to_owned()).spawn(move || {
            let _ = io::copy(&mut io::stdin(), &mut io::sink());
            let _ = stdin_ends.send("the end of the standard input".to_owned());
        })?;
    }
    let reason = stopped.recv().context("the thread that waits for signals ended")?;
    tracing::info!("stopping on {reason}");
    server.stop();
    mux.shutdown();
    Ok(())
}
