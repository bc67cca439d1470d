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
//! | `options`, `hooks`, `buffers`, `channels` | options, hooks, paste buffers, `wait-for` |
//! | `clients`, `subscriptions` | the clients in control mode, and the formats that they watch |
//! | `event_hooks`, `monitors`, `runners` | hooks at events and changed values, and the processes that run them |
//! | `pipes`, `pipe` | `pipe-pane`: the open pipes, and the process that serves one |
//! | `keys`, `bindings` | names of keys, and the key bindings that programs set |
//! | `methods` | methods that only this dialect has |
//! | `run` | one client: executes its commands, and asks the user |
//! | `control_mode` | one client in control mode |
//! | `conversation` | the messages to the client |

mod arguments;
mod bindings;
mod buffers;
mod channels;
mod clients;
mod commands;
mod control_mode;
mod conversation;
mod event_hooks;
mod formats;
mod hooks;
mod keys;
mod language;
mod methods;
mod monitors;
mod options;
mod pipe;
mod pipes;
mod run;
mod runners;
mod server;
mod state;
mod subscriptions;
mod table;
mod target;
mod tree;
mod variables;
mod world;

use std::sync::Arc;

use tokio::io::BufReader;

#[cfg(test)]
pub use self::methods::own_methods;
pub use self::{
    arguments::{Control, asks_version, control},
    conversation::{Answer, Event, Hello},
    server::Server,
    variables::program_version,
};
use self::{
    conversation::{Conversation, hello},
    run::Run,
    table::COMMANDS,
};
use crate::{
    caller::{Caller, TokenKind},
    transport::contract::{Input, Output},
};

/// Whether a caller may speak tmux: only with the instance's own token, which the programs of the user have.
///
/// Hooks, options, environments, buffers and clients belong to the dialect and to all of its programs. Commands that
/// change only them call no method, so no scope and no list of sessions limits them, and the client itself names the
/// pane that it runs in. A hook can make another program run a shell command. So a token with fewer rights than the
/// user has may not speak tmux at all.
///
/// # Errors
/// The token is an agent's, or a settings page's. The message is for the client.
pub fn check_speaker(caller: &Caller) -> Result<(), &'static str> {
    match caller.token {
        TokenKind::Instance => Ok(()),
        TokenKind::Page | TokenKind::Agent(_) => {
            Err("Not allowed: only the instance's own token may speak tmux")
        }
    }
}

/// Serves a client that has logged in, until its commands are executed or it disconnects.
pub async fn serve(server: Arc<Server>, input: Input, mut output: Output, caller: Caller) {
    let connection = caller.connection;
    let mut input = BufReader::new(input);
    let Ok(hello) = hello(&mut input).await else { return };
    if let Some(ticket) = &hello.pipe {
        let claim = server.state.lock().runners.claim(ticket);
        if let Some(claim) = claim {
            let by = (caller, ticket.as_str());
            event_hooks::serve(&server, COMMANDS, by, claim, &hello, (input, output)).await;
            return;
        }
        pipe::serve(&server, caller, ticket, input, &mut output).await;
        return;
    }
    let control = control(&hello.args);
    if control != Control::Off {
        let streams = (input, output);
        control_mode::serve(&server, COMMANDS, caller, &hello, control, streams).await;
        return;
    }
    let mut conversation = Conversation::new(input, output);
    let mut run = Run::new(&server, COMMANDS, caller, &hello, &mut conversation, None);
    let status = run.invoke().await;
    if let Some(status) = status {
        // The client may have disconnected, so an error is ignored.
        let _ = conversation.send(&Event::Exit(status)).await;
    }
    tracing::debug!(connection, ?status, "a client of tmux went");
}
