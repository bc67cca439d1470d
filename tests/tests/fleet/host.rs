//! The hub's own host: which of its tools are open to agents, and which rights they need.

use anyhow::{Context as _, Result, ensure};
use serde_json::json;
use unterm_tests::fleet::{Agent, Fleet};

use super::refused;

#[test]
fn host_tools_work_only_as_far_as_enabled() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let root = folder.path().join("root");
    std::fs::create_dir(&root)?;
    std::fs::write(folder.path().join("secret"), "secret")?;
    let options = ["--admin-root", root.to_str().context("a path")?, "--admin-shell"];
    let Some(fleet) = Fleet::start(&options)? else { return Ok(()) };
    let mut agent = Agent::connect(fleet.address(), &fleet.token(&["--right", "admin"])?)?;
    let write = json!({"path": "a.txt", "content": "one\ntwo\n", "conversation_id": "c"});
    let pending = agent.call("remote_write", write.clone())?;
    assert!(pending.text.starts_with("[pending: "), "{pending:?}");
    fleet.admin(&["approve", "c"])?;
    agent.call("remote_write", write)?.json()?;
    let read = agent.call("remote_read", json!({"path": "a.txt", "offset": 1}))?.json()?;
    assert_eq!(read["content"], "two\n");
    let found = agent.call("remote_glob", json!({"pattern": "*.txt"}))?.json()?;
    assert_eq!(found["matches"], json!(["a.txt"]));
    let found = agent.call("remote_grep", json!({"pattern": "^t"}))?.json()?;
    assert_eq!(found["matches"], json!([{"file": "a.txt", "line": 2, "text": "two"}]));
    let ran = json!({"command": "pwd", "conversation_id": "c"});
    let ran = agent.call("remote_bash", ran)?.json()?;
    assert_eq!(ran["stdout"], format!("{}\n", root.canonicalize()?.display()));
    let out = agent.call("remote_read", json!({"path": "../secret"}))?;
    let why = "[error: ../secret: outside of the folder that agents may use]";
    assert_eq!(out, refused(why));
    Ok(())
}

#[test]
fn host_tools_are_disabled_by_default() -> Result<()> {
    let Some(fleet) = Fleet::start(&[])? else { return Ok(()) };
    let mut agent = Agent::connect(fleet.address(), &fleet.token(&["--right", "admin"])?)?;
    for (tool, arguments) in [
        ("remote_bash", json!({"command": "id"})),
        ("remote_read", json!({"path": "/etc/passwd"})),
        ("remote_write", json!({"path": "x", "content": "x"})),
        ("remote_glob", json!({"pattern": "*"})),
        ("remote_grep", json!({"pattern": "x"})),
    ] {
        let closed = agent.call(tool, arguments)?;
        assert!(closed.is_error && closed.text.contains("--admin-root"), "{closed:?}");
    }
    Ok(())
}

#[test]
fn searching_the_host_needs_only_the_read_right() -> Result<()> {
    let folder = tempfile::tempdir()?;
    std::fs::write(folder.path().join("a.txt"), "one\ntwo\n")?;
    let root = folder.path().to_str().context("a path")?;
    let Some(fleet) = Fleet::start(&["--admin-root", root])? else { return Ok(()) };
    let searches =
        [("remote_glob", json!({"pattern": "*.txt"})), ("remote_grep", json!({"pattern": "^t"}))];
    for rights in [&["--right", "read"][..], &[], &["--right", "admin"]] {
        let mut agent = Agent::connect(fleet.address(), &fleet.token(rights)?)?;
        for (tool, arguments) in &searches {
            let found = agent.call(tool, arguments.clone())?;
            ensure!(!found.is_error && found.text.contains("a.txt"), "{rights:?}: {found:?}");
        }
        if !rights.contains(&"admin") {
            let read = agent.call("remote_read", json!({"path": "a.txt"}))?;
            assert_eq!(read, refused("[error: this token lacks the right `admin`]"));
        }
    }
    // Refused: a token without the right, and a token for some machines, because the hub's host is not one of them.
    let machine = fleet.machine()?;
    for (rights, why) in [
        (&["--right", "list"][..], "[error: this token lacks the right `read`]"),
        (&["--right", "send"], "[error: this token lacks the right `read`]"),
        (&["--machine", &machine], "[error: this token is not scoped to that machine]"),
    ] {
        let mut agent = Agent::connect(fleet.address(), &fleet.token(rights)?)?;
        for (tool, arguments) in &searches {
            assert_eq!(agent.call(tool, arguments.clone())?, refused(why), "{rights:?}");
        }
    }
    Ok(())
}
