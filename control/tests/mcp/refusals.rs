//! Tests of refusals of `run`: a caller that follows the advice of a refusal can then run its command.
//!
//! Each refusal is one row of the table. Texts are compared only where the advice names an action that must be
//! possible.

use serde_json::{Value, json};
use unterm_control::Approval;
use unterm_mux::{Pane, PaneId};

use crate::support::{self, Fixture, Wire, client::Client};

/// A pane that an agent uses, and in which a user types.
struct Scene {
    fixture: Fixture,
    agent: Client,
    user: Wire,
    pane: u64,
}

impl Scene {
    /// A scene with a bash that has shell integration.
    fn new() -> Self {
        let fixture = Fixture::new();
        let mut agent = Client::old(&fixture);
        let pane = agent.shell(&fixture);
        let user = fixture.login();
        Self { fixture, agent, user, pane }
    }

    fn on(&self, mut arguments: Value) -> Value {
        arguments["pane"] = json!(self.pane);
        arguments
    }

    fn pane(&self) -> std::sync::Arc<Pane> {
        self.fixture.mux.pane(PaneId(self.pane)).unwrap()
    }

    /// Types keys in the window, as the user.
    fn presses(&self, keys: &str) {
        self.pane().touch();
        self.pane().write(keys.as_bytes()).unwrap();
    }

    fn input(&mut self, arguments: Value) -> Value {
        let arguments = self.on(arguments);
        self.agent.call("input", arguments)
    }

    fn until(&mut self, condition: Value) {
        let wait = self.on(json!({"any": [condition], "include_typed": true}));
        self.agent.until(wait);
    }

    /// The reason that a command is refused. Checks that the command was not typed.
    fn refused(&mut self) -> String {
        let before = self.pane().inputs();
        let run = self.on(json!({"command": "echo refused"}));
        let why = self.agent.fail("run", run);
        assert_eq!(self.pane().inputs(), before, "something was typed: {why}");
        why
    }

    /// Checks that a command runs after the advice was followed.
    fn runs(&mut self, name: &str) {
        let run = self.on(json!({"command": "echo after; (exit 3)"}));
        let ran = self.agent.call("run", run);
        assert_eq!(
            (&ran["output"], &ran["exit_code"]),
            (&json!("after"), &json!(3)),
            "{name}: {ran}"
        );
    }

    /// Repeats a command that is refused until the user pauses.
    fn tries_again(&mut self) -> Value {
        let end = std::time::Instant::now() + support::PATIENCE;
        loop {
            let run = self.on(json!({"command": "echo again"}));
            let ran = self.agent.tool("run", run);
            let text = ran["content"][0]["text"].as_str().unwrap_or_default();
            if !text.contains("pressed a key") {
                return ran;
            }
            assert!(std::time::Instant::now() < end, "{text}");
            std::thread::yield_now();
        }
    }
}

/// A situation in which `run` is refused, with the actions that the refusal advises.
struct Case {
    name: &'static str,
    enters: fn(&mut Scene),
    /// Texts that the refusal must contain, because the caller follows them.
    advises: &'static [&'static str],
    follows: fn(&mut Scene),
}

const CASES: &[Case] = &[
    Case {
        name: "an unfinished line, cleared",
        enters: |it| {
            it.input(json!({"text": "echo begun"}));
            it.until(json!({"text": "echo begun"}));
        },
        advises: &["ctrl+c"],
        follows: |it| {
            it.input(json!({"keys": ["ctrl+c"]}));
        },
    },
    Case {
        name: "an unfinished line, entered",
        enters: |it| {
            it.input(json!({"text": "echo begun"}));
            it.until(json!({"text": "echo begun"}));
        },
        advises: &["until it is entered"],
        follows: |it| {
            it.input(json!({"keys": ["enter"]}));
        },
    },
    Case {
        name: "a quote that is not closed",
        enters: |it| {
            it.input(json!({"text": "echo 'begun\n"}));
            it.until(json!({"regex": "^> ?$"}));
        },
        advises: &["ctrl+c", "input"],
        follows: |it| {
            it.input(json!({"keys": ["ctrl+c"]}));
        },
    },
    Case {
        name: "the user's line",
        enters: |it| {
            it.presses("echo theirs");
            it.until(json!({"text": "echo theirs"}));
        },
        advises: &["until they enter it"],
        follows: |it| {
            it.presses("\r");
            it.until(json!({"regex": "^theirs$"}));
            let ran = it.tries_again();
            assert_eq!(ran["structuredContent"]["output"], "again", "{ran}");
        },
    },
    Case {
        name: "the user's keys",
        enters: |it| it.presses("\x15"),
        advises: &["once they pause"],
        follows: |it| {
            let ran = it.tries_again();
            assert_eq!(ran["structuredContent"]["output"], "again", "{ran}");
        },
    },
    Case {
        name: "a program that runs, awaited",
        enters: |it| {
            let begun = it.on(json!({"command": "read -t 3 A", "timeout_ms": 0}));
            it.agent.call("run", begun);
        },
        advises: &["Wait for its end"],
        follows: |it| {
            let wait = it.on(json!({"any": [{"prompt": true}]}));
            it.agent.until(wait);
        },
    },
    Case {
        name: "a program that reads, answered",
        enters: |it| {
            let begun = it.on(json!({"command": "read -r -p 'Go? ' A", "timeout_ms": 0}));
            it.agent.call("run", begun);
            it.until(json!({"text": "Go?"}));
        },
        advises: &["input"],
        follows: |it| {
            it.input(json!({"text": "yes\n", "wait_any": [{"prompt": true}]}));
        },
    },
    Case {
        name: "a full-screen program, left",
        enters: |it| {
            let script = "sh -c 'printf \"\\033[?1049h\"; read -r A; printf \"\\033[?1049l\"'";
            let begun = it.on(json!({"command": script, "timeout_ms": 0}));
            it.agent.call("run", begun);
        },
        advises: &["input"],
        follows: |it| {
            it.input(json!({"keys": ["enter"], "wait_any": [{"prompt": true}]}));
        },
    },
    Case {
        name: "a program that a key of the line editor started",
        enters: |it| {
            let binds = it.on(json!({"command": "bind -x '\"\\C-t\": cat'"}));
            it.agent.call("run", binds);
            it.input(json!({"keys": ["ctrl+t"]}));
            support::until("cat in the foreground", || {
                let front = it.pane().foreground()?;
                front.name.ends_with("cat").then_some(())
            });
        },
        advises: &["cat", "input"],
        follows: |it| {
            it.input(json!({"keys": ["ctrl+c"]}));
        },
    },
    Case {
        name: "a shell without marks that reads",
        enters: |it| {
            let opened = it.agent.call("pane_open", json!({"command": ["dash"]}));
            it.pane = opened["pane"].as_u64().unwrap();
            it.until(json!({"prompt": true}));
            it.input(json!({"text": "read -r A\n", "wait_any": [{"stable_ms": 300}]}));
        },
        advises: &["input"],
        follows: |it| {
            let shown = it.on(json!({}));
            it.agent.call("screen", shown);
            it.input(json!({"text": "yes\n", "wait_any": [{"prompt": true}]}));
        },
    },
    Case {
        name: "a lease of another caller",
        enters: |it| {
            let id = it.pane;
            it.user.call("session.lease", json!({"id": id}));
        },
        advises: &["leased by"],
        follows: |it| {
            let id = it.pane;
            it.user.call("session.release", json!({"id": id}));
        },
    },
    Case {
        name: "a lease that the user's key ended, taken anew",
        enters: |it| {
            let lease = it.on(json!({}));
            it.agent.call("lease", lease);
            it.presses("\x15");
        },
        advises: &["anew"],
        follows: |it| {
            let lease = it.on(json!({}));
            let end = std::time::Instant::now() + support::PATIENCE;
            while it.agent.tool("lease", lease.clone())["isError"] == true {
                assert!(std::time::Instant::now() < end, "there is no new lease");
                std::thread::yield_now();
            }
        },
    },
    Case {
        name: "a lease that the user's key ended, given back",
        enters: |it| {
            let lease = it.on(json!({}));
            it.agent.call("lease", lease);
            it.presses("\x15");
        },
        advises: &["give it back"],
        follows: |it| {
            let release = it.on(json!({"release": true}));
            it.agent.call("lease", release);
            let ran = it.tries_again();
            assert_eq!(ran["structuredContent"]["output"], "again", "{ran}");
        },
    },
    Case {
        name: "a secret that the user types",
        enters: asks_for_a_secret,
        advises: &["wait until they have"],
        follows: |it| {
            it.pane().write(b"hunter2\r").unwrap();
            // The command may have ended before the wait begins.
            let wait = it.on(json!({"any": [{"prompt": true}]}));
            it.agent.until(wait);
        },
    },
    Case {
        name: "a secret, given up",
        enters: asks_for_a_secret,
        advises: &["ctrl+c"],
        follows: |it| {
            it.input(json!({"keys": ["ctrl+c"], "wait_any": [{"prompt": true}]}));
        },
    },
    Case {
        name: "what may be a secret",
        enters: |it| {
            let script = "stty -icanon -echo; printf '\\033[?1049hPassword: '; read -r A; \
                          printf '\\033[?1049l'; stty sane";
            let begun = it.on(json!({"command": script, "timeout_ms": 0}));
            it.agent.call("run", begun);
            it.until(json!({"text": "Password:"}));
        },
        advises: &["no_secret: true"],
        follows: |it| {
            let wait = json!([{"prompt": true}]);
            it.input(json!({"text": "an answer\n", "no_secret": true, "wait_any": wait}));
        },
    },
    Case {
        name: "a pane that has ended",
        enters: |it| {
            let opened = it.agent.call("pane_open", json!({"command": ["true"]}));
            it.pane = opened["pane"].as_u64().unwrap();
            it.until(json!({"exit": true}));
        },
        advises: &["has ended"],
        follows: |it| it.pane = it.agent.shell(&it.fixture),
    },
];

fn asks_for_a_secret(it: &mut Scene) {
    let begun = it.on(json!({"command": "printf 'Password: '; read -rs P"}));
    let asked = it.agent.call("run", begun);
    assert_eq!(asked["awaiting_secret"], true, "{asked}");
}

#[test]
fn the_advice_of_each_refusal_works() {
    std::thread::scope(|scope| {
        for case in CASES {
            scope.spawn(move || {
                let mut scene = Scene::new();
                (case.enters)(&mut scene);
                let why = scene.refused();
                let lower = why.to_lowercase();
                let has = |advice: &&str| lower.contains(&advice.to_lowercase());
                assert!(case.advises.iter().any(has), "{}: {why}", case.name);
                (case.follows)(&mut scene);
                scene.runs(case.name);
            });
        }
    });
}

#[test]
fn a_line_that_is_blocked_leaves_the_prompt_to_others() {
    let mut scene = Scene::new();
    let rules = json!({"enabled": true, "allowed_patterns": [], "blocked_patterns": ["refused"]});
    scene.user.call("policy.set", rules);
    let why = scene.refused();
    assert!(why.starts_with("Command blocked by policy"), "{why}");
    scene.runs("another line");
}

#[test]
fn an_approval_lets_the_same_command_run() {
    let mut scene = Scene::new();
    scene.fixture.server().set_approval(Approval::Ask);
    let run = scene.on(json!({"command": "echo asked"}));
    let asked = scene.agent.begin("tools/call", json!({"name": "run", "arguments": run}));
    let number = support::question(scene.fixture.server()).number;
    scene.fixture.server().answers().give(number, "once").unwrap();
    let ran = scene.agent.end(asked);
    assert_eq!(ran["result"]["structuredContent"]["output"], "asked", "{ran}");
    scene.fixture.server().set_approval(Approval::Allow);
    scene.runs("all are allowed");
}
