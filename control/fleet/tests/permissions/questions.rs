//! Tests what hubs store for a machine: the machine's own state, and no more than its share.

use anyhow::Result;
use futures_util::{FutureExt as _, StreamExt as _};
use serde_json::json;
use unterm_fleet::protocol::{
    LONGEST_OUTCOME, Presence, Program, Question, QuestionReply, Reply, Session,
};

use crate::test_fleet::{Attacker, TestFleet};

fn begin(call: &str, attempt: &str) -> Question {
    Question::Begin { call: call.to_owned(), attempt: attempt.to_owned() }
}

fn end(call: &str, text: &str) -> Question {
    Question::End { call: call.to_owned(), reply: Reply::Done(json!(text)) }
}

fn is_refused(answer: &QuestionReply) -> bool {
    matches!(answer, QuestionReply::Refused(_))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_machine_can_change_only_its_own_calls() -> Result<()> {
    let Some(place) = TestFleet::start().await? else { return Ok(()) };
    let (a, b) = (Attacker::new(&place, "a").await?, Attacker::new(&place, "b").await?);
    let calls = place.hub.machines().calls();
    calls.ask(&a.id, "own").await?;
    calls.ask(&b.id, "foreign").await?;
    let foreign = format!("{}.foreign", b.id);
    for call in ["never", "foreign", foreign.as_str(), "", "*", ">", "a b", "hub.own"] {
        assert!(is_refused(&a.ask(&begin(call, "x")).await?), "{call}");
        assert!(is_refused(&a.ask(&end(call, "x")).await?), "{call}");
    }
    assert!(is_refused(&a.ask(&begin("own", "")).await?));
    assert!(is_refused(&a.ask(&begin("own", &"x".repeat(65))).await?));
    assert!(is_refused(&a.ask(&end("own", "before it began")).await?));
    assert!(is_refused(&a.ask_raw(b"{".to_vec()).await?));
    // A question that is repeated because its answer was lost is recognized, and a second try can't begin the call.
    for (attempt, answer) in [
        ("first", QuestionReply::Done),
        ("first", QuestionReply::Done),
        ("second", QuestionReply::BegunBefore),
        ("first", QuestionReply::Done),
    ] {
        assert_eq!(a.ask(&begin("own", attempt)).await?, answer, "{attempt}");
    }
    // If a hub sends the call again, its state remains.
    calls.ask(&a.id, "own").await?;
    assert_eq!(a.ask(&begin("own", "third")).await?, QuestionReply::BegunBefore);
    let is_too_long = a.ask(&end("own", &"x".repeat(LONGEST_OUTCOME))).await?;
    assert!(is_refused(&is_too_long));
    for text in ["first", "second"] {
        assert_eq!(a.ask(&end("own", text)).await?, QuestionReply::Done);
        assert_eq!(calls.outcome(&a.id, "own").await?, Some(Reply::Done(json!("first"))));
    }
    assert_eq!(b.ask(&begin("foreign", "b")).await?, QuestionReply::Done);
    place.stop().await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_machine_can_fill_only_its_own_share() -> Result<()> {
    let Some(place) = TestFleet::start().await? else { return Ok(()) };
    let (a, b) = (Attacker::new(&place, "a").await?, Attacker::new(&place, "b").await?);
    let calls = place.hub.machines().calls();
    let outcome = "x".repeat(LONGEST_OUTCOME / 2);
    let (mut kept, mut refused) = (0, 0);
    for number in 0..64 {
        let call = format!("c{number}");
        calls.ask(&a.id, &call).await?;
        // The machine may type even when its outcomes are refused.
        assert_eq!(a.ask(&begin(&call, "a")).await?, QuestionReply::Done);
        match a.ask(&end(&call, &outcome)).await? {
            QuestionReply::Done => kept += 1,
            QuestionReply::Refused(_) => refused += 1,
            answer => panic!("{answer:?}"),
        }
    }
    assert!(kept >= 16 && refused >= 16, "{kept} outcomes were kept, and {refused} refused");
    calls.ask(&b.id, "c").await?;
    assert_eq!(b.ask(&begin("c", "b")).await?, QuestionReply::Done);
    assert_eq!(b.ask(&end("c", &outcome)).await?, QuestionReply::Done);
    place.stop().await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_presence_is_bounded_and_rarely_stored() -> Result<()> {
    let Some(place) = TestFleet::start().await? else { return Ok(()) };
    let a = Attacker::new(&place, "a").await?;
    let long = "\u{1b}".repeat(500);
    let session = |number: usize| Session {
        sid: format!("{number:012x}"),
        ai: Some(long.clone()),
        cwd: long.clone(),
        title: long.clone(),
        instance: long.clone(),
    };
    let program = Program { binary: long.clone(), version: long.clone(), running: true };
    let huge = Presence {
        name: long.clone(),
        platform: long.clone(),
        version: long.clone(),
        scan: (0..8).map(|number| (format!("{number}{long}"), program.clone())).collect(),
        sessions: (0..40).map(session).collect(),
    };
    assert_eq!(a.ask(&Question::Presence(huge.clone())).await?, QuestionReply::Done);
    let client = place.fleet.state.connect("state", None, false).await?;
    let store = async_nats::jetstream::new(client).get_key_value("fleet_presence").await?;
    let stored = store.get(a.id.as_str()).await?.expect("a presence");
    assert!(stored.len() <= unterm_fleet::protocol::LONGEST_PRESENCE, "{}", stored.len());
    // Of 20 presences in quick succession, few are stored.
    let revision = async || anyhow::Ok(store.entry(a.id.as_str()).await?.expect("it").revision);
    let before = revision().await?;
    let mut stored = 0;
    for _ in 0..20 {
        stored += u64::from(a.ask(&Question::Presence(huge.clone())).await? == QuestionReply::Done);
    }
    assert_eq!(revision().await?, before + stored);
    assert!(stored < 20);
    place.stop().await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_machine_that_never_answers_does_not_delay_each_list() -> Result<()> {
    let Some(place) = TestFleet::start().await? else { return Ok(()) };
    let a = Attacker::new(&place, "a").await?;
    let mut requests = a.client.subscribe(format!("fleet.machine.{}.*", a.id)).await?;
    a.client.flush().await?;
    let machines = place.hub.machines();
    while !machines.is_paired(&a.id) {
        machines.load().await?;
    }
    // The first lists can come before the server knows the subscription.
    while machines.list(|id| *id == a.id).await[0].status == "offline" {}
    for _ in 0..2 {
        let listed = machines.list(|id| *id == a.id).await;
        assert_eq!(listed.len(), 1);
        assert_eq!(listed[0].status, "connected");
    }
    // Later lists did not ask the machine, so they did not wait for it.
    a.client.flush().await?;
    let mut asked = 0;
    while requests.next().now_or_never().flatten().is_some() {
        asked += 1;
    }
    assert_eq!(asked, 1);
    place.stop().await;
    Ok(())
}
