//! Tests that a live view of a session shows the session's screen, also after the view was too slow.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use unterm_mux::PaneId;
use unterm_term::{Options, Parser, Size, Term};

use crate::support::{Fixture, Wire};

/// A viewer: a terminal that receives what `screen.follow` returns.
struct Viewer {
    pane: u64,
    view: Value,
    term: Term,
    parser: Parser,
    lost: u64,
}

impl Viewer {
    fn of(wire: &mut Wire, pane: u64) -> Self {
        let term = Term::new(Size::cells(2, 2), Options::default());
        let mut viewer = Self { pane, view: Value::Null, term, parser: Parser::new(), lost: 0 };
        viewer.look(wire);
        viewer
    }

    /// Makes one call, and returns the reply.
    fn look(&mut self, wire: &mut Wire) -> Value {
        let params = json!({"id": self.pane, "view": self.view, "wait_ms": 20_000});
        let reply = wire.call("screen.follow", params);
        if reply["screen"] == true {
            let side = |name: &str| u16::try_from(reply[name].as_u64().unwrap()).unwrap();
            self.term = Term::new(Size::cells(side("cols"), side("rows")), Options::default());
            self.parser = Parser::new();
        }
        self.view = reply["view"].clone();
        self.lost += reply["lost"].as_u64().unwrap();
        let bytes = STANDARD.decode(reply["base64"].as_str().unwrap()).unwrap();
        self.parser.advance(&mut self.term, &bytes);
        reply
    }

    fn screen(&self) -> Vec<String> {
        let first = self.term.live_top().0;
        let rows = u64::from(self.term.size().rows);
        let row = |line| {
            let mut text = String::new();
            self.term.row_text(unterm_term::LineId(line), &mut text);
            text.trim_end().to_owned()
        };
        (first..first + rows).map(row).collect()
    }

    /// Makes calls until the screen has this row.
    fn look_for(&mut self, wire: &mut Wire, row: &str) {
        while !self.screen().iter().any(|text| text == row) {
            assert_eq!(self.look(wire)["ended"], false, "{row:?} never came");
        }
    }
}

fn session(wire: &mut Wire, script: &str) -> u64 {
    let params = json!({"program": "sh", "args": ["-c", script], "cols": 40, "rows": 6});
    wire.call("session.create", params)["id"].as_u64().unwrap()
}

#[test]
fn a_viewer_sees_the_screen_then_the_output_and_the_end() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let pane = session(&mut wire, "echo before; read -r x; printf 'after \\033[1mbold'; read -r x");
    wire.call("session.wait", json!({"id": pane, "any": [{"text": "before"}]}));
    let mut viewer = Viewer::of(&mut wire, pane);
    assert_eq!(viewer.screen()[0], "before");
    wire.call("session.input", json!({"id": pane, "input": "typed\r"}));
    viewer.look_for(&mut wire, "after bold");
    assert_eq!(viewer.screen()[..3], ["before", "typed", "after bold"]);
    wire.call("session.resize", json!({"id": pane, "cols": 50, "rows": 5}));
    assert_eq!(viewer.look(&mut wire)["cols"], 50);
    assert_eq!(viewer.screen()[..3], ["before", "typed", "after bold"]);
    wire.call("session.input", json!({"id": pane, "input": "\r"}));
    while viewer.look(&mut wire)["ended"] != true {}
    assert_eq!(viewer.lost, 0);
}

#[test]
fn a_slow_viewer_gets_the_screen_and_the_count_of_missed_bytes() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let flood = "read -r x; yes 0123456789 | head -n 200000; echo done; read -r x";
    let pane = session(&mut wire, flood);
    let mut viewer = Viewer::of(&mut wire, pane);
    wire.call("session.input", json!({"id": pane, "input": "\r"}));
    wire.call("session.wait", json!({"id": pane, "any": [{"text": "done"}], "timeout_ms": 60_000}));
    let reply = viewer.look(&mut wire);
    assert_eq!(reply["screen"], true);
    viewer.look_for(&mut wire, "done");
    assert!(viewer.lost > 2_000_000, "{}", viewer.lost);
    let length = reply["base64"].as_str().unwrap().len();
    assert!(length < 50_000, "a screen and some history: {length}");
}

#[test]
fn a_view_hides_the_nonce_of_its_sessions_marks() {
    let fixture = Fixture::new();
    fixture.integrate();
    let mut wire = fixture.login();
    let (pane, other) = (session(&mut wire, "cat"), session(&mut wire, "cat"));
    let view = Viewer::of(&mut wire, pane).view;
    let error = wire.fail("screen.follow", json!({"id": other, "view": view}));
    assert_eq!(error, format!("Session {other} has no view {view}; omit `view` to start one"));
    let error = wire.fail("screen.follow", json!({"id": pane, "view": 999}));
    assert_eq!(error, format!("Session {pane} has no view 999; omit `view` to start one"));
    let error = wire.fail("screen.follow", json!({"id": pane, "wait_ms": 30_001}));
    assert!(error.contains("'wait_ms': expected a whole number from 0 to 30000"), "{error}");

    let shell = wire.call("session.create", json!({"shell": "bash"}))["id"].as_u64().unwrap();
    wire.call("session.wait", json!({"id": shell, "any": [{"prompt": true}]}));
    let nonce = fixture.mux.pane(PaneId(shell)).unwrap().nonce().unwrap().to_string();
    let mut seen = String::new();
    let mut viewer = Viewer::of(&mut wire, shell);
    wire.call("session.input", json!({"id": shell, "input": "echo $((6 * 7))\r"}));
    while !viewer.screen().iter().any(|row| row == "42") {
        let reply = viewer.look(&mut wire);
        let bytes = STANDARD.decode(reply["base64"].as_str().unwrap()).unwrap();
        seen += &String::from_utf8_lossy(&bytes);
    }
    assert!(!nonce.is_empty() && !seen.contains(&nonce), "{seen:?}");
}

#[test]
fn the_number_of_unread_views_is_limited() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let pane = session(&mut wire, "cat");
    let mut view = Value::Null;
    for _ in 0..32 {
        view = wire.call("screen.follow", json!({"id": pane}))["view"].take();
    }
    let error = wire.fail("screen.follow", json!({"id": pane}));
    assert_eq!(
        error,
        "This token has too many views open; each ends 30 seconds after its last call"
    );

    // Another token has separate views, and does not receive the output that other viewers have not read yet.
    let (mut agent, _) = fixture.login_with(&mut wire, json!({"name": "agent", "scope": "read"}));
    let own = agent.call("screen.follow", json!({"id": pane}))["view"].take();
    let error = agent.fail("screen.follow", json!({"id": pane, "view": view}));
    assert_eq!(error, format!("Session {pane} has no view {view}; omit `view` to start one"));
    let again = agent.call("screen.follow", json!({"id": pane, "view": own, "anew": true}));
    assert_eq!((&again["view"], &again["screen"]), (&own, &json!(true)));
}
