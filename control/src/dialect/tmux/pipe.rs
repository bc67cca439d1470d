//! Serves a pipe to the process that runs its command.
//!
//! After [`Event::Command`], the connection carries bytes: the pane's output to the command, and the command's output
//! to the pane. Commands can print anything, so their output passes the authority like all input of callers.

use std::ops::ControlFlow;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, BufReader},
    sync::oneshot,
};
use unterm_mux::{PaneId, TAP_CAPACITY, Tap, TapDirection, TapItem};

use super::{
    conversation::{Event, write},
    pipes::{Claim, Request},
    server::Server,
};
use crate::{
    caller::Caller,
    error::Error,
    methods::session::{Input as TypeIn, InputParams},
    services::pane::bytes::blacken,
    transport::contract::{Input, Output},
};

/// The maximum number of bytes of the command's output that are typed at once.
const PART: usize = 4096;

/// Serves the pipe with this ticket, until it is closed, the pane or the command ends, or the process disconnects.
pub async fn serve(
    server: &Server,
    caller: Caller,
    ticket: &str,
    input: BufReader<Input>,
    output: &mut Output,
) {
    let claim = server.state.lock().pipes.claim(ticket);
    let Some(claim) = claim else { return };
    let _finished = Finished { server, ticket };
    let Claim { request: Request { pane, caller: opener, command, tap, reads, writes }, end } =
        claim;
    // The process acts for the program that opened the pipe, with the approval that this program received.
    let caller = Caller { connection: caller.connection, ..opener };
    if write(output, &Event::Command { command, reads, writes }).await.is_err() {
        return;
    }
    let nonce = server.dispatcher.context().mux.pane(PaneId(pane));
    let nonce = nonce.and_then(|pane| pane.nonce().cloned());
    let mut to_command =
        ToCommand { server, caller: &caller, reads, nonce: nonce.as_deref(), output };
    tokio::select! {
        () = to_command.pass(tap, end) => {}
        () = pass_input(server, &caller, pane, writes, input) => {}
    }
    // The process may have gone, so an error is ignored.
    let _ = to_command.output.shutdown().await;
}

/// An open pipe. Dropping this value closes the pipe.
struct Finished<'a> {
    server: &'a Server,
    ticket: &'a str,
}

impl Drop for Finished<'_> {
    fn drop(&mut self) {
        self.server.state.lock().pipes.finish(self.ticket);
    }
}

/// Carries a pane's output to the command.
struct ToCommand<'a> {
    server: &'a Server,
    /// The program that opened the pipe. The pipe ends when the program's token becomes invalid.
    caller: &'a Caller,
    /// Whether the command reads the output.
    reads: bool,
    /// The nonce of the pane's shell, which is hidden in the output.
    nonce: Option<&'a str>,
    output: &'a mut Output,
}

impl ToCommand<'_> {
    /// Passes the pane's output to the process, until the pane's program ends, the pipe is closed or the process
    /// disconnects.
    async fn pass(&mut self, tap: Option<Tap>, mut end: oneshot::Receiver<()>) {
        let Some(mut tap) = tap else {
            // Nothing is ever sent. The pipe is closed when the sender is dropped.
            let _ = end.await;
            return;
        };
        loop {
            let item = tokio::select! {
                item = tap.next() => item,
                _ = &mut end => break,
            };
            let Some(item) = item else { return };
            if self.send(item).await.is_break() {
                return;
            }
        }
        // Output up to now still belongs to the pipe. The queue contains this much of it.
        let mut left = TAP_CAPACITY;
        while let Some(item) = tap.try_next().filter(|_| left > 0) {
            if let TapItem::Bytes { bytes, .. } = &item {
                left = left.saturating_sub(bytes.len());
            }
            if self.send(item).await.is_break() {
                return;
            }
        }
    }

    /// Passes one item. Breaks if no item follows, or if the caller's token is no longer valid.
    async fn send(&mut self, item: TapItem) -> ControlFlow<()> {
        if let Err(why) = self.server.dispatcher.check_token(self.caller) {
            tracing::debug!(%why, "a pipe ends with its token");
            return ControlFlow::Break(());
        }
        match item {
            TapItem::Bytes { direction: TapDirection::Output, bytes, .. } if self.reads => {
                let mut bytes = bytes.to_vec();
                if let Some(nonce) = self.nonce {
                    blacken(&mut bytes, nonce.as_bytes());
                }
                let is_written = self.output.write_all(&bytes).await.is_ok();
                if !is_written || self.output.flush().await.is_err() {
                    return ControlFlow::Break(());
                }
            }
            TapItem::Gap { bytes } if self.reads => {
                tracing::warn!(bytes, "the command of a pipe was too slow, so output was lost");
            }
            TapItem::Bytes { .. } | TapItem::Gap { .. } => {}
            TapItem::End => return ControlFlow::Break(()),
        }
        ControlFlow::Continue(())
    }
}

/// Types the command's output in the pane until the process disconnects or the input is refused.
async fn pass_input(
    server: &Server,
    caller: &Caller,
    pane: u64,
    writes: bool,
    mut input: BufReader<Input>,
) {
    let mut bytes = Vec::new();
    loop {
        let mut part = [0; PART];
        let count = match input.read(&mut part).await {
            Ok(0) | Err(_) => return,
            Ok(count) => count,
        };
        if !writes {
            continue;
        }
        bytes.extend_from_slice(&part[..count]);
        let text = whole_characters(&mut bytes);
        if text.is_empty() {
            continue;
        }
        if let Err(error) = type_in(server, caller, pane, text).await {
            tracing::debug!(pane, %error, "the output of a pipe's command is not typed");
            return;
        }
    }
}

async fn type_in(server: &Server, caller: &Caller, pane: u64, text: String) -> Result<(), Error> {
    let params = InputParams { input: text.into(), ..InputParams::of(pane) };
    let params = serde_json::to_string(&params).map_err(Error::Params)?;
    server.call::<TypeIn>(caller, &params).await.map(drop)
}

/// Removes the text from the front of some bytes. Leaves an incomplete character at the end, whose rest has not
/// arrived. Other invalid bytes become U+FFFD.
fn whole_characters(bytes: &mut Vec<u8>) -> String {
    let last = bytes.utf8_chunks().last();
    let invalid = last.map_or(&[][..], |chunk| chunk.invalid());
    // An error without a length is an incomplete character at the end.
    let is_cut = std::str::from_utf8(invalid).is_err_and(|error| error.error_len().is_none());
    let end = if is_cut { bytes.len() - invalid.len() } else { bytes.len() };
    let rest = bytes.split_off(end);
    let text = String::from_utf8_lossy(bytes).into_owned();
    *bytes = rest;
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_waits_for_its_rest() {
        let mut bytes = b"a\xc3".to_vec();
        assert_eq!(whole_characters(&mut bytes), "a");
        assert_eq!(bytes, b"\xc3");
        bytes.push(0xa9);
        assert_eq!(whole_characters(&mut bytes), "é");
        assert!(bytes.is_empty());
        bytes.extend_from_slice(b"\xffx\xe2\x82");
        assert_eq!(whole_characters(&mut bytes), "\u{fffd}x");
        assert_eq!(bytes, b"\xe2\x82");
        bytes.extend_from_slice(b"z");
        assert_eq!(whole_characters(&mut bytes), "\u{fffd}z");
    }
}
