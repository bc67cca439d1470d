//! The state of the fleet, as the dashboard shows it.

use anyhow::Result;
use serde_json::{Value, json};

use crate::hub::{
    blocked_lines::BlockedLine, passkeys::Passkey, services::Services, sign_ins::SignIn,
    web_address::WebAddress,
};

/// The whole state, as JSON, for a page that was loaded from the address `site`.
///
/// # Errors
/// NATS does not answer.
pub async fn of(hub: &Services, sign_in: &SignIn, site: &WebAddress) -> Result<Value> {
    let held = hub.held.counts().await?;
    let machines = hub.machines.list_all().await;
    let conversations = hub.conversations.list().await?.into_iter().map(|of| {
        let key = of.key();
        json!({
            "key": key,
            "id": unterm_control::escaped(&of.id),
            "name": of.name(),
            "token": of.token,
            "token_name": of.token_name,
            "state": of.state,
            "flow": of.flow,
            "first": of.first,
            "made_at": of.made_at,
            "held": held.get(&key).copied().unwrap_or_default(),
        })
    });
    let tokens = hub.tokens.list().await?.into_iter().map(|(token, last)| {
        json!({
            "id": token.id,
            "name": token.name,
            "machines": token.machines,
            "rights": token.rights,
            "made_at": token.made_at,
            "expires_at": token.expires_at,
            "last_used": last,
        })
    });
    let lines = hub.blocked_lines.list().await?;
    let passkeys = hub.passkeys.list().await?;
    Ok(json!({
        "lines": lines.iter().map(BlockedLine::shown).collect::<Vec<_>>(),
        "hub": hub.name,
        "version": env!("CARGO_PKG_VERSION"),
        "may_act": sign_in.may_act,
        "stopped": hub.stop.is_set().await?,
        "machines": machines,
        "conversations": conversations.collect::<Vec<_>>(),
        "tokens": tokens.collect::<Vec<_>>(),
        "passkeys": passkeys.iter().map(Passkey::shown).collect::<Vec<_>>(),
        "passkey_host": site.relying_party.as_ref().map(|party| &party.id),
    }))
}
