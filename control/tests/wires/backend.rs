//! Tests of typed calls, with the same code for an instance in this process and for another instance over a connection:
//! deadlines, cancellation, events, and the calls that a caller may not make on another instance.

use std::time::Duration;

use crate::support::{Fixture, PATIENCE};
use tokio::time::{Instant, timeout};
use unterm_control::{
    Access, Caller, Denial, Error, Scopes,
    backend::{Backend, Calls, Request},
    client::{self, Endpoint, Remote},
    methods::{
        cells::{Cells, CellsParams},
        events::{EventKind, SubscribeParams},
        exec::{RunWait, RunWaitParams},
        layout::{Rename, RenameParams},
        lease::{Lease, LeaseParams},
        params::{NoParams, SessionOnly},
        screen::Text,
        server::Info,
        session::{Create, CreateParams, Destroy, Input, InputParams, List},
        token,
        wait::{Awaited, Watch, WatchParams},
    },
};

type Result<T> = std::result::Result<T, Error>;

/// The instance of a fixture, as another instance accesses it.
fn remote(fixture: &Fixture) -> Remote {
    Remote::new(client::find(&fixture.registry()).remove(0), Some("test"))
}

fn owner() -> Caller {
    Caller::of_user(Some("test"))
}

/// Runs a task on the instance in this process, and on the same instance over a connection.
fn on_both(task: impl AsyncFn(&dyn Backend, &Caller)) {
    let fixture = Fixture::new();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let task = async |backend: &dyn Backend| {
        timeout(PATIENCE, task(backend, &owner())).await.expect("the task ends");
    };
    runtime.block_on(async {
        task(&*fixture.server().backend()).await;
        task(&remote(&fixture)).await;
    });
}

async fn opened(backend: &dyn Backend, caller: &Caller) -> u64 {
    let program = CreateParams { program: "sh".into(), ..CreateParams::default() };
    backend.call::<Create>(caller, program).await.unwrap().id
}

/// A typical task of an agent: opens a pane, runs a command, waits, reads the screen and closes the pane.
async fn agent_task(backend: &dyn Backend, caller: &Caller) -> Result<()> {
    let pane = opened(backend, caller).await;
    let command =
        RunWaitParams { command: "echo $((6 * 7)); false".into(), ..RunWaitParams::of(pane) };
    let ran = backend.call::<RunWait>(caller, command).await?;
    assert_eq!((ran.output.as_str(), ran.exit_code, ran.timed_out), ("42", Some(1), false));
    let input = InputParams { input: "echo rea''dy\r".into(), ..InputParams::of(pane) };
    backend.call::<Input>(caller, input).await?;
    let ready = vec![Awaited::Text("ready".to_owned())];
    let wait = WatchParams { any: ready.into(), ..WatchParams::of(pane) };
    let seen = backend.call::<Watch>(caller, wait).await?;
    let line = seen.conditions[0].text.as_deref().unwrap();
    // Without integration, the shell may draw its prompt only after the input was echoed.
    assert!(seen.matched && line.ends_with("ready"), "{line}");
    let text = backend.call::<Text>(caller, SessionOnly::of(pane)).await?.fields().unwrap();
    assert!(text.lines.iter().any(|it| it == line));
    let cells = backend.call::<Cells>(caller, CellsParams::of(pane)).await?;
    assert_eq!(cells.cols, text.cols);
    backend.call::<Destroy>(caller, SessionOnly::of(pane)).await?;
    let left = backend.call::<List>(caller, NoParams {}).await?;
    assert!(left.sessions.iter().all(|session| session.id != pane));
    Ok(())
}

#[test]
fn an_agents_task_is_the_same_here_and_elsewhere() {
    on_both(async |backend, caller| agent_task(backend, caller).await.unwrap());
}

#[test]
fn refusals_have_the_same_words() {
    on_both(async |backend, caller| {
        let refused = backend.call::<Text>(caller, SessionOnly::of(99)).await.err().unwrap();
        assert!(refused.to_string().contains("Session 99 not found"), "{refused}");
    });
}

#[test]
fn a_call_is_given_up_at_its_deadline() {
    on_both(async |backend, caller| {
        let pane = opened(backend, caller).await;
        let command = RunWaitParams { command: "cat".into(), ..RunWaitParams::of(pane) };
        let deadline = Some(Instant::now() + Duration::from_millis(50));
        let late = backend.call_until::<RunWait>(caller, command, deadline).await;
        assert!(matches!(late, Err(Error::Deadline(method)) if method == "exec.run_wait"));
        // The instance still serves this caller.
        backend.call::<Info>(caller, NoParams {}).await.unwrap();
    });
}

#[test]
fn calls_at_the_same_time_do_not_wait_for_each_other() {
    on_both(async |backend, caller| {
        let pane = opened(backend, caller).await;
        let wait = WatchParams {
            any: vec![Awaited::Text("go on".to_owned())].into(),
            ..WatchParams::of(pane)
        };
        let waiting = backend.call::<Watch>(caller, wait);
        let typing = async {
            let input = InputParams { input: "echo go' 'on\r".into(), ..InputParams::of(pane) };
            backend.call::<Input>(caller, input).await
        };
        let (seen, typed) = tokio::join!(waiting, typing);
        assert!(seen.unwrap().matched);
        typed.unwrap();
    });
}

#[test]
fn events_come_until_the_subscription_is_dropped() {
    on_both(async |backend, caller| {
        let pane = opened(backend, caller).await;
        let kinds = vec![EventKind("title".to_owned())];
        let filter = SubscribeParams { events: kinds.into(), id: pane.into() };
        let mut events = backend.subscribe(caller, filter).await.unwrap();
        for title in ["kitten", "cat"] {
            let rename = RenameParams { title: title.into(), ..RenameParams::of(pane) };
            backend.call::<Rename>(caller, rename).await.unwrap();
            let event = events.next().await.expect("an event");
            assert_eq!((&event["event"], &event["title"]), (&"title".into(), &title.into()));
        }
    });
}

#[test]
fn a_subscription_says_that_the_instance_is_gone() {
    let mut fixture = Fixture::new();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let remote = remote(&fixture);
    let events = runtime.block_on(remote.subscribe(&owner(), SubscribeParams::default()));
    let mut events = events.unwrap();
    fixture.server.take().unwrap().stop();
    let last = runtime.block_on(async {
        timeout(PATIENCE, async { while events.next().await.is_some() {} }).await
    });
    last.expect("the events end");
    let error = runtime.block_on(remote.call::<Info>(&owner(), NoParams {})).err().unwrap();
    assert!(matches!(error, Error::Remote(_)), "{error}");
}

#[test]
fn a_dropped_call_is_given_up_by_the_other_instance() {
    let fixture = Fixture::new();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let by_socket = client::find(&fixture.registry()).remove(0);
    let by_port = Endpoint { socket: None, ..by_socket.clone() };
    let (other, owner) = (remote(&fixture), owner());
    for endpoint in [by_socket, by_port] {
        runtime.block_on(async {
            let remote = Remote::new(endpoint, Some("test"));
            let pane = opened(&remote, &owner).await;
            // A lease ends with its connection.
            remote.call::<Lease>(&owner, LeaseParams::of(pane)).await.unwrap();
            let lease = async || other.call::<Lease>(&owner, LeaseParams::of(pane)).await;
            assert!(lease().await.is_err(), "the lease is the first client's");
            let wait = WatchParams {
                any: vec![Awaited::Text("never".to_owned())].into(),
                timeout_ms: u64::from(u32::MAX).into(),
                ..WatchParams::of(pane)
            };
            let waiting = timeout(Duration::from_millis(50), remote.call::<Watch>(&owner, wait));
            assert!(waiting.await.is_err(), "it waits");
            let free = async { while lease().await.is_err() {} };
            // The lease would have ended by itself after a minute.
            timeout(Duration::from_secs(30), free).await.expect("the connection ends");
        });
    }
}

#[test]
fn a_caller_can_do_no_more_elsewhere_than_here() {
    let fixture = Fixture::new();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let remote = remote(&fixture);
    let mut reader = owner();
    reader.scopes = Scopes::READ;
    let mut bound = owner();
    bound.panes = Some([1].into());
    runtime.block_on(async {
        remote.call::<List>(&reader, NoParams {}).await.unwrap();
        let refused = remote.call::<Create>(&reader, CreateParams::default()).await;
        let Err(Error::Denied(Denial::Scope { needs, .. })) = refused else {
            panic!("not refused")
        };
        assert_eq!(needs, Access::Act);
        let refused = remote.call::<token::List>(&reader, NoParams {}).await;
        assert!(matches!(refused, Err(Error::Denied(_))));
        // A token for some panes of this instance gives no access to the panes of the other instance.
        let refused = remote.call::<Text>(&bound, SessionOnly::of(1)).await;
        assert!(matches!(refused, Err(Error::Denied(Denial::Sessions { .. }))));
        let unknown = Request { method: "no.such", params: "", deadline: None };
        let refused = remote.call_json(&owner(), unknown).await;
        assert!(matches!(refused, Err(Error::Unknown(_))));
    });
    assert!(fixture.mux.panes().is_empty(), "nothing was opened");
}
