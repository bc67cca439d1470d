//! `unterm-cli restart`: makes an instance replace itself by the installed program, and waits until it answers again.

use std::{
    path::Path,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Error, Result, bail};
use serde_json::{Value, json};
use unterm_control::{
    client::{self, Client},
    methods::{Method, action, instance},
};

use super::report::Report;

/// The longest time to wait until the new program answers.
const PATIENCE: Duration = Duration::from_secs(20);
/// The time between two attempts to reach an instance.
const PAUSE: Duration = Duration::from_millis(10);

/// Restarts the instance to which `client` is connected.
///
/// # Errors
/// If it does not restart, or does not answer in time.
pub(super) fn run(home: &Path, client: &Client) -> Result<Report> {
    let until = Instant::now() + PATIENCE;
    let before = info(client)?;
    let name = before["id"].as_str().context("the instance has no name")?;
    let restart = action::RunParams { name: "restart".into(), ..action::RunParams::default() };
    match client.call::<action::Run>(restart) {
        Ok(reply) if !reply.done => {
            bail!("no program can continue across a restart: see the setting sessions.keep");
        }
        Ok(_) => {}
        // The instance may have ended before its reply arrived.
        Err(error) if info(client).is_ok() => return Err(error.into()),
        Err(_) => {}
    }
    while info(client).is_ok() {
        if Instant::now() > until {
            bail!("{name} has not restarted; its window may show a question or an error");
        }
        thread::sleep(PAUSE);
    }
    loop {
        let after = client::find_by_name(home, name)
            .and_then(|endpoint| Client::connect_to(&endpoint))
            .map_err(Error::from)
            .and_then(|client| info(&client));
        match after {
            Ok(after) => {
                let version = after["version"].as_str().unwrap_or("unknown");
                let text = format!("{name} runs version {version}");
                return Ok(Report::new(text, json!({"id": name, "version": version})));
            }
            Err(error) if Instant::now() > until => {
                return Err(error.context(format!("{name} does not answer")));
            }
            Err(_) => thread::sleep(PAUSE),
        }
    }
}

/// The reply of `instance.info`. The instance may have another version than this program, so fields may be missing.
fn info(client: &Client) -> Result<Value> {
    Ok(client.call_by_name(instance::Info::NAME, json!({}))?)
}
