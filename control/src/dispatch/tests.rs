//! Tests of calls that are allowed, denied or held, and of panics in methods.

use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::oneshot;
use unterm_mux::{Mux, MuxOptions};
use unterm_term::{Options, Size};

use super::*;
use crate::{
    Headless,
    caller::{Access, Capabilities, Scopes, TokenKind, Wire},
    registry::Registration,
    services::people::approvals::Approval,
};

pub(crate) fn dispatcher(gates: Vec<Arc<dyn Gate>>) -> (tempfile::TempDir, Dispatcher) {
    let home = tempfile::tempdir().unwrap();
    let mux = Mux::new(MuxOptions {
        term: Options::default(),
        default_size: Size::cells(120, 30),
        env: Vec::new(),
        sized_by_window: false,
    });
    let (registration, fault) = Registration::with_page(home.path(), 1, 2, "token".to_owned());
    assert!(fault.is_none());
    let registration = Arc::new(registration);
    let context = Context::new(
        mux,
        Arc::new(Headless),
        registration,
        Approval::Allow,
        methods::names_by_group,
    );
    (home, Dispatcher::new(context, gates))
}

pub(crate) fn caller(scopes: Scopes) -> Caller {
    Caller {
        wire: Wire::Tcp,
        connection: 1,
        token: TokenKind::Instance,
        client: None,
        conversation: None,
        scopes,
        panes: None,
        capabilities: Capabilities::at_login(TokenKind::Instance, false),
        opener: None,
        process: None,
        approved: None,
        subscription: Default::default(),
        signals: Default::default(),
    }
}

async fn call(dispatcher: &Dispatcher, scopes: Scopes, method: &str) -> Result<String> {
    let mut reply = b"before ".to_vec();
    let result = dispatcher.call_into(&caller(scopes), method, "", &mut reply).await;
    if result.is_err() {
        assert_eq!(reply, b"before ", "a failed call leaves the reply alone");
    }
    result.map(|()| String::from_utf8(reply).unwrap())
}

#[tokio::test]
async fn a_call_appends_its_reply_and_an_unknown_one_nothing() {
    let (_home, dispatcher) = dispatcher(Vec::new());
    let reply = call(&dispatcher, Scopes::all(), "server.info").await.unwrap();
    assert!(reply.starts_with("before {\"name\":\"Unterm MCP Server\""), "{reply}");
    let error = call(&dispatcher, Scopes::all(), "nope.nope").await.unwrap_err();
    assert_eq!(error.to_string(), "Unknown method: nope.nope");
}

#[tokio::test]
async fn scopes_bound_what_a_caller_may_do() {
    let (_home, dispatcher) = dispatcher(Vec::new());
    for entry in crate::methods::METHODS {
        let denied = call(&dispatcher, Scopes::empty(), entry.name).await.unwrap_err();
        assert!(matches!(denied, Error::Denied(_)), "{}", entry.name);
        let enough = match entry.access {
            Access::Read => Scopes::READ,
            Access::Act => Scopes::ACT,
            Access::Admin => Scopes::ADMIN,
        };
        let denied = call(&dispatcher, enough.complement(), entry.name).await;
        assert!(matches!(denied, Err(Error::Denied(_))), "{}", entry.name);
    }
    assert!(call(&dispatcher, Scopes::READ, "session.list").await.is_ok());
}

#[tokio::test]
async fn calls_with_unreadable_parameters_do_not_run() {
    let (_home, dispatcher) = dispatcher(Vec::new());
    let bound = Caller { panes: Some([1].into()), ..caller(Scopes::all()) };
    for odd in ["1e999".to_owned(), "[".repeat(200) + &"]".repeat(200)] {
        let params = format!(r#"{{"id": 2, "input": "x", "odd": {odd}}}"#);
        let reply = &mut Vec::new();
        let called =
            dispatcher.call_into(&caller(Scopes::all()), "session.input", &params, reply).await;
        assert!(matches!(called, Err(Error::Params(_))), "{called:?}");
        let called = dispatcher.call_into(&bound, "events.subscribe", &params, reply).await;
        assert!(matches!(called, Err(Error::Denied(_))), "{called:?}");
    }
}

/// Denies one method, and holds another until the test decides.
struct Approver {
    answer: parking_lot::Mutex<Option<oneshot::Receiver<bool>>>,
    asked: AtomicUsize,
}

impl Gate for Approver {
    fn decide(&self, caller: &Caller, method: &Entry, _params: &str) -> Decision {
        self.asked.fetch_add(1, Ordering::Relaxed);
        assert_eq!(caller.connection, 1);
        match method.name {
            "system.info" => Decision::deny("not today"),
            "server.health" => {
                let answer = self.answer.lock().take().unwrap();
                Decision::Hold(Box::pin(async move {
                    match answer.await {
                        Ok(true) => Decision::Allow,
                        _ => Decision::deny("refused"),
                    }
                }))
            }
            _ => Decision::Allow,
        }
    }
}

#[tokio::test]
async fn a_gate_allows_denies_or_holds() {
    for approve in [true, false] {
        let (answer, answered) = oneshot::channel();
        let gate = Arc::new(Approver {
            answer: parking_lot::Mutex::new(Some(answered)),
            asked: AtomicUsize::new(0),
        });
        let (_home, dispatcher) = dispatcher(vec![gate.clone()]);
        assert!(call(&dispatcher, Scopes::all(), "server.info").await.is_ok());
        let error = call(&dispatcher, Scopes::all(), "system.info").await.unwrap_err();
        assert_eq!(error.to_string(), "Not allowed: not today");

        let mut held = std::pin::pin!(call(&dispatcher, Scopes::all(), "server.health"));
        let first = poll_fn(|context| Poll::Ready(held.as_mut().poll(context).is_pending()));
        assert!(first.await, "it is held");
        answer.send(approve).unwrap();
        let reply = held.await;
        assert_eq!(reply.is_ok(), approve);
        assert_eq!(gate.asked.load(Ordering::Relaxed), 3);
    }
}

#[tokio::test]
async fn a_panic_is_an_outcome() {
    let quiet = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let text = unwound::<()>(Box::pin(async { panic!("with {}", "words") })).await.unwrap_err();
    let later = unwound::<()>(Box::pin(async {
        tokio::task::yield_now().await;
        panic!("late")
    }));
    let later = later.await.unwrap_err();
    std::panic::set_hook(quiet);
    assert_eq!(panic_message(text.as_ref()), "with words");
    assert_eq!(panic_message(later.as_ref()), "late");
    assert_eq!(unwound(Box::pin(async { 7 })).await.unwrap(), 7);
}
