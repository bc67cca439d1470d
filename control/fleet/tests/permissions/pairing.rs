//! Tests of pairing, and of calls that are sent again.

use anyhow::Result;
use async_nats::RequestErrorKind;
use serde_json::{Value, json};
use unterm_fleet::{
    Credentials,
    connector::{self, Invitation, PairReply, PairRequest},
    machine_key_public,
    nats_server::Fleet,
    signature::Signer,
};

use crate::test_fleet::{TestFleet, connect, passes};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_machine_needs_its_own_key_and_an_unused_invitation() -> Result<()> {
    let Some(place) = TestFleet::start().await? else { return Ok(()) };
    let victim = place.machine("victim").await?;
    let key = machine_key_public(&victim.credentials().seed)?;

    let invitation = place.hub.pairing().invite().await?;
    let inbox = Invitation::inbox(&invitation.number);
    let client = connect(&invitation.credentials, &inbox).await?;
    // The proof is signed by another key, or for another invitation.
    for signed in [invitation.number.as_str(), "0000000000000000"] {
        let attacker = nkeys_sign(&place, signed)?;
        let request = PairRequest {
            key: key.clone(),
            proof: attacker,
            name: "forged".to_owned(),
            platform: "linux".to_owned(),
            renews: true,
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

    // An invitation works once, and only for pairing.
    let home = place.folder.path().join("first");
    connector::pair(&home, &invitation, false).await?;
    let again = connector::pair(&place.folder.path().join("second"), &invitation, false).await;
    let why = format!("{:#}", again.err().expect("a used invitation"));
    assert_eq!(why, "the hub refuses: the code or invitation is wrong, was used or has expired");
    let hub = place.fleet.credentials.connect("hub", None, false).await?;
    let marker = format!("{inbox}.x");
    for subject in ["fleet.machine.x.read", "fleet.pair.x", "$KV.fleet_tokens.x", "_INBOX.x"] {
        // The hub's answer is that it refuses this request.
        let answered = Invitation::subject(&invitation.number);
        assert!(!passes(&hub, (&client, &answered), subject, &marker).await?, "{subject}");
    }
    place.stop().await;
    Ok(())
}

/// A text, signed with a key of the attacker.
fn nkeys_sign(place: &TestFleet, text: &str) -> Result<String> {
    use base64::Engine as _;
    let seed = connector::machine_key(&place.folder.path().join("attacker"))?;
    let key = nkeys::KeyPair::from_seed(&seed)?;
    let signature = key.sign(text.as_bytes())?;
    Ok(base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(signature))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_replayed_call_is_not_carried_out_again() -> Result<()> {
    let Some(place) = TestFleet::start().await? else { return Ok(()) };
    let connection = place.machine("machine").await?;
    let machine = connection.machine()?;
    let subject = format!("fleet.machine.{machine}.type");
    let home = place.folder.path().join("machine");
    let hub = place.fleet.credentials.connect("hub", None, false).await?;
    let signer = Signer::new(&place.fleet.account_seed)?;
    let ask = async |call: &str| -> Result<Value> {
        let request = json!({"call": call, "sid": "none", "client": "", "parts": []});
        // A hub stores this before it sends a call.
        let _ = place.hub.machines().calls().ask(&machine, call).await;
        loop {
            let payload = request.to_string();
            let headers = signer.headers(&subject, payload.as_bytes())?;
            match hub.request_with_headers(subject.clone(), headers, payload.into()).await {
                Ok(reply) => return Ok(serde_json::from_slice(&reply.payload)?),
                // The connector does not serve yet, or ended during the request.
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
    // The call is not repeated after the connector was restarted, either.
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
    // A connector refuses the requests of anyone else, such as of another program on the port of a NATS server that has
    // ended.
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
