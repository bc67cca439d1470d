//! The commands for administrators. Each connects to NATS directly, so it needs the NATS server, but no running hub.

use std::{io::Write as _, path::PathBuf};

use anyhow::{Context as _, Result, bail};
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use unterm_fleet::{
    MachineId,
    hub::{
        Hub, Options,
        blocked_lines::{BlockedLine, ReleaseOutcome},
        conversations::{Approval, Conversation, Decision},
        machines::{ListedMachine, ListedSession},
        passkeys::Passkey,
        tokens::{Right, Token},
    },
};

use super::{Command, hub_serve::fleet};

/// Commands about tokens.
#[derive(Subcommand)]
pub enum TokenCommand {
    /// Make a token for an agent, and print it. It can't be shown again.
    Create {
        /// Name of the token, such as the agent's name.
        name: String,
        /// Limit the token to the machine with this id; repeat for more [default: all machines].
        #[arg(long, value_name = "ID")]
        machine: Vec<String>,
        /// A right to grant; repeat for more [default: list, read and send].
        #[arg(long, value_enum)]
        right: Vec<Right>,
        /// Time until the token expires, such as 12h or 30d [default: never].
        #[arg(long, value_name = "TIME", value_parser = lifetime)]
        expires: Option<time::Duration>,
    },
    /// List the tokens.
    List,
    /// Revoke the token with this name or id.
    Revoke {
        /// Name or id of the token.
        token: String,
    },
}

/// Reports why a decision about a blocked line had no effect.
fn decided(outcome: ReleaseOutcome, call: &str) -> Result<()> {
    match outcome {
        ReleaseOutcome::Done => Ok(()),
        ReleaseOutcome::Refused(why) => bail!("the call was refused: {why}"),
        ReleaseOutcome::Waits(why) => bail!("the line still waits: {why}"),
        ReleaseOutcome::Missing => {
            bail!("no line waits with the id {call:?}; `unterm-hub lines` lists them")
        }
    }
}

/// Commands about passkeys.
#[derive(Subcommand)]
pub enum PasskeyCommand {
    /// Remove the passkey with this id. Sign-ins with this passkey end at once.
    Remove {
        /// Id of the passkey.
        id: String,
    },
}

/// A conversation.
#[derive(Args)]
pub struct NamedConversation {
    /// The conversation's name or key. If conversations of several tokens have this name, deny, revoke and pause apply to all
    /// of them, and approve and resume need a key.
    conversation: String,
}

/// A conversation, or all.
#[derive(Args)]
pub struct ConversationOrAll {
    /// The conversation's name or key. If conversations of several tokens have this name, pause applies to all of them, and
    /// resume needs a key.
    #[arg(required_unless_present = "all")]
    conversation: Option<String>,
    /// All conversations.
    #[arg(long, conflicts_with = "conversation")]
    all: bool,
}

/// Parses a time such as 90m, 12h or 30d.
fn lifetime(text: &str) -> Result<time::Duration, String> {
    let wrong = || "must be a number and m, h or d, such as 12h".to_owned();
    let (number, unit) = text.split_at_checked(text.len().saturating_sub(1)).ok_or_else(wrong)?;
    let number: u32 = number.parse().map_err(|_| wrong())?;
    let seconds = match unit {
        "m" => 60,
        "h" => 3600,
        "d" => 24 * 3600,
        _ => return Err(wrong()),
    };
    Ok(time::Duration::seconds(i64::from(number) * seconds))
}

/// The command line for administrators.
pub struct Admin {
    /// The folder of the hub's files.
    pub folder: PathBuf,
    /// Whether to print JSON.
    pub json: bool,
}

impl Admin {
    /// Executes a command.
    ///
    /// # Errors
    /// NATS can't be reached, or the thing that the command names does not exist.
    pub async fn run(&self, command: Command) -> Result<()> {
        let fleet = fleet(&self.folder)?;
        let options = Options::default();
        let connecting = Hub::connect(&fleet, &options);
        let hub = tokio::time::timeout(std::time::Duration::from_secs(10), connecting).await;
        let servers = fleet.credentials.servers.join(", ");
        let hub =
            hub.with_context(|| format!("NATS does not answer at {servers}; does the hub run?"))??;
        match command {
            Command::Token(command) => self.token(&hub, command).await,
            Command::Login { read_only } => {
                let code = hub.sign_ins().code(!read_only).await?;
                self.print(&format!("{code}\n"), || json!({ "code": code }))
            }
            Command::Passkeys { command: None } => {
                let all = hub.passkeys().list().await?;
                let row = |of: &Passkey| {
                    let rights = if of.may_act { "" } else { "read-only  " };
                    let last = of.last_used.as_deref().unwrap_or("never");
                    let (id, name, host, made) = (&of.id, &of.name, &of.host, &of.made_at);
                    format!("{id}  {name}  {host}  {rights}added {made}  used {last}\n")
                };
                let text: String = all.iter().map(row).collect();
                let values: Vec<_> = all.iter().map(Passkey::shown).collect();
                self.print(&text, || json!({ "passkeys": values }))
            }
            Command::Passkeys { command: Some(PasskeyCommand::Remove { id }) } => {
                if !hub.passkeys().remove(&id).await? {
                    bail!("there is no passkey {id:?}; `unterm-hub passkeys` lists them");
                }
                self.print(&format!("Removed {id}.\n"), || json!({ "removed": id }))
            }
            Command::StopAgents => self.stop(&hub, true).await,
            Command::StartAgents => self.stop(&hub, false).await,
            Command::Pending => {
                let mut all = hub.conversations().list().await?;
                all.retain(|of| of.state == Approval::Pending);
                self.conversations(&all)
            }
            Command::Conversations => self.conversations(&hub.conversations().list().await?),
            Command::Approve(which) => self.decide(&hub, &which, Decision::Approve).await,
            Command::Deny(which) => self.decide(&hub, &which, Decision::Deny).await,
            Command::Revoke(which) => self.decide(&hub, &which, Decision::Revoke).await,
            Command::Pause(which) => self.decide_some(&hub, which, Decision::Pause).await,
            Command::Resume(which) => self.decide_some(&hub, which, Decision::Resume).await,
            Command::Lines => self.lines(&hub).await,
            Command::Release { call } => {
                decided(hub.blocked_lines().release(&call).await?, &call)?;
                self.print("The call was carried out.\n", || json!({ "released": call }))
            }
            Command::Drop { call } => {
                decided(hub.blocked_lines().drop(&call).await?, &call)?;
                self.print("The call was dropped.\n", || json!({ "dropped": call }))
            }
            Command::Invite { code: true } => {
                let code = hub.pairing().code().await?;
                self.print(&format!("{code}\n"), || json!({ "code": code }))
            }
            Command::Invite { code: false } => {
                let text = hub.pairing().invite().await?.to_text()?;
                self.print(&format!("{text}\n"), || json!({ "invitation": text }))
            }
            Command::Machines { remove: Some(id) } => {
                let id = MachineId::try_from(id).map_err(anyhow::Error::msg)?;
                if !hub.machines().remove(&id).await? {
                    bail!("there is no machine {id}");
                }
                self.print(&format!("Removed {id}.\n"), || json!({ "removed": id }))
            }
            Command::Machines { remove: None } => {
                let listed = hub.machines().ask_all(hub.machines().load().await?).await;
                let row = |of: &ListedMachine<ListedSession>| {
                    format!(
                        "{}  {}  {}  {} sessions\n",
                        of.id,
                        of.status,
                        of.name,
                        of.sessions.len()
                    )
                };
                let text: String = listed.iter().map(row).collect();
                self.print(&text, || json!({ "machines": listed }))
            }
            Command::Audit { lines } => {
                let entries = hub.audit(lines).await?;
                let row = |of: &unterm_fleet::hub::audit::Entry| {
                    let parts = [
                        &of.at,
                        of.event.name(),
                        &of.token_name,
                        &of.conversation,
                        &of.tool,
                        &of.detail,
                        &of.outcome,
                    ];
                    let shown = parts.map(unterm_control::escaped);
                    let shown: Vec<_> = shown.iter().filter(|part| !part.is_empty()).collect();
                    let shown: Vec<_> =
                        shown.iter().map(|part| part.replace('\n', "\\n")).collect();
                    shown.join("  ") + "\n"
                };
                let text: String = entries.iter().map(row).collect();
                self.print(&text, || json!({ "entries": entries }))
            }
            // The configuration was already printed.
            Command::NatsConfig => Ok(()),
        }
    }

    async fn lines(&self, hub: &Hub) -> Result<()> {
        let all = hub.blocked_lines().list().await?;
        let row = |of: &BlockedLine| {
            let shown = of.shown();
            let text = |field| shown[field].as_str().unwrap_or_default().replace('\n', "\\n");
            let mut parts =
                ["id", "at", "token_name", "conversation", "machine", "instance"].map(text);
            parts[5] += &format!(" pane {}", shown["pane"]);
            format!("{}\n    {}\n    blocked by {}\n", parts.join("  "), text("line"), text("rule"))
        };
        let text: String = all.iter().map(row).collect();
        self.print(
            &text,
            || json!({"lines": all.iter().map(BlockedLine::shown).collect::<Vec<_>>()}),
        )
    }

    async fn stop(&self, hub: &Hub, is_set: bool) -> Result<()> {
        hub.stop().set(is_set).await?;
        let text = match is_set {
            true => "All calls of all agents are now refused.\n",
            false => "Agents' calls are allowed again.\n",
        };
        self.print(text, || json!({ "stopped": is_set }))
    }

    async fn token(&self, hub: &Hub, command: TokenCommand) -> Result<()> {
        match command {
            TokenCommand::Create { name, machine, right, expires } => {
                let machines = machine.into_iter().map(MachineId::try_from);
                let machines: Vec<_> =
                    machines.collect::<Result<_, _>>().map_err(anyhow::Error::msg)?;
                let machines = (!machines.is_empty()).then_some(machines);
                let usual = || vec![Right::List, Right::Read, Right::Send];
                let rights = if right.is_empty() { usual() } else { right };
                let made = hub.tokens().create(&name, machines, rights, expires).await?;
                let (token, secret) = made;
                self.print(&format!("{secret}\n"), || json!({"id": token.id, "token": secret}))
            }
            TokenCommand::List => {
                let all = hub.tokens().list().await?;
                let row = |(token, last): &(Token, Option<String>)| {
                    let rights: Vec<_> = token.rights.iter().map(|right| right.name()).collect();
                    let ends = token.expires_at.as_deref().unwrap_or("never");
                    let last = last.as_deref().unwrap_or("never");
                    let (id, name) = (&token.id, &token.name);
                    format!("{id}  {name}  {}  ends {ends}  used {last}\n", rights.join(","))
                };
                let text: String = all.iter().map(row).collect();
                let value = |(token, last): &(Token, Option<String>)| {
                    json!({
                        "id": token.id, "name": token.name, "machines": token.machines,
                        "rights": token.rights, "made_at": token.made_at,
                        "expires_at": token.expires_at, "last_used_at": last,
                    })
                };
                let values: Vec<_> = all.iter().map(value).collect();
                self.print(&text, || json!({ "tokens": values }))
            }
            TokenCommand::Revoke { token } => {
                let revoked = hub.tokens().revoke(&token).await?;
                if revoked.is_empty() {
                    bail!("there is no token {token:?}; `unterm-hub token list` lists them");
                }
                let names: Vec<_> = revoked.iter().map(|token| token.id.as_str()).collect();
                self.print(
                    &format!("Revoked {}.\n", names.join(", ")),
                    || json!({ "revoked": names }),
                )
            }
        }
    }

    async fn decide(&self, hub: &Hub, which: &NamedConversation, decision: Decision) -> Result<()> {
        self.conversations(&hub.conversations().decide(&which.conversation, decision).await?)
    }

    async fn decide_some(
        &self,
        hub: &Hub,
        which: ConversationOrAll,
        decision: Decision,
    ) -> Result<()> {
        match which.conversation {
            Some(conversation) => {
                self.decide(hub, &NamedConversation { conversation }, decision).await
            }
            None => self.conversations(&hub.conversations().decide_all(decision).await?),
        }
    }

    fn conversations(&self, all: &[Conversation]) -> Result<()> {
        let row = |of: &Conversation| {
            let flow = serde_json::to_value(of.flow).unwrap_or_default();
            let state = serde_json::to_value(of.state).unwrap_or_default();
            let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let shown = |text: &str| unterm_control::escaped(text).replace('\n', "\\n");
            format!(
                "{}  {} {}  {}  {}\n    {}\n",
                of.name(),
                word(&state),
                word(&flow),
                shown(&of.token_name),
                of.made_at,
                shown(&of.first)
            ) + &format!("    key {}\n", of.key())
        };
        let text: String = all.iter().map(row).collect();
        let value = |of: &Conversation| {
            let mut value = json!(of);
            value["key"] = json!(of.key());
            value["name"] = json!(of.name());
            value
        };
        self.print(&text, || json!({"conversations": all.iter().map(value).collect::<Vec<_>>()}))
    }

    fn print(&self, text: &str, value: impl FnOnce() -> Value) -> Result<()> {
        let text = match self.json {
            true => serde_json::to_string_pretty(&value())? + "\n",
            false => text.to_owned(),
        };
        match std::io::stdout().write_all(text.as_bytes()) {
            Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.into()),
            _ => Ok(()),
        }
    }
}
