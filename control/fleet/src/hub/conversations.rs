//! Conversations. A conversation consists of the calls that an agent makes under one id, and of the user's decisions
//! about them.
//!
//! The first call of a conversation that changes something waits for the user's approval. A conversation belongs to its
//! token: with another token, the same id is another conversation.

use std::{sync::Arc, time::Duration};

use anyhow::{Result, bail, ensure};
use serde::{Deserialize, Serialize};

use super::{
    audit::{self, Entry, Event},
    store::{Store, age, now},
    tokens::Token,
};
use crate::sha256::sha256_prefix;

/// The maximum number of characters of a conversation's id.
pub const LONGEST_ID: usize = 200;
/// The maximum number of conversations of a token that wait for a decision.
pub const MOST_PENDING: usize = 50;
/// The name of a conversation without an id.
pub const UNNAMED: &str = "unnamed";
/// The maximum time that a conversation waits for a decision.
const PENDING_AGE: Duration = Duration::from_secs(7 * 24 * 3600);

/// The user's decision about a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Approval {
    /// There is no decision yet.
    Pending,
    /// The conversation may act.
    Approved,
    /// The user denied the conversation before it could act.
    Denied,
    /// The conversation may no longer act.
    Revoked,
}

/// Whether the calls of a conversation are executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Flow {
    /// Calls are executed immediately.
    Running,
    /// Calls are held.
    Paused,
    /// Held calls are executed in their order. New calls are added to the queue.
    Replaying,
}

/// A conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conversation {
    /// The conversation's id, which the agent chose.
    pub id: String,
    /// The token's id.
    pub token: String,
    /// The token's name.
    pub token_name: String,
    /// The user's decision.
    pub state: Approval,
    /// Whether calls are executed.
    pub flow: Flow,
    /// A description of the first call that changes something, for the user who decides.
    pub first: String,
    /// When that first call was made (RFC 3339, UTC).
    pub made_at: String,
}

impl Conversation {
    /// The conversation's key in the store.
    pub fn key(&self) -> String {
        key(&self.token, &self.id)
    }

    /// The conversation's name in lists: one line of visible characters. Decisions accept the name.
    pub fn name(&self) -> String {
        match self.id.trim() {
            "" => UNNAMED.to_owned(),
            _ => unterm_control::escaped(&self.id).replace('\n', "\\n"),
        }
    }

    fn is_named(&self, named: &str) -> bool {
        self.id == named || self.name() == named
    }
}

/// The key of a conversation. It contains a digest of the id, because the id may contain any character.
pub fn key(token: &str, id: &str) -> String {
    format!("{token}.{}", sha256_prefix(id, 24))
}

/// The keys of the conversations that a decision applies to. `named`: a key, a name or an id. A key has precedence,
/// because agents choose ids, and an id may look like another conversation's key.
///
/// Conversations of several tokens may have the same name. A decision that limits agents applies to all of them. A
/// decision that permits something applies only to a single conversation, so that no agent is approved because it
/// copied the name of another conversation.
///
/// # Errors
/// No conversation has the name, or several have it and the decision permits something. The message lists these
/// conversations.
fn keys_of(all: &[Conversation], named: &str, decision: Decision) -> Result<Vec<String>> {
    if all.iter().any(|of| of.key() == named) {
        return Ok(vec![named.to_owned()]);
    }
    let found: Vec<_> = all.iter().filter(|of| of.is_named(named)).collect();
    if found.is_empty() {
        bail!("no conversation {named:?}; `unterm-hub conversations` lists them");
    }
    if found.len() > 1 && !decision.limits() {
        let row = |of: &&Conversation| format!("\n  {}  of the token {}", of.key(), of.token_name);
        let list: String = found.iter().map(row).collect();
        bail!("several conversations are named {named:?}; give the key of one:{list}");
    }
    Ok(found.into_iter().map(Conversation::key).collect())
}

/// A decision of the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// The conversation may act.
    Approve,
    /// The conversation may not act.
    Deny,
    /// The conversation may no longer act. Held calls are dropped.
    Revoke,
    /// The conversation's calls are held.
    Pause,
    /// Held calls are executed first, and then new calls.
    Resume,
}

impl Decision {
    /// The decision's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Approve => "approve",
            Self::Deny => "deny",
            Self::Revoke => "revoke",
            Self::Pause => "pause",
            Self::Resume => "resume",
        }
    }

    /// Whether the decision only limits agents.
    fn limits(self) -> bool {
        matches!(self, Self::Deny | Self::Revoke | Self::Pause)
    }

    fn apply(self, conversation: &mut Conversation) {
        match self {
            Self::Approve => conversation.state = Approval::Approved,
            Self::Deny => conversation.state = Approval::Denied,
            Self::Revoke => conversation.state = Approval::Revoked,
            Self::Pause => conversation.flow = Flow::Paused,
            // Calls may have been held meanwhile.
            Self::Resume => conversation.flow = Flow::Replaying,
        }
        if matches!(self, Self::Deny | Self::Revoke) && conversation.flow != Flow::Running {
            // This drops the held calls.
            conversation.flow = Flow::Replaying;
        }
    }
}

/// The conversations of a fleet.
#[derive(Clone)]
pub struct Conversations(Arc<Store>);

impl Conversations {
    /// The conversations in a store.
    pub fn new(store: Arc<Store>) -> Self {
        Self(store)
    }

    /// The conversation of a token with this id. If there is none, creates it. `first`: a description of the current
    /// call, for the user who decides about a new conversation. `None` if too many conversations of the token are
    /// waiting for a decision.
    ///
    /// # Errors
    /// The id is too long, or NATS does not answer.
    pub async fn open(&self, token: &Token, id: &str, first: &str) -> Result<Option<Conversation>> {
        ensure!(
            id.chars().count() <= LONGEST_ID,
            "conversation_id must have at most {LONGEST_ID} characters"
        );
        let key = key(&token.id, id);
        if let Some(found) = self.get(&key).await? {
            return Ok(Some(found));
        }
        if !self.makes_room(token).await? {
            return Ok(None);
        }
        let conversation = Conversation {
            id: id.to_owned(),
            token: token.id.clone(),
            token_name: token.name.clone(),
            state: Approval::Pending,
            flow: Flow::Running,
            first: first.to_owned(),
            made_at: now(),
        };
        if self.0.conversations.create(&key, &conversation).await? {
            return Ok(Some(conversation));
        }
        // Another call has created the conversation first.
        Ok(Some(self.get(&key).await?.unwrap_or(conversation)))
    }

    /// Removes conversations of a token that have waited too long for a decision. Returns whether the token may have
    /// another conversation.
    async fn makes_room(&self, token: &Token) -> Result<bool> {
        let mut pending = self.list().await?;
        pending.retain(|of| of.token == token.id && of.state == Approval::Pending);
        let (old, waiting): (Vec<_>, Vec<_>) =
            pending.iter().partition(|of| age(&of.made_at).is_none_or(|age| age > PENDING_AGE));
        for conversation in old {
            self.0.conversations.take(&conversation.key()).await?;
        }
        Ok(waiting.len() < MOST_PENDING)
    }

    /// The conversation with this key.
    ///
    /// # Errors
    /// NATS does not answer.
    pub async fn get(&self, key: &str) -> Result<Option<Conversation>> {
        self.0.conversations.get(key).await
    }

    /// All conversations.
    ///
    /// # Errors
    /// NATS does not answer.
    pub async fn list(&self) -> Result<Vec<Conversation>> {
        let all = self.0.conversations.all::<Conversation>().await?;
        let mut all: Vec<_> = all.into_iter().map(|(_, conversation)| conversation).collect();
        all.sort_by(|a, b| (&a.made_at, &a.id).cmp(&(&b.made_at, &b.id)));
        Ok(all)
    }

    /// Applies a decision to the conversation with this key, or to the conversations with this name. Returns their new
    /// states.
    ///
    /// # Errors
    /// There is no such conversation, or there are several and the decision permits something.
    pub async fn decide(&self, named: &str, decision: Decision) -> Result<Vec<Conversation>> {
        let mut decided = Vec::new();
        for key in keys_of(&self.list().await?, named, decision)? {
            decided.push(self.decide_key(&key, decision).await?);
        }
        Ok(decided)
    }

    /// Applies a decision to all conversations.
    ///
    /// # Errors
    /// NATS does not answer.
    pub async fn decide_all(&self, decision: Decision) -> Result<Vec<Conversation>> {
        let mut all = Vec::new();
        for conversation in self.list().await? {
            all.push(self.decide_key(&conversation.key(), decision).await?);
        }
        Ok(all)
    }

    /// Applies a decision to the conversation with this key.
    ///
    /// # Errors
    /// There is no such conversation, or NATS does not store the decision.
    pub async fn decide_key(&self, key: &str, decision: Decision) -> Result<Conversation> {
        let changed = self.0.conversations.change(key, |conversation: &mut Conversation| {
            decision.apply(conversation);
            true
        });
        let Some(conversation) = changed.await? else { bail!("the conversation is gone") };
        let entry = Entry {
            token_name: conversation.token_name.clone(),
            conversation: conversation.id.clone(),
            ..Entry::new(Event::Decided, decision.name(), &conversation.token)
        };
        audit::record(&self.0, entry).await?;
        Ok(conversation)
    }

    /// If the conversation is not paused, starts the replay of its held calls.
    ///
    /// # Errors
    /// NATS does not answer.
    pub async fn replay(&self, key: &str) -> Result<Option<Conversation>> {
        self.0
            .conversations
            .change(key, |conversation: &mut Conversation| {
                let runs = conversation.flow == Flow::Running;
                if runs {
                    conversation.flow = Flow::Replaying;
                }
                runs
            })
            .await
    }

    /// Ends the replay of a conversation that has no held calls.
    ///
    /// # Errors
    /// NATS does not answer.
    pub async fn replayed(&self, key: &str) -> Result<()> {
        let end = |conversation: &mut Conversation| {
            let replays = conversation.flow == Flow::Replaying;
            if replays {
                conversation.flow = Flow::Running;
            }
            replays
        };
        self.0.conversations.change(key, end).await?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conversation(state: Approval, flow: Flow) -> Conversation {
        let text = || "x".to_owned();
        Conversation {
            id: text(),
            token: text(),
            token_name: text(),
            state,
            flow,
            first: text(),
            made_at: text(),
        }
    }

    #[test]
    fn decisions_change_the_state_and_revoking_drops_held_calls() {
        for (before, decision, after) in [
            (
                (Approval::Pending, Flow::Running),
                Decision::Approve,
                (Approval::Approved, Flow::Running),
            ),
            ((Approval::Pending, Flow::Running), Decision::Deny, (Approval::Denied, Flow::Running)),
            (
                (Approval::Approved, Flow::Running),
                Decision::Pause,
                (Approval::Approved, Flow::Paused),
            ),
            (
                (Approval::Approved, Flow::Paused),
                Decision::Resume,
                (Approval::Approved, Flow::Replaying),
            ),
            (
                (Approval::Approved, Flow::Paused),
                Decision::Revoke,
                (Approval::Revoked, Flow::Replaying),
            ),
            (
                (Approval::Revoked, Flow::Running),
                Decision::Approve,
                (Approval::Approved, Flow::Running),
            ),
        ] {
            let mut of = conversation(before.0, before.1);
            decision.apply(&mut of);
            assert_eq!((of.state, of.flow), after, "{before:?} {decision:?}");
        }
    }

    fn named(token: &str, id: &str) -> Conversation {
        Conversation {
            id: id.to_owned(),
            token: token.to_owned(),
            ..conversation(Approval::Pending, Flow::Running)
        }
    }

    #[test]
    fn no_conversation_id_equals_the_key_of_another() {
        let victim = named("a", "work");
        let all = [victim.clone(), named("b", &victim.key()), named("b", "work")];
        for decision in [Decision::Approve, Decision::Deny, Decision::Pause, Decision::Revoke] {
            let keys = |all, name: &str| keys_of(all, name, decision);
            assert_eq!(keys(&all, &victim.key()).unwrap(), [victim.key()]);
            assert_eq!(keys(&all[..2], "work").unwrap(), [victim.key()]);
            assert!(keys(&all, "other").is_err());
        }
    }

    #[test]
    fn an_ambiguous_name_can_restrict_but_not_permit() {
        let all = [named("a", "work"), named("b", "work"), named("b", "play")];
        let keys = [all[0].key(), all[1].key()];
        for decision in [Decision::Deny, Decision::Pause, Decision::Revoke] {
            assert_eq!(keys_of(&all, "work", decision).unwrap(), keys, "{decision:?}");
        }
        for decision in [Decision::Approve, Decision::Resume] {
            let why = keys_of(&all, "work", decision).unwrap_err().to_string();
            assert!(keys.iter().all(|key| why.contains(key)), "{decision:?}: {why}");
            assert!(!why.contains(&all[2].key()), "{why}");
        }
    }

    #[test]
    fn every_conversation_has_a_name_that_decisions_accept() {
        for id in ["", " ", "\n", "\u{202e}", "a\nb", "a\u{200b}b", "work", "é"] {
            let all = [named("a", id)];
            let name = all[0].name();
            assert!(!name.trim().is_empty() && !name.contains(['\n', '\u{202e}', '\u{200b}']));
            for name in [&*name, id] {
                assert_eq!(keys_of(&all, name, Decision::Approve).unwrap(), [all[0].key()]);
            }
        }
        // In lists, a conversation without a name looks like a conversation that is named "unnamed". Only their keys
        // distinguish them.
        let all = [named("a", ""), named("b", UNNAMED)];
        assert!(keys_of(&all, UNNAMED, Decision::Approve).is_err());
    }

    #[test]
    fn any_id_has_a_safe_key() {
        for id in ["", "a.b", ">", "*", "desktop-claude_macbook_20260502", "\n\u{202e}"] {
            let key = key("0123456789abcdef", id);
            assert_eq!(key.len(), 16 + 1 + 24);
            assert!(key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'.'), "{key}");
        }
        assert_ne!(key("a", "x"), key("b", "x"));
    }
}
