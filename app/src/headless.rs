//! Unterm without a window: one pane at the start, driven over the control server until it is stopped.

use std::sync::{Arc, mpsc};

use anyhow::{Context, Result};
use unterm_control::{Headless, Server, ServerOptions};
use unterm_mux::{Mux, OnExit};

use crate::{args::Args, environment, ready::Ready, signals};

/// Runs until a signal says stop.
pub(crate) fn run(args: &Args) -> Result<()> {
    let (stop, stopped) = mpsc::channel();
    signals::on_stop(move |signal| {
        let _ = stop.send(signal);
    })?;
    let mux = Mux::new(environment::mux_options(false));
    let ready = Ready::new();
    let options = ServerOptions {
        mux: Arc::clone(&mux),
        host: Arc::new(Headless),
        home: environment::home()?,
    };
    let server = Server::start_gated(options, vec![ready.clone()])
        .context("cannot start the control server")?;
    environment::announce(&mux, &server);
    // A program that was asked for stays readable after its end: nobody watched it end.
    let on_exit = if args.execute.is_empty() { OnExit::Close } else { OnExit::Hold };
    mux.open_tab(args.first_spawn(), None, on_exit)?;
    ready.set();
    let signal = stopped.recv().context("the thread that waits for signals ended")?;
    tracing::info!("stopping on signal {signal}");
    server.stop();
    mux.shutdown();
    Ok(())
}
