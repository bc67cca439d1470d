//! `unterm-cli run`, if its instance ended while the command ran: the command continues, and the process that takes the
//! instance's place reports its end.

use std::{
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use time::OffsetDateTime;
use unterm_control::{
    client::{Client, Endpoint},
    methods::{
        blocks::{self, Block, State},
        exec::ExitStatus,
        params::NoParams,
        server,
    },
};

/// The longest time to wait for the process that takes the place of an instance.
const PATIENCE: Duration = Duration::from_secs(10);
/// The time between two requests.
const PAUSE: Duration = Duration::from_millis(50);

/// A command whose instance has ended.
pub(super) struct LostRun<'a> {
    /// The address of the instance. The process that takes its place listens there, too.
    pub(super) endpoint: &'a Endpoint,
    pub(super) session: u64,
    pub(super) command: &'a str,
    /// When the command was sent.
    pub(super) sent: OffsetDateTime,
    /// When the caller stops waiting.
    pub(super) until: Instant,
}

impl LostRun<'_> {
    /// Waits for the end of the command.
    ///
    /// # Errors
    /// If no process takes the instance's place, or the shell did not report the command.
    pub(super) fn result(&self) -> Result<Value> {
        let mut client = self.connect()?;
        loop {
            match self.look(&client) {
                Ok(Some(reply)) => return Ok(reply),
                Ok(None) => thread::sleep(PAUSE),
                // Another process may have taken the instance's place again, for example because a window has taken its
                // place.
                Err(_) if client.call::<server::Health>(NoParams {}).is_err() => {
                    client = self.connect()?;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// The result. `None` while the command runs.
    fn look(&self, client: &Client) -> Result<Option<Value>> {
        let list = client.call::<blocks::List>(blocks::ListParams::of(self.session))?;
        let begun = list.blocks.iter().rev().find(|block| self.is_it(block));
        let begun = begun.context("the command may not have run, or its shell reports none")?;
        let has_ended = begun.state == State::Done;
        let is_due = has_ended || Instant::now() > self.until;
        is_due.then(|| self.reply(client, begun, has_ended)).transpose()
    }

    fn connect(&self) -> Result<Client> {
        let until = Instant::now() + PATIENCE;
        loop {
            match Client::connect_to(self.endpoint) {
                Ok(client) => return Ok(client),
                Err(error) if Instant::now() > until => bail!("{error}"),
                Err(_) => thread::sleep(PAUSE),
            }
        }
    }

    /// Whether a block is the command: it began after the command was sent, and contains its lines. A shell may have got
    /// the lines inside an `eval`.
    fn is_it(&self, block: &Block) -> bool {
        let began = block.started_at.as_deref().and_then(|time| {
            OffsetDateTime::parse(time, &time::format_description::well_known::Rfc3339).ok()
        });
        let first = self.command.trim().lines().next().unwrap_or_default();
        // Inside `eval`, quotes are written differently, so compare only the line's longest part without a quote.
        let plain = first.split('\'').max_by_key(|part| part.len()).unwrap_or_default();
        let line = block.command.as_deref().unwrap_or_default();
        began.is_some_and(|began| began + PAUSE >= self.sent) && line.contains(plain)
    }

    /// The reply that `exec.run_wait` would have returned.
    fn reply(&self, client: &Client, block: &Block, has_ended: bool) -> Result<Value> {
        let number = block.block;
        let get = blocks::GetParams { block: number.into(), ..blocks::GetParams::of(self.session) };
        let got = client.call::<blocks::Get>(get)?;
        let output = got.output.unwrap_or_default();
        let code = got.block.exit_code;
        Ok(json!({
            "output": output.strip_suffix('\n').unwrap_or(&output),
            "exit_status": if has_ended { ExitStatus::Completed } else { ExitStatus::Timeout },
            "timed_out": !has_ended,
            "marker": "",
            "exit_code": code,
            "exit_source": code.map(|_| "block"),
            "interrupted": false,
            "truncated": got.truncated,
            "block": number,
        }))
    }
}
