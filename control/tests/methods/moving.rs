//! Tests of sessions that move between windows, as far as one instance can test them: which callers may move sessions,
//! and which sessions can't move.

use crate::support::Fixture;
use serde_json::json;

#[test]
fn sessions_that_cannot_move_stay() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let cat = fixture.program(&mut wire, "cat", &[]);
    let moves = |params| ("session.move_to_window", params);
    for ((method, params), why) in [
        (
            moves(json!({"id": cat.id})),
            format!(
                "the program of pane {} can't continue without this window: see the setting sessions.keep",
                cat.id
            ),
        ),
        (
            moves(json!({"id": cat.id, "to": "nobody"})),
            "Invalid 'to': expected another instance (there is none), got \"nobody\"".to_owned(),
        ),
        (moves(json!({"id": 9999})), "Session 9999 not found".to_owned()),
        (("instance.attach", json!({})), "Missing 'programs'".to_owned()),
        (("instance.attach", json!({"programs": []})), "Missing 'programs'".to_owned()),
        (
            ("instance.attach", json!({"programs": [1]})),
            "this instance can't show programs of another one".to_owned(),
        ),
        (("instance.hand_over", json!({})), "this instance does not wait for a window".to_owned()),
    ] {
        assert_eq!(wire.fail(method, params), why);
    }
    wire.call("session.input", json!({"id": cat.id, "input": "still here\n"}));
    cat.wait_for_text("still here");
}

#[test]
fn only_the_users_own_programs_move_sessions() {
    let fixture = Fixture::new();
    let mut user = fixture.login();
    let cat = fixture.program(&mut user, "cat", &[]);
    for token in [
        json!({"name": "reader", "scope": "read"}),
        json!({"name": "actor", "scope": "act"}),
        json!({"name": "bound", "scope": "act", "panes": [cat.id]}),
    ] {
        let (mut agent, _) = fixture.login_with(&mut user, token);
        for method in ["session.move_to_window", "instance.attach", "instance.hand_over"] {
            let refusal = agent.fail(method, json!({"id": cat.id, "programs": [1]}));
            assert!(refusal.starts_with("Not allowed: "), "{method}: {refusal}");
        }
    }
}
