//! The end of a machine's rights, and their renewal.

use std::sync::Arc;

use anyhow::{Context as _, Result};
use async_nats::{Client, ConnectOptions, Event};
use nkeys::KeyPair;
use serde_json::json;
use tokio::sync::mpsc;
use unterm_fleet::{
    Credentials,
    connector::{self, Connection},
    nats_server::{Folder, NatsServer},
    protocol::{Presence, Question, QuestionReply},
};

use crate::test_fleet::{Attacker, TestFleet, claims, program, signed};

/// A connection that does not reconnect, and its events.
async fn watched(credentials: &Credentials, jwt: &str) -> Result<(Client, mpsc::Receiver<Event>)> {
    let (send, receive) = mpsc::channel(64);
    let key = Arc::new(KeyPair::from_seed(&credentials.seed)?);
    let sign = move |nonce: Vec<u8>| {
        let key = key.clone();
        async move { key.sign(&nonce).map_err(async_nats::AuthError::new) }
    };
    let options = ConnectOptions::with_jwt(jwt.to_owned(), sign).max_reconnects(1).event_callback(
        move |event| {
            let send = send.clone();
            async move { drop(send.send(event).await) }
        },
    );
    Ok((options.connect(&credentials.servers).await?, receive))
}

/// A token with the claims of another token. It was issued `age` seconds ago, and expires `life` seconds after that.
fn token(seed: &str, like: &str, age: i64, life: i64) -> Result<String> {
    let mut says = claims(like)?;
    let now = says["iat"].as_i64().context("no time")?;
    says["iat"] = json!(now - age);
    says["exp"] = json!(now - age + life);
    signed(seed, says)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_rights_of_a_removed_machine_end_at_once() -> Result<()> {
    let Some(mut place) = TestFleet::start().await? else { return Ok(()) };
    let a = Attacker::new(&place, "a").await?;
    let b = Attacker::new(&place, "b").await?;
    a.ask(&Question::Presence(Presence::default())).await?;
    let credentials = a.connection.credentials().clone();
    let life = claims(&credentials.jwt)?;
    let life = life["exp"].as_i64().context("it has no end")? - life["iat"].as_i64().unwrap_or(0);
    assert!(life <= 24 * 3600, "{life} s");
    let renewal = credentials.renewal.clone().context("no renewal")?;
    let tokens = [credentials.jwt.as_str(), renewal.as_str()];
    let mut open = Vec::new();
    for token in tokens {
        open.push(watched(&credentials, token).await?);
    }
    assert!(place.hub.machines().remove(&a.id).await?);
    for (_client, events) in &mut open {
        while !matches!(events.recv().await.context("no event")?, Event::Disconnected) {}
    }
    for token in tokens {
        assert!(watched(&credentials, token).await.is_err());
    }
    // The other machine can still ask.
    b.ask(&Question::Presence(Presence::default())).await?;

    // A server that was restarted gets the revocations from the hub.
    place.server.stop().await;
    let (folder, program) = (Folder::new(place.folder.path()), program()?);
    place.server = NatsServer::start(&folder, &place.fleet, program.as_deref())?;
    b.ask_anyhow(&Question::Presence(Presence::default())).await?;
    while watched(&credentials, tokens[0]).await.is_ok() {
        tokio::task::yield_now().await;
    }
    // A machine that is paired again has new rights, and its old tokens remain revoked.
    let again = place.machine("a").await?;
    assert_eq!(again.machine()?, a.id);
    watched(again.credentials(), &again.credentials().jwt).await?;
    assert!(watched(&credentials, tokens[0]).await.is_err());
    place.stop().await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_machine_that_was_off_for_long_gets_a_new_token() -> Result<()> {
    let Some(place) = TestFleet::start().await? else { return Ok(()) };
    let seed = place.fleet.account_seed.clone();
    for (name, age, life) in [("ended", 7200, 3600), ("half over", 3000, 3600)] {
        let home = place.folder.path().join(name.replace(' ', "-"));
        let mut connection = place.machine(&name.replace(' ', "-")).await?;
        let mut credentials = connection.credentials().clone();
        let old = token(&seed, &credentials.jwt, age, life)?;
        credentials.jwt = old.clone();
        connection.renew(credentials)?;
        let id = connection.machine()?;
        let options = connector::Options { home: home.clone(), starts_headless: false };
        let mut changes = place.hub.machines().changes();
        let serving = tokio::spawn(connector::run(connection, options));
        loop {
            let listed = place.hub.machines().list(|listed| *listed == id).await;
            let stored = Connection::read(&home)?.context("no connection")?;
            if stored.credentials().jwt != old && listed[0].status == "connected" {
                break;
            }
            // The file changes without a notice, so it is read at intervals.
            let _ = tokio::time::timeout(std::time::Duration::from_millis(100), changes.changed())
                .await;
        }
        serving.abort();
    }
    place.stop().await;
    Ok(())
}

/// Asks a hub that may be reconnecting, until it answers. Returns any answer.
impl Attacker {
    async fn ask_anyhow(&self, ask: &Question) -> Result<QuestionReply> {
        loop {
            if let Ok(answer) = self.ask(ask).await {
                return Ok(answer);
            }
        }
    }
}
