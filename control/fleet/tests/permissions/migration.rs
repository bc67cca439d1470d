//! A fleet of the version in which machines had JetStream: the hub moves its calls and deletes its streams.

use anyhow::{Context as _, Result};
use async_nats::{HeaderMap, jetstream};
use serde_json::{Value, json};
use tempfile::tempdir;
use unterm_fleet::{
    Credentials, MachineId, connector, machine_key_public,
    nats_server::{Fleet, Folder, NatsServer, free_port},
    protocol::{Question, QuestionReply, Reply},
};

use crate::test_fleet::{Attacker, TestFleet, claims, connect, program, signed};

/// A fleet whose machines' account has JetStream.
fn earlier_fleet() -> Result<Fleet> {
    let fleet = Fleet::new(vec![format!("nats://127.0.0.1:{}", free_port()?)], true)?;
    let mut file = serde_json::to_value(&fleet)?;
    let (account, state) = (file["account_jwt"].clone(), file["state_jwt"].clone());
    let mut says = claims(account.as_str().context("no token")?)?;
    let hubs = claims(state.as_str().context("no token")?)?;
    says["nats"]["limits"] = hubs["nats"]["limits"].clone();
    let seed = file["operator_seed"].as_str().context("no seed")?.to_owned();
    file["account_jwt"] = json!(signed(&seed, says)?);
    file.as_object_mut().context("no object")?.remove("version");
    Ok(serde_json::from_value(file)?)
}

/// The credentials that the earlier version gave to machines: they do not expire, and give rights to buckets.
fn earlier_credentials(fleet: &Fleet, seed: &str) -> Result<Credentials> {
    let key = machine_key_public(seed)?;
    let id = MachineId::of_key(&key);
    let says = json!({
        "iat": 1, "jti": "x", "name": id, "sub": key,
        "nats": {
            "type": "user", "version": 2, "subs": -1, "data": -1, "payload": -1,
            "pub": {"allow": [
                format!("$KV.fleet_presence.{id}"),
                format!("$KV.fleet_calls.{id}.*"),
                format!("fleet.view.{id}.*"),
            ]},
            "sub": {"allow": [format!("fleet.machine.{id}.*"), format!("_INBOX_{id}.>")]},
            "resp": {"max": 1, "ttl": 60_000_000_000_u64},
        },
    });
    let (jwt, seed) = (signed(&fleet.account_seed, says)?, seed.to_owned());
    Ok(Credentials { jwt, renewal: None, seed, ..fleet.credentials.clone() })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn migration_keeps_calls_and_deletes_old_streams() -> Result<()> {
    let Some(program) = program()? else { return Ok(()) };
    let (folder, fleet) = (tempdir()?, earlier_fleet()?);
    fleet.save(folder.path())?;
    let files = Folder::new(folder.path());
    let server = NatsServer::start(&files, &fleet, Some(&program))?;
    let hub = loop {
        if let Ok(hub) = fleet.credentials.connect("hub", None, false).await {
            break hub;
        }
    };
    let streams = jetstream::new(hub.clone());
    for bucket in ["fleet_presence", "fleet_calls"] {
        let config = jetstream::kv::Config { bucket: bucket.to_owned(), ..Default::default() };
        streams.create_key_value(config).await?;
    }
    let calls = streams.get_key_value("fleet_calls").await?;
    let key = connector::machine_key(&folder.path().join("m"))?;
    let machine = MachineId::of_key(&machine_key_public(&key)?);
    let ended = json!({"ended": {"done": {"bytes": 3}}});
    for (key, value) in [
        (format!("{machine}.begun1"), json!("begun")),
        (format!("{machine}.ended1"), ended.clone()),
        ("hub.host1".to_owned(), json!("begun")),
        ("stray".to_owned(), json!("begun")),
        (format!("{machine}.odd"), json!({"odd": 1})),
    ] {
        calls.put(key, value.to_string().into()).await?;
    }
    // These attacks use the credentials of a machine of the earlier version: the acknowledgement of its own presence
    // becomes the presence of another machine, and a roll-up on its own key erases the keys of all machines.
    let presence = streams.get_key_value("fleet_presence").await?;
    presence.put("victim", "{}".into()).await?;
    let credentials = earlier_credentials(&fleet, &key)?;
    let old = connect(&credentials, &format!("_INBOX_{machine}")).await?;
    let own = format!("$KV.fleet_presence.{machine}");
    let foreign = "$KV.fleet_presence.victim".to_owned();
    old.publish_with_reply(own.clone(), foreign, "{}".into()).await?;
    let value = async || anyhow::Ok(presence.get("victim").await?.context("no presence")?);
    while !value().await?.starts_with(b"{\"stream\"") {
        tokio::task::yield_now().await;
    }
    let mut headers = HeaderMap::new();
    headers.insert("Nats-Rollup", "all");
    old.request_with_headers(own, headers, "{}".into()).await?;
    assert!(presence.get("victim").await?.is_none());

    // When the hub starts, it upgrades its own server, even if a killed hub has left it running.
    let (fleet, lock) = Fleet::open(folder.path(), || anyhow::bail!("there is a fleet"))?;
    drop((lock, hub, old));
    assert!(fleet.can_revoke());
    let restarted = NatsServer::start(&files, &fleet, Some(&program))?;
    drop(server);
    let place = TestFleet::serve(folder, fleet, restarted).await?;
    let observer = place.observer().await?;
    let left = jetstream::new(observer).get_stream("KV_fleet_presence").await;
    assert!(left.is_err());
    let calls = place.hub.machines().calls();
    let outcome: Option<Reply<Value>> = calls.outcome(&machine, "ended1").await?;
    assert_eq!(outcome, Some(Reply::Done(json!({"bytes": 3}))));
    assert!(!calls.begin_here("host1").await?);
    // A machine with the earlier token gets new tokens, and does not begin a call a second time.
    let connection = place.machine("m").await?;
    assert_eq!(connection.machine()?, machine);
    let mut credentials = earlier_credentials(&place.fleet, &key)?;
    let old = connect(&credentials, &format!("_INBOX_{machine}")).await?;
    let renewed = loop {
        let asked = old.request(format!("$KV.fleet_calls.{machine}.renew"), "{}".into()).await;
        match asked {
            Ok(renewed) => break serde_json::from_slice::<Value>(&renewed.payload)?,
            Err(error) if error.kind() == async_nats::RequestErrorKind::NoResponders => {}
            Err(error) => return Err(error.into()),
        }
    };
    credentials.jwt = renewed["jwt"].as_str().context("no token")?.to_owned();
    let client = connect(&credentials, &format!("_INBOX_{machine}")).await?;
    let attacker = Attacker { id: machine.clone(), connection, client };
    for call in ["begun1", "ended1"] {
        calls.ask(&machine, call).await?;
        let ask = Question::Begin { call: call.to_owned(), attempt: "x".to_owned() };
        assert_eq!(attacker.ask(&ask).await?, QuestionReply::BegunBefore, "{call}");
    }
    place.stop().await;
    Ok(())
}
