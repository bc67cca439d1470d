//! Control mode: a client sends commands as lines, and receives their results, the output of panes and notifications of
//! changes as lines. <https://github.com/tmux/tmux/wiki/Control-Mode>
//!
//! One task executes the commands. Another task writes everything that the client receives, so that no line interrupts
//! a command's result. That task reads output only as fast as the client does. A client that is too slow is paused if
//! it has requested that, or else disconnected. No pane ever waits for a client.
//!
//! | module | owns |
//! |---|---|
//! | `changes` | the notifications for two states of the sessions |
//! | `lines` | output as lines |
//! | `monitor` | the values of subscriptions |
//! | `outputs` | the output of the panes that the client sees |
//! | `writer` | the task that writes to the client |

mod changes;
mod lines;
mod monitor;
mod outputs;
mod writer;

use std::pin::pin;

use tokio::{io::BufReader, sync::mpsc};

pub use self::monitor::targets;
use self::writer::{Client, Writer};
use super::{
    arguments::Control,
    conversation::{Conversation, Disconnected, Event, Hello},
    language::{SyntaxError, Words},
    run::{Checked, Command, Failure, Run, now},
    server::Server,
};
use crate::{
    caller::Caller,
    transport::contract::{Input, Output},
};

/// Serves a client in control mode, until it ends or must end.
pub async fn serve(
    server: &Server,
    commands: &'static [Command],
    caller: Caller,
    hello: &Hello,
    control: Control,
    (input, output): (BufReader<Input>, Output),
) {
    let (sender, receiver) = mpsc::channel(1);
    let mut conversation = Conversation::in_control_mode(input, sender);
    let mut run = Run::new(server, commands, caller.clone(), hello, &mut conversation, None);
    let invocation = run.begin();
    let name = run.name.clone();
    let (id, wake) = server.state.lock().clients.add(hello, name.clone(), now());
    let _registered = Registered { server, id };
    run.client = Some(id);
    let client = Client { id, name, wake, is_terminal: control == Control::Terminal };
    let Ok(writer) = Writer::new(server, caller, hello, client, output).await else { return };
    let mut writer = pin!(writer.run(receiver));
    let commands = async {
        let status = match invocation {
            Ok(invocation) => execute(&mut run, invocation.commands(), id).await?,
            Err(why) => {
                run.send_block(why).await.map_err(|_| Disconnected)?;
                1
            }
        };
        run.send_status(status).await
    };
    tokio::select! {
        () = &mut writer => return,
        done = commands => if done.is_err() { return },
    }
    writer.await;
}

/// A client's entry in the list of clients. Dropping it removes the client.
struct Registered<'a> {
    server: &'a Server,
    id: u64,
}

impl Drop for Registered<'_> {
    fn drop(&mut self) {
        let mut state = self.server.state.lock();
        state.clients.remove(self.id);
        self.server.changed();
        // Notify the other clients, because they may show how many clients a session has.
        state.clients.wake_all();
    }
}

/// Executes the commands of the arguments, and then those of the client's lines while the client is attached. Returns
/// the exit status.
async fn execute(run: &mut Run<'_>, words: Vec<Words>, id: u64) -> Result<u8, Disconnected> {
    match run.checked(words) {
        Ok(checked) => {
            if !block(run, checked, (id, 0)).await? {
                return Ok(1);
            }
        }
        Err(Failure::Message(why)) => {
            send(run, format!("{why}\n")).await?;
            return Ok(1);
        }
        Err(Failure::Disconnected) => return Err(Disconnected),
    }
    loop {
        let is_attached = {
            let state = run.state();
            let client = state.clients.get(id);
            client.is_some_and(|client| client.session.is_some() && !client.is_leaving)
        };
        if !is_attached {
            return Ok(run.status);
        }
        let answer = run.ask_client(&Event::Line).await.map_err(|_| Disconnected)?;
        // An empty line detaches the client.
        if answer.status != 0 || answer.text.is_empty() {
            return Ok(0);
        }
        run.begin_line(&answer.text);
        match line(run, &answer.text).await {
            Ok(checked) => {
                block(run, checked, (id, 1)).await?;
            }
            Err(Failure::Message(why)) => {
                run.record("message", &why);
                let (time, number) = (run.now(), run.server.next_number());
                begin_command(run, id);
                send(run, framed(time, number, 1, format!("parse error: {why}\n"), "error"))
                    .await?;
            }
            Err(Failure::Disconnected) => return Err(Disconnected),
        }
    }
}

/// The commands of a line.
async fn line(run: &mut Run<'_>, line: &str) -> Result<Checked, Failure> {
    let lines = run.parsed(line).await?;
    let lines = lines.map_err(|SyntaxError { message, .. }| message.to_owned())?;
    run.checked(lines.into_iter().map(|line| line.words).collect())
}

/// Executes commands of the client `id` until one fails, and sends the result of each. Returns false if a command
/// failed.
async fn block(
    run: &mut Run<'_>,
    commands: Checked,
    (id, flags): (u64, u8),
) -> Result<bool, Disconnected> {
    for (command, arguments) in commands {
        let (time, number) = (run.now(), run.server.next_number());
        begin_command(run, id);
        let done = run.execute(command, arguments).await;
        let mut text = run.take_text();
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        let end = match done {
            Ok(()) => "end",
            Err(Failure::Message(why)) => {
                run.record("message", &why);
                text += &why;
                text.push('\n');
                "error"
            }
            Err(Failure::Disconnected) => return Err(Disconnected),
        };
        send(run, framed(time, number, flags, text, end)).await?;
        if end == "error" {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Holds back the client's notifications until the result of a command has been sent.
fn begin_command(run: &mut Run<'_>, id: u64) {
    if let Some(client) = run.state().clients.get_mut(id) {
        client.begin_command();
    }
}

/// The result of a command between its guard lines. `flags`: 1 for a command that the client sent as a line.
fn framed(time: i64, number: u64, flags: u8, text: String, end: &str) -> String {
    format!("%begin {time} {number} {flags}\n{text}%{end} {time} {number} {flags}\n")
}

async fn send(run: &mut Run<'_>, block: String) -> Result<(), Disconnected> {
    run.send_block(block).await.map_err(|_| Disconnected)
}
