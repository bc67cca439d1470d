//! The names by which a user decides about conversations.

use anyhow::{Context as _, Result, ensure};
use serde_json::json;
use unterm_tests::fleet::{Agent, Fleet};

#[test]
fn conversations_with_one_name_are_restricted_together() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let root = folder.path().to_str().context("a path")?;
    let Some(fleet) = Fleet::start(&["--admin-root", root])? else { return Ok(()) };
    let connect = || Agent::connect(fleet.address(), &fleet.token(&["--right", "admin"])?);
    let mut agents = [connect()?, connect()?];
    for (id, name) in [("work", "work"), ("", "unnamed"), ("a\nb", "a\\nb")] {
        let write = json!({"path": "a.txt", "content": "x", "conversation_id": id});
        for agent in &mut agents {
            let pending = agent.call("remote_write", write.clone())?;
            ensure!(pending.text.starts_with("[pending: "), "{pending:?}");
        }
        let listed = fleet.admin(&["conversations"])?["conversations"].take();
        let keys = listed.as_array().context("a list")?.iter().filter(|of| of["name"] == name);
        let keys: Vec<_> = keys.filter_map(|of| of["key"].as_str()).collect();
        ensure!(keys.len() == 2, "{name}: {listed}");

        // An approval must state whose conversation it is about, because two conversations have the same name.
        let refused = fleet.run(&["approve", name])?;
        let why = String::from_utf8_lossy(&refused.stderr).into_owned();
        ensure!(!refused.status.success() && keys.iter().all(|key| why.contains(key)), "{why}");
        fleet.admin(&["approve", keys[0]])?;

        for (decision, field, value) in [
            ("pause", "flow", "paused"),
            ("deny", "state", "denied"),
            ("revoke", "state", "revoked"),
        ] {
            let decided = fleet.admin(&[decision, name])?["conversations"].take();
            let decided = decided.as_array().context("a list")?;
            ensure!(decided.len() == 2, "{decision} {name}: {decided:?}");
            ensure!(decided.iter().all(|of| of[field] == value), "{decision} {name}: {decided:?}");
        }
    }
    Ok(())
}
