//! The app: connects the mux, the renderer and the control server, with or without a window.
//!
//! Owns the command line, the event loop, the table of actions and their keys, the clipboard and the look of the
//! window. Contains no terminal state: a view stores a snapshot, a scroll position and a selection, and the mux owns
//! everything else.

pub mod action;
pub mod args;
mod bell;
mod captures;
pub mod cli;
pub mod command_hint;
pub mod config;
pub mod copy_command;
mod desktop;
mod editor;
mod ending;
mod environment;
mod headless;
pub mod import;
mod inboxes;
mod last_session;
mod layout_file;
mod links;
pub mod local_time;
pub mod logging;
mod other_windows;
mod own_program;
pub mod plain_words;
mod proxy;
mod ready;
mod running;
mod sessions;
pub mod signals;
mod startup;
mod succession;
mod toml_files;
mod window;

use std::{io::Write, sync::Arc};

use anyhow::Result;

use unterm_mux::Mux;
use unterm_term::Allow;

use args::Args;
pub use links::open_settings;

/// Runs Unterm until its window closes or a signal stops it.
///
/// # Errors
/// Fails if the first program, the window or the control server can't be started, or if there is nothing to attach.
pub fn run(args: &Args) -> Result<()> {
    if args.print_config {
        return print_config();
    }
    if let Some(instance) = &args.attach {
        sessions::check_attach(&unterm_control::home(), instance).map_err(anyhow::Error::msg)?;
    }
    let restart = if args.headless { headless::run(args)? } else { window::run(args)? };
    restart.map_or(Ok(()), |restart| Err(restart.run()))
}

/// Creates a mux for a program that has neither a window nor settings. The programs in this mux get the usual
/// environment variables of a terminal.
pub fn plain_mux() -> Arc<Mux> {
    Mux::new(environment::mux_options(false, Allow::empty()))
}

/// Prints the settings in force. Fails if the configuration file has errors.
fn print_config() -> Result<()> {
    let home = unterm_control::home();
    let config = config::load(&home.join(config::FILE), &home)
        .map_err(|complaints| anyhow::anyhow!(complaints.join("\n")))?;
    std::io::stdout().write_all(config::reference::print(&config).as_bytes())?;
    Ok(())
}
