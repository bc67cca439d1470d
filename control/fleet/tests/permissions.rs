//! What a machine, an invitation and a replayed call can do at a real NATS server.

use std::{path::PathBuf, sync::Arc};

use anyhow::{Result, ensure};
use async_nats::{Client, RequestErrorKind};
use futures_util::{FutureExt as _, StreamExt as _};
use serde_json::{Value, json};
use tempfile::TempDir;
use unterm_fleet::{
    Credentials,
    connector::{self, Connection, Invitation, PairReply, PairRequest},
    hub::{Hub, Listeners, Options, tokens::Right},
    machine_key_public,
    nats_server::{Fleet, Folder, NatsServer, VARIABLE, free_port},
    signature::Signer,
};

/// A NATS server, and a hub that pairs machines.
struct Place {
    folder: TempDir,
    fleet: Fleet,
    server: NatsServer,
    hub: Arc<Hub>,
    serving: tokio::task::JoinHandle<Result<()>>,
}

impl Place {
    /// `None` if there is no NATS server.
    async fn start() -> Result<Option<Self>> {
        let program = std::env::var_os(VARIABLE).map(PathBuf::from).filter(|path| path.exists());
        let Some(program) = program else {
            let why = "there is no NATS server: set UNTERM_NATS_SERVER, or run packaging/test, which installs one";
            ensure!(
                std::env::var_os("UNTERM_NEEDS_ALL").is_none(),
                "UNTERM_NEEDS_ALL is set, and {why}"
            );
            eprintln!("skipped: {why}");
            return Ok(None);
        };
        let folder = tempfile::tempdir()?;
        let fleet = Fleet::new(vec![format!("nats://127.0.0.1:{}", free_port()?)], true)?;
        let server = NatsServer::start(&Folder::new(folder.path()), &fleet, Some(&program))?;
        let hub = Arc::new(Hub::connect(&fleet, &Options::default()).await?);
        let listeners = Listeners::bind(([127, 0, 0, 1], 0).into()).await?;
        let serving = tokio::spawn({
            let hub = hub.clone();
            async move { hub.serve(listeners).await }
        });
        Ok(Some(Self { folder, fleet, server, hub, serving }))
    }

    /// A paired machine, in a home of its own.
    async fn machine(&self, name: &str) -> Result<Connection> {
        let home = self.folder.path().join(name);
        // The hub may not listen for pairings yet.
        loop {
            let invitation = self.hub.pairing().invite().await?;
            match connector::pair(&home, &invitation, false).await {
                Err(error) if format!("{error:#}").contains("no responders") => {}
                paired => return paired,
            }
        }
    }

    async fn stop(self) {
        self.serving.abort();
        self.server.stop().await;
    }
}

async fn connect(credentials: &Credentials, inbox: &str) -> Result<Client> {
    credentials.connect("test", Some(inbox), false).await
}

/// Whether a message that `speaker` publishes to `subject` reaches `listener`. `marker` is a subject that the listener
/// may receive. Its message is published last: when it arrives, every earlier message has arrived or was refused.
/// `answered` is a subject on which a request of the listener gets a reply.
async fn passes(
    speaker: &Client,
    (listener, answered): (&Client, &str),
    subject: &str,
    marker: &str,
) -> Result<bool> {
    let mut heard = listener.subscribe(subject.to_owned()).await?;
    let mut last = listener.subscribe(marker.to_owned()).await?;
    // The server handles messages in order: when it has answered this request, the subscriptions are active.
    listener.request(answered.to_owned(), "{}".into()).await?;
    speaker.publish(subject.to_owned(), "{}".into()).await?;
    speaker.publish(marker.to_owned(), "{}".into()).await?;
    speaker.flush().await?;
    // Of one message, the server may reach the second subscription before the first one. So wait for the second message.
    let markers = if subject == marker { 2 } else { 1 };
    for _ in 0..markers {
        ensure!(last.next().await.is_some(), "the connection was closed");
    }
    Ok(heard.next().now_or_never().flatten().is_some())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_machine_uses_its_own_subjects_only() -> Result<()> {
    let Some(place) = Place::start().await? else { return Ok(()) };
    let (own, other) = (place.machine("own").await?, place.machine("other").await?);
    let [a, b] = [own.machine()?, other.machine()?];
    let hub = place.fleet.credentials.connect("hub", None, false).await?;
    let machine = connect(own.credentials(), &format!("_INBOX_{a}")).await?;
    let request = format!("fleet.machine.{a}.read");
    // JetStream acknowledges what it stores.
    let presence = format!("$KV.fleet_presence.{a}");
    assert!(passes(&hub, (&machine, &presence), &request, &request).await?);
    for (spoken, subscribed) in [
        (format!("fleet.machine.{b}.read"), format!("fleet.machine.{b}.read")),
        (format!("fleet.machine.{b}.type"), "fleet.machine.>".to_owned()),
        (format!("fleet.machine.{b}.type"), "fleet.machine.*.type".to_owned()),
        (format!("_INBOX_{b}.x"), format!("_INBOX_{b}.>")),
        ("_INBOX.x".to_owned(), "_INBOX.>".to_owned()),
        (format!("$KV.fleet_presence.{b}"), "$KV.>".to_owned()),
        ("fleet.audit.x".to_owned(), ">".to_owned()),
    ] {
        let mut heard = machine.subscribe(subscribed.clone()).await?;
        let passed = passes(&hub, (&machine, &presence), &spoken, &request).await?;
        let heard = heard.next().now_or_never().flatten();
        assert!(!passed && heard.is_none(), "{subscribed}");
    }
    // It writes to its own keys only.
    for subject in [
        format!("$KV.fleet_presence.{b}"),
        format!("$KV.fleet_calls.{b}.1"),
        "$KV.fleet_tokens.0123456789abcdef".to_owned(),
        "$KV.fleet_machines.x".to_owned(),
        "fleet.audit.x".to_owned(),
        "fleet.held.x".to_owned(),
        "$JS.API.STREAM.DELETE.FLEET_AUDIT".to_owned(),
        format!("fleet.machine.{b}.type"),
    ] {
        assert!(!passes(&machine, (&hub, "$JS.API.INFO"), &subject, &presence).await?, "{subject}");
    }
    place.stop().await;
    Ok(())
}

/// JetStream answers to any subject that a message names, also if its sender may not publish there.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_machine_writes_no_other_value_by_the_answer_of_the_store() -> Result<()> {
    let Some(place) = Place::start().await? else { return Ok(()) };
    let own = place.machine("own").await?;
    let id = own.machine()?;
    let machine = connect(own.credentials(), &format!("_INBOX_{id}")).await?;
    let (token, _) = place.hub.tokens().create("agent", None, [Right::List].into(), None).await?;
    // Its own keys are in the account of machines, where no other state is.
    let state = place.fleet.state.connect("state", None, false).await?;
    let mut heard = state.subscribe(">").await?;
    state.flush().await?;
    for subject in [format!("$KV.fleet_tokens.{}", token.id), "fleet.audit.x".to_owned()] {
        let presence = format!("$KV.fleet_presence.{id}");
        machine.publish_with_reply(presence.clone(), subject.clone(), "{}".into()).await?;
        // The store handles messages in order.
        machine.request(presence, "{}".into()).await?;
        state.flush().await?;
        assert!(heard.next().now_or_never().flatten().is_none(), "{subject}");
    }
    assert!(place.hub.tokens().by_id(&token.id).await?.is_some());
    place.stop().await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_machine_claims_anothers_key_and_an_invitation_serves_once() -> Result<()> {
    let Some(place) = Place::start().await? else { return Ok(()) };
    let victim = place.machine("victim").await?;
    let key = machine_key_public(&victim.credentials().seed)?;

    let invitation = place.hub.pairing().invite().await?;
    let inbox = Invitation::inbox(&invitation.number);
    let client = connect(&invitation.credentials, &inbox).await?;
    // The proof of another key, and of another invitation.
    for signed in [invitation.number.as_str(), "0000000000000000"] {
        let attacker = nkeys_sign(&place, signed)?;
        let request = PairRequest {
            key: key.clone(),
            proof: attacker,
            name: "forged".to_owned(),
            platform: "linux".to_owned(),
        };
        let subject = Invitation::subject(&invitation.number);
        let reply = client.request(subject, serde_json::to_vec(&request)?.into()).await?;
        let PairReply::Refused(why) = serde_json::from_slice(&reply.payload)? else {
            panic!("a machine claimed another's key")
        };
        assert_eq!(why, "the machine did not sign with the key that it claims");
    }
    // A machine's NATS credentials are useless without the machine's private key.
    let stolen = Credentials {
        seed: connector::machine_key(&place.folder.path().join("thief"))?,
        ..victim.credentials().clone()
    };
    assert!(connect(&stolen, "_INBOX_x").await.is_err());

    // Used once, and for nothing but pairing.
    let home = place.folder.path().join("first");
    connector::pair(&home, &invitation, false).await?;
    let again = connector::pair(&place.folder.path().join("second"), &invitation, false).await;
    let why = format!("{:#}", again.err().expect("a used invitation"));
    assert_eq!(why, "the hub refuses: the code or invitation is wrong, was used or has expired");
    let hub = place.fleet.credentials.connect("hub", None, false).await?;
    let marker = format!("{inbox}.x");
    for subject in ["fleet.machine.x.read", "fleet.pair.x", "$KV.fleet_tokens.x", "_INBOX.x"] {
        // The hub refuses this request, and so answers it.
        let answered = Invitation::subject(&invitation.number);
        assert!(!passes(&hub, (&client, &answered), subject, &marker).await?, "{subject}");
    }
    place.stop().await;
    Ok(())
}

/// A text signed by a key of its own.
fn nkeys_sign(place: &Place, text: &str) -> Result<String> {
    use base64::Engine as _;
    let seed = connector::machine_key(&place.folder.path().join("attacker"))?;
    let key = nkeys::KeyPair::from_seed(&seed)?;
    let signature = key.sign(text.as_bytes())?;
    Ok(base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(signature))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_replayed_call_is_not_carried_out_again() -> Result<()> {
    let Some(place) = Place::start().await? else { return Ok(()) };
    let connection = place.machine("machine").await?;
    let subject = format!("fleet.machine.{}.type", connection.machine()?);
    let home = place.folder.path().join("machine");
    let hub = place.fleet.credentials.connect("hub", None, false).await?;
    let signer = Signer::new(&place.fleet.account_seed)?;
    let ask = async |call: &str| -> Result<Value> {
        let request = json!({"call": call, "sid": "none", "client": "", "parts": []});
        loop {
            let payload = request.to_string();
            let headers = signer.headers(&subject, payload.as_bytes())?;
            match hub.request_with_headers(subject.clone(), headers, payload.into()).await {
                Ok(reply) => return Ok(serde_json::from_slice(&reply.payload)?),
                // The connector does not serve yet, or has ended with the request.
                Err(error)
                    if matches!(
                        error.kind(),
                        RequestErrorKind::NoResponders | RequestErrorKind::TimedOut
                    ) => {}
                Err(error) => return Err(error.into()),
            }
        }
    };
    let options = connector::Options { home, starts_headless: false };
    let first = tokio::spawn(connector::run(connection.clone(), options.clone()));
    let reply = ask("c1").await?;
    assert!(reply["refused"].as_str().is_some_and(|why| why.contains("no session")), "{reply}");
    assert_eq!(ask("c1").await?, json!("repeated"));
    // Also after the connector was restarted.
    first.abort();
    let _ = first.await;
    let second = tokio::spawn(connector::run(connection, options));
    assert_eq!(ask("c1").await?, json!("repeated"));
    assert!(ask("c2").await?["refused"].is_string());
    for wrong in ["", "a.b", "*"] {
        let reply = ask(wrong).await?;
        assert!(
            reply["refused"].as_str().is_some_and(|why| why.contains("a call's id")),
            "{reply}"
        );
    }
    // Whoever else speaks for the hub, as on the port of a NATS server that has ended, is not obeyed.
    let (request, stranger) = (json!({"sid": "none"}).to_string(), Fleet::new(Vec::new(), false)?);
    for verb in ["sessions", "read", "type"] {
        let subject = subject.replace("type", verb);
        let foreign = Signer::new(&stranger.account_seed)?.headers(&subject, request.as_bytes())?;
        for headers in [async_nats::HeaderMap::new(), foreign] {
            let payload = request.clone().into();
            let reply = hub.request_with_headers(subject.clone(), headers, payload).await?;
            let reply: Value = serde_json::from_slice(&reply.payload)?;
            let why = reply["refused"].as_str().unwrap_or_default();
            assert!(why.starts_with("the request is not signed"), "{verb}: {reply}");
        }
    }
    second.abort();
    place.stop().await;
    Ok(())
}
