//! Tests the subjects to which a machine with its full credentials can publish and subscribe: tries all subjects, with
//! all headers and reply subjects that NATS obeys, and checks where the messages arrive.

use std::{collections::BTreeMap, time::Duration};

use anyhow::{Result, ensure};
use async_nats::{Client, HeaderMap, Message, Subscriber, jetstream};
use futures_util::{FutureExt as _, StreamExt as _, TryStreamExt as _};
use serde_json::json;
use unterm_fleet::protocol::{Presence, Question, QuestionReply};

use crate::test_fleet::{Attacker, TestFleet, connect, passes};

const SID: &str = "0123456789ab";

/// Subjects that a machine must not publish to, or that have no receiver. `b`: the id of another machine.
fn foreign_subjects(own: &str, b: &str) -> Vec<String> {
    [
        "$KV.fleet_presence.OWN",
        "$KV.fleet_presence.OTHER",
        "$KV.fleet_calls.OWN.1",
        "$KV.fleet_calls.OTHER.1",
        "$KV.fleet_calls.OTHER.renew",
        "$KV.fleet_machines.OTHER",
        "$KV.fleet_tokens.0123456789abcdef",
        "$JS.API.INFO",
        "$JS.API.STREAM.LIST",
        "$JS.API.STREAM.CREATE.X",
        "$JS.API.STREAM.PURGE.KV_fleet_calls",
        "$JS.API.STREAM.DELETE.FLEET_AUDIT",
        "$JS.API.STREAM.MSG.DELETE.KV_fleet_presence",
        "$JS.API.STREAM.MSG.GET.KV_fleet_presence",
        "$JS.API.DIRECT.GET.KV_fleet_presence",
        "$JS.API.CONSUMER.CREATE.KV_fleet_presence",
        "$JS.API.CONSUMER.MSG.NEXT.KV_fleet_calls.x",
        "$JS.ACK.KV_fleet_presence.c.1.1.1.1.0",
        "$JS.FC.x",
        "$SYS.REQ.USER.INFO",
        "$SYS.REQ.SERVER.PING",
        "$SYS.REQ.ACCOUNT.x.CLAIMS.UPDATE",
        "$SRV.PING",
        "fleet.hub.OTHER",
        "fleet.renew.OTHER",
        "fleet.view.OTHER.0123456789ab",
        "fleet.machine.OTHER.type",
        "fleet.machine.OWN.type",
        "fleet.pair.0123456789abcdef",
        "fleet.audit.x",
        "fleet.held.x",
        "_INBOX_OTHER.x",
        "_INBOX.x",
        "_INBOX_OWN0.x",
    ]
    .map(|subject| subject.replace("OWN", own).replace("OTHER", b))
    .into()
}

/// Subjects of another machine, of users and of the store. They are used as targets of replies and traces.
fn targets(own: &str, b: &str) -> Vec<String> {
    let mut targets = foreign_subjects(own, b);
    targets.retain(|subject| {
        ["$KV", "$JS.API.STREAM", "fleet.", "_INBOX"].iter().any(|start| subject.starts_with(start))
    });
    targets
}

/// Headers that NATS or the reader of a bucket obeys.
fn headers(targets: &[String]) -> Vec<Vec<(&'static str, String)>> {
    let fixed = [
        ("Nats-Rollup", "all"),
        ("Nats-Rollup", "sub"),
        ("Nats-TTL", "1s"),
        ("Nats-TTL", "never"),
        ("KV-Operation", "PURGE"),
        ("KV-Operation", "DEL"),
        ("Nats-Marker-Reason", "Purge"),
        ("Nats-Expected-Last-Sequence", "0"),
        ("Nats-Expected-Last-Subject-Sequence", "0"),
        ("Nats-Expected-Stream", "KV_fleet_calls"),
        ("Nats-Msg-Id", "1"),
        ("Nats-Incr", "1"),
        ("Nats-Batch-Id", "1"),
        ("Fleet-Signature", "x"),
        ("Nats-Request-Info", "{}"),
    ];
    let fixed = fixed.map(|(name, value)| vec![(name, value.to_owned())]);
    let traced = targets.iter().map(|target| vec![("Nats-Trace-Dest", target.clone())]);
    let scheduled = targets.iter().map(|target| {
        vec![("Nats-Schedule", "@every 1s".to_owned()), ("Nats-Schedule-Target", target.clone())]
    });
    [Vec::new()].into_iter().chain(fixed).chain(traced).chain(scheduled).collect()
}

fn map(headers: &[(&'static str, String)]) -> HeaderMap {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        map.insert(*name, value.as_str());
    }
    map
}

/// The messages that arrived before the message with this subject.
async fn until(heard: &mut Subscriber, marker: &str) -> Result<Vec<Message>> {
    let mut messages = Vec::new();
    loop {
        let message = heard.next().await;
        ensure!(message.is_some(), "the connection was closed");
        messages.extend(message);
        if messages.last().is_some_and(|last| last.subject.as_str() == marker) {
            return Ok(messages);
        }
    }
}

/// Subscribes to all subjects. Returns when the server has registered the subscription. Before that, messages of other
/// connections would not be delivered.
async fn hear_all(observer: &Client) -> Result<Subscriber> {
    const READY: &str = "ready";
    let mut heard = observer.subscribe(">").await?;
    observer.publish(READY, "".into()).await?;
    until(&mut heard, READY).await?;
    Ok(heard)
}

/// The contents of the hubs' store, except the entries of the machine with this id.
async fn state(place: &TestFleet, without: &str) -> Result<BTreeMap<String, Vec<u8>>> {
    let client = place.fleet.state.connect("state", None, false).await?;
    let jetstream = jetstream::new(client);
    let mut state = BTreeMap::new();
    let mut names = jetstream.stream_names();
    while let Some(name) = names.try_next().await? {
        let stream = jetstream.get_stream(&name).await?;
        let mut subjects = stream.info_with_subjects(">").await?;
        while let Some((subject, _)) = subjects.try_next().await? {
            if !subject.contains(without) {
                let last = stream.get_last_raw_message_by_subject(&subject).await?;
                state.insert(subject, last.payload.to_vec());
            }
        }
    }
    Ok(state)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_machines_messages_reach_no_foreign_subject() -> Result<()> {
    let Some(place) = TestFleet::start().await? else { return Ok(()) };
    let (a, b) = (Attacker::new(&place, "a").await?, Attacker::new(&place, "b").await?);
    let (own, other) = (a.id.as_str(), b.id.as_str());
    let presence = Presence { name: "victim".to_owned(), ..Presence::default() };
    assert_eq!(b.ask(&Question::Presence(presence)).await?, QuestionReply::Done);
    place.hub.machines().calls().ask(&b.id, "c1").await?;
    let before = state(&place, own).await?;
    assert!(before.contains_key(&format!("$KV.fleet_presence.{other}")));

    let observer = place.observer().await?;
    let mut heard = hear_all(&observer).await?;
    let marker = format!("fleet.view.{own}.{SID}");
    let targets = targets(own, other);
    let may_use = [
        format!("fleet.view.{own}."),
        format!("fleet.hub.{own}"),
        format!("fleet.renew.{own}"),
        format!("_INBOX_{own}."),
    ];
    let is_own = |message: &Message| {
        // Only a hub signs its requests, so a message with a signature comes from a hub.
        let signed = message.headers.as_ref().and_then(|all| all.get("Fleet-Signature"));
        signed.is_some_and(|by| by.as_str() != "x")
            || may_use.iter().any(|start| message.subject.starts_with(start))
    };
    let replies = [None].into_iter().chain(targets.iter().map(Some)).collect::<Vec<_>>();
    let mut tried = 0;
    // Publishes to foreign subjects, and to the machine's own view: each header with each reply subject.
    let mut subjects = foreign_subjects(own, other);
    subjects.push(format!("fleet.view.{own}.000000000000"));
    for subject in &subjects {
        for header in headers(&targets) {
            for reply in &replies {
                let (to, header, body) = (subject.clone(), map(&header), "{}".into());
                match reply {
                    None => a.client.publish_with_headers(to, header, body).await?,
                    Some(reply) => {
                        let reply = reply.to_string();
                        a.client.publish_with_reply_and_headers(to, reply, header, body).await?;
                    }
                }
                tried += 1;
            }
            a.client.publish(marker.clone(), "".into()).await?;
            a.client.flush().await?;
            for message in until(&mut heard, &marker).await? {
                assert!(is_own(&message), "{subject} reached {}: {message:?}", message.subject);
            }
        }
    }
    // Sends questions to hubs, which may publish to all subjects: each question with each reply subject, and with each
    // header.
    let asks = [
        json!({"presence": {"name": "", "platform": "", "version": "", "scan": {}, "sessions": []}}),
        json!({"begin": {"call": "c1", "attempt": "x"}}),
        json!({"end": {"call": "c1", "reply": {"refused": "x"}}}),
        json!("nothing"),
    ];
    let asks = asks.map(|ask| (format!("fleet.hub.{own}"), ask.to_string()));
    let renewal = (format!("fleet.renew.{own}"), "{}".to_owned());
    for (subject, body) in asks.into_iter().chain([renewal]) {
        for reply in &targets {
            let (to, reply, body) = (subject.clone(), reply.clone(), body.clone().into());
            a.client.publish_with_reply(to, reply, body).await?;
            tried += 1;
        }
        for header in headers(&targets) {
            let header = map(&header);
            let (to, inbox, body) = (subject.clone(), format!("_INBOX_{own}.x"), body.clone());
            a.client.publish_with_reply_and_headers(to, inbox, header, body.into()).await?;
            tried += 1;
        }
        // Hubs answer in order, so this reply comes after all earlier ones.
        a.client.request(subject, body.into()).await?;
    }
    a.client.publish(marker.clone(), "".into()).await?;
    for message in until(&mut heard, &marker).await? {
        assert!(is_own(&message), "a hub was made to publish to {}", message.subject);
    }
    assert_eq!(state(&place, own).await?, before);
    let begin = Question::Begin { call: "c1".to_owned(), attempt: "b".to_owned() };
    assert_eq!(b.ask(&begin).await?, QuestionReply::Done);
    eprintln!("{tried} messages");
    place.stop().await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_machine_receives_only_what_is_meant_for_it() -> Result<()> {
    let Some(place) = TestFleet::start().await? else { return Ok(()) };
    let (a, b) = (Attacker::new(&place, "a").await?, Attacker::new(&place, "b").await?);
    let (own, other) = (a.id.as_str(), b.id.as_str());
    let hub = place.observer().await?;
    let request = format!("fleet.machine.{own}.read");
    let asks = format!("fleet.hub.{own}");
    a.ask(&Question::Presence(Presence::default())).await?;
    assert!(passes(&hub, (&a.client, &asks), &request, &request).await?);
    let spoken = [
        "fleet.machine.OTHER.read",
        "_INBOX_OTHER.x",
        "_INBOX.x",
        "_INBOX_OWN0.x",
        "fleet.hub.OTHER",
        "fleet.hub.OWN",
        "fleet.view.OTHER.0123456789ab",
        "fleet.pair.x",
        "$KV.fleet_presence.OTHER",
        "fleet.audit.x",
        "fleet.machine.OTHER.a.b",
    ]
    .map(|subject| subject.replace("OWN", own).replace("OTHER", other));
    let wanted = [
        ">",
        "*",
        "*.>",
        "fleet.>",
        "fleet.*.>",
        "fleet.machine.>",
        "fleet.machine.*.*",
        "fleet.machine.*.type",
        "fleet.machine.OTHER.*",
        "fleet.machine.OTHER.type",
        "fleet.machine.OWN.>",
        "_INBOX.>",
        "_INBOX.*",
        "_INBOX_OTHER.>",
        "_INBOX_OWN0.>",
        "fleet.hub.*",
        "fleet.hub.OWN",
        "fleet.hub.OTHER",
        "fleet.renew.*",
        "fleet.view.>",
        "fleet.pair.*",
        "$KV.>",
        "$JS.>",
        "$JS.API.>",
        "$SYS.>",
        "$SYS.ACCOUNT.>",
        "$SRV.>",
    ];
    for wanted in wanted.map(|subject| subject.replace("OWN", own).replace("OTHER", other)) {
        for group in [None, Some("hubs")] {
            // This uses a separate connection, because a machine may have few subscriptions.
            let inbox = format!("_INBOX_{own}");
            let machine = connect(a.connection.credentials(), &inbox).await?;
            let mut heard = match group {
                None => machine.subscribe(wanted.clone()).await?,
                Some(group) => machine.queue_subscribe(wanted.clone(), group.to_owned()).await?,
            };
            for spoken in &spoken {
                hub.publish(spoken.clone(), "{}".into()).await?;
            }
            hub.flush().await?;
            assert!(passes(&hub, (&machine, &asks), &request, &request).await?);
            // NATS narrows a subscription that includes the machine's own subjects to these subjects.
            let own = format!("fleet.machine.{own}.");
            while let Some(message) = heard.next().now_or_never().flatten() {
                assert!(message.subject.starts_with(&own), "{wanted} {group:?}: {message:?}");
            }
        }
    }
    place.stop().await;
    Ok(())
}

/// The renewal token, which is valid after a machine's permissions have expired, only allows requests for new tokens.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_renewal_token_only_renews() -> Result<()> {
    let Some(place) = TestFleet::start().await? else { return Ok(()) };
    let (a, b) = (Attacker::new(&place, "a").await?, Attacker::new(&place, "b").await?);
    let (own, other) = (a.id.as_str(), b.id.as_str());
    a.ask(&Question::Presence(Presence::default())).await?;
    let mut credentials = a.connection.credentials().clone();
    credentials.jwt = credentials.renewal.clone().unwrap_or_default();
    let inbox = format!("_INBOX_{own}");
    let renewer = connect(&credentials, &inbox).await?;
    let observer: Client = place.observer().await?;
    let mut heard = hear_all(&observer).await?;
    let renew = format!("fleet.renew.{own}");
    let mut subjects = foreign_subjects(own, other);
    subjects.extend([format!("fleet.view.{own}.{SID}"), format!("fleet.hub.{own}")]);
    for subject in subjects {
        renewer.publish(subject, "{}".into()).await?;
    }
    renewer.request(renew.clone(), "{}".into()).await?;
    let mut messages = until(&mut heard, &renew).await?;
    messages.retain(|message| message.subject.as_str() != renew);
    assert!(messages.is_empty(), "{messages:?}");
    // A client with the renewal token receives no requests of hubs.
    let mut requests = renewer.subscribe(format!("fleet.machine.{own}.*")).await?;
    renewer.request(renew.clone(), "{}".into()).await?;
    let request = format!("fleet.machine.{own}.read");
    observer.publish(request.clone(), "{}".into()).await?;
    until(&mut heard, &request).await?;
    renewer.request(renew, "{}".into()).await?;
    assert!(requests.next().now_or_never().flatten().is_none());
    place.stop().await;
    Ok(())
}

/// Each machine's questions wait in a separate queue.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_of_questions_does_not_delay_other_machines() -> Result<()> {
    let Some(place) = TestFleet::start().await? else { return Ok(()) };
    let (a, b) = (Attacker::new(&place, "a").await?, Attacker::new(&place, "b").await?);
    a.ask(&Question::Presence(Presence::default())).await?;
    place.hub.machines().calls().ask(&b.id, "c1").await?;
    b.ask(&Question::Presence(Presence::default())).await?;
    let begin = json!({"begin": {"call": "none", "attempt": "x"}}).to_string();
    let (subject, reply) = (format!("fleet.hub.{}", a.id), format!("_INBOX_{}.x", a.id));
    for _ in 0..20_000 {
        let (subject, reply) = (subject.clone(), reply.clone());
        a.client.publish_with_reply(subject, reply, begin.clone().into()).await?;
    }
    a.client.flush().await?;
    let begin = Question::Begin { call: "c1".to_owned(), attempt: "b".to_owned() };
    // If the question had to wait for the other machine's questions, it would time out.
    let answer = tokio::time::timeout(Duration::from_secs(60), b.ask(&begin)).await??;
    assert_eq!(answer, QuestionReply::Done);
    place.stop().await;
    Ok(())
}
