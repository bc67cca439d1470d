//! The dialect of tmux: programs that call `tmux` get panes, tabs and sessions of this instance.
//!
//! The client is `unterm-cli tmux`, which sends its arguments. The dialect executes them as tmux's commands and calls
//! methods through the dispatcher, so scopes, approvals, leases, rules and the audit log apply. A program may change the
//! pane that it runs in and the panes that it opened. For other panes, the dialect asks the user.
//! `assets/docs/tmux.md` describes the commands for users.
//!
//! | module | owns |
//! |---|---|
//! | `language` | the command language: text as commands, and back |
//! | `arguments` | flags and arguments, and their errors |
//! | `table` | the commands: names, flags, usage and functions |
//! | `commands` | the functions, one file per group of commands |
//! | `formats` | `#{…}` |
//! | `variables` | the values that formats name |
//! | `world` | sessions, windows and panes at one moment |
//! | `target` | `-t` |
//! | `tree` | splits, sizes and layouts |
//! | `server` | the shared state and the dispatcher |
//! | `state` | sessions, environment, hooks and the parts below |
//! | `options`, `buffers`, `channels` | options, paste buffers, `wait-for` |
//! | `keys` | names of keys |
//! | `methods` | methods that only this dialect has |
//! | `run` | one client: executes its commands, and asks the user |
//! | `conversation` | the messages to the client |

mod arguments;
mod buffers;
mod channels;
mod commands;
mod conversation;
mod formats;
mod keys;
mod language;
mod methods;
mod options;
mod run;
mod server;
mod state;
mod table;
mod target;
mod tree;
mod variables;
mod world;

use std::sync::Arc;

#[cfg(test)]
pub use self::methods::own_methods;
pub use self::{
    arguments::asks_version,
    conversation::{Answer, Event, Hello},
    server::Server,
    variables::program_version,
};
use self::{conversation::Conversation, run::Run, table::COMMANDS};
use crate::{
    caller::Caller,
    transport::contract::{Input, Output},
};

/// Serves a client that has logged in, until its commands are executed or it disconnects.
pub async fn serve(server: Arc<Server>, input: Input, output: Output, caller: Caller) {
    let mut conversation = Conversation::new(input, output);
    let Ok(hello) = conversation.hello().await else { return };
    let connection = caller.connection;
    let mut run = Run::new(&server, COMMANDS, caller, &hello, &mut conversation);
    let status = run.invoke().await;
    if let Some(status) = status {
        // The client may have disconnected, so an error is ignored.
        let _ = conversation.send(&Event::Exit(status)).await;
    }
    tracing::debug!(connection, ?status, "a client of tmux went");
}
