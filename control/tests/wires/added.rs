//! Tests of methods that are added at run time: who can find and call them, and what remains after they are removed.

use std::{future::Future, pin::Pin};

use crate::support::Fixture;
use serde_json::{Map, Value, json};
use unterm_control::{
    AddedMethod, Caller, Description, Group, Subjects, TableError,
    schemars::{Schema, json_schema},
};

/// Returns its parameters and its caller.
struct Echo;

impl AddedMethod for Echo {
    fn call<'a>(
        &'a self,
        caller: &'a Caller,
        params: Map<String, Value>,
    ) -> Pin<Box<dyn Future<Output = Result<Value, String>> + Send + 'a>> {
        Box::pin(async move {
            match params.get("fail") {
                Some(why) => Err(why.to_string()),
                None => Ok(json!({"params": params, "client": caller.client})),
            }
        })
    }
}

fn described(name: &'static str, changes: Subjects) -> Description {
    Description {
        name,
        group: Group::System,
        reveals: Subjects::empty(),
        changes,
        doc: "Returns its parameters.",
        named: &["id"],
        lasts: false,
        params: any_object(),
        reply: any_object(),
    }
}

fn any_object() -> Schema {
    json_schema!({"type": "object"})
}

#[test]
fn an_added_method_is_called_like_any_other_until_it_is_removed() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    assert!(wire.fail("plugin.echo", json!({})).contains("Unknown method: plugin.echo"));
    let server = fixture.server();
    server.add_method(described("plugin.echo", Subjects::SESSION), Box::new(Echo)).unwrap();
    let reply = wire.call("plugin.echo", json!({"id": 1, "a": [2]}));
    assert_eq!(reply["params"], json!({"id": 1, "a": [2]}));
    assert_eq!(wire.fail("plugin.echo", json!({"fail": "no"})), "\"no\"");
    let listed = wire.call("server.capabilities", json!({}));
    let names = listed["system"].as_array().unwrap();
    assert_eq!(names.last().unwrap(), "plugin.echo");
    // A new method can have neither the name of a built-in method nor that of another added method.
    for taken in ["plugin.echo", "session.list"] {
        let again = server.add_method(described(taken, Subjects::SESSION), Box::new(Echo));
        assert_eq!(again, Err(TableError::Taken(taken.to_owned())));
    }
    assert!(server.remove_method("plugin.echo"));
    assert!(!server.remove_method("plugin.echo"));
    assert!(!server.remove_method("session.list"));
    assert!(wire.fail("plugin.echo", json!({})).contains("Unknown method"));
    assert!(wire.call("session.list", json!({}))["sessions"].is_array());
}

#[test]
fn who_may_call_an_added_method_follows_from_what_it_changes() {
    let fixture = Fixture::new();
    let server = fixture.server();
    let methods = [
        ("plugin.look", Subjects::empty(), "read"),
        ("plugin.type", Subjects::SESSION, "act"),
        ("plugin.set", Subjects::PREFERENCES, "admin"),
    ];
    for (name, changes, _) in methods {
        server.add_method(described(name, changes), Box::new(Echo)).unwrap();
    }
    let mut owner = fixture.login();
    for (index, scope) in ["read", "act", "admin"].into_iter().enumerate() {
        let made = owner.call("token.create", json!({"name": scope, "scope": scope}));
        let mut wire = fixture.connect();
        wire.call("auth.login", json!({"token": made["token"]}));
        for (place, (name, ..)) in methods.iter().enumerate() {
            let reply = wire.reply(name, json!({"id": 1}));
            let is_refused = reply["error"]["message"]
                .as_str()
                .is_some_and(|why| why.contains("out of the token's scopes"));
            assert_eq!(is_refused, place > index, "{name} with {scope}: {reply}");
        }
    }
    // A token for some sessions can call the method for those sessions only.
    let bound = json!({"name": "bound", "scope": "act", "panes": [1]});
    let made = owner.call("token.create", bound);
    let mut wire = fixture.connect();
    wire.call("auth.login", json!({"token": made["token"]}));
    wire.call("plugin.type", json!({"id": 1}));
    let why = wire.fail("plugin.type", json!({"id": 2}));
    assert!(why.contains("out of the token's sessions"), "{why}");
    assert!(wire.fail("plugin.type", json!({})).contains("out of the token's sessions"));
}
