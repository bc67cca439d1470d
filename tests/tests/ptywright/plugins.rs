//! The methods `plugin.*`, plugins that `serve` loads, and plugins that fail or never end.

use std::{fs, path::PathBuf};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::ptywright::client::{Client, Framing, PtywrightServer, error, refused};

/// Every permission, as a manifest lists them.
pub const ALL: &str = "'session.spawn', 'session.kill', 'session.resize', 'screen.read', 'transcript.read', \
    'input.write', 'matcher.wait'";

/// A plugin for `sh`, written into a folder.
pub struct PluginFolder {
    folder: TempDir,
}

impl PluginFolder {
    /// A plugin that reports what it observes, with these permissions.
    pub fn new(name: &str, permissions: &str, source: &str) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let manifest = format!(
            "name = \"{name}\"\nkind = \"adapter\"\nversion = \"1\"\nruntime = \"lua\"\nentrypoint = \"main.luau\"\n\
             permissions = [{permissions}]\n[default_target]\nprogram = \"/bin/sh\"\n\
             args = [\"-c\", \"stty -echo; printf 'go %s %s %s.' $A $B $C; exec cat\"]\nrows = 20\n\
             [default_target.env]\nA = \"manifest\"\nB = \"manifest\"\nC = \"manifest\"\n\
             [default_target.required_env]\nC = \"required\"\n"
        );
        fs::write(folder.path().join("manifest.toml"), manifest)?;
        fs::write(folder.path().join("main.luau"), source)?;
        Ok(Self { folder })
    }

    pub fn manifest(&self) -> PathBuf {
        self.folder.path().join("manifest.toml")
    }

    /// Serves on standard streams with this plugin.
    pub fn serve(&self, args: &[&str]) -> Result<(PtywrightServer, Client)> {
        let manifest = self.manifest();
        let mut all = vec!["--plugin", manifest.to_str().context("a path")?];
        all.extend(args);
        PtywrightServer::stdio(Framing::Ndjson, &all, &[])
    }
}

/// The source of the plugin `probe`.
pub const PROBE: &str = r#"
local M = {}
function M.classify(ctx)
    if ctx.screen:find("fail", 1, true) then error("told to fail") end
    if ctx.screen:find("spin", 1, true) then while true do end end
    return {
        state = if ctx.screen == "" then "starting" else "shown",
        confidence = 1,
        evidence = ctx.screen,
        sequence = ctx.sequence,
        metadata = {
            body = ctx.body_text, status = ctx.status_text, transcript = ctx.transcript, markers = ctx.markers,
            cursor = ctx.cursor, stable = ctx.stable_ms, needed = ctx.completed_turn_stable_ms,
            intent = ctx.last_intent,
        },
        host_marks = { "seen" },
    }
end
function M.say(params)
    local action = ptywright.action
    return {
        actions = { action.text(params.text .. "\n"), action.mark_transcript("said") },
        last_intent = params.last,
    }
end
function M.stop() return { actions = { ptywright.action.kill() } } end
function M.wrong() return { actions = { { type = "press" } } } end
function M.endless() while true do end end
function M.endless_matcher() while true do end end
function M.wait_turn_matcher(params)
    return ptywright.matcher.any({
        { type = "lua", value = { plugin = "probe", predicate = "answered", params = params } },
        ptywright.matcher.process_exited(),
    })
end
function M.never_matcher() return ptywright.matcher.contains_text("never shown") end
function M.all_matcher()
    return ptywright.matcher.all({ ptywright.matcher.screen_regex("g(o)"), ptywright.matcher.screen_stable(1) })
end
function M.spinning_matcher()
    return { type = "lua", value = { plugin = "probe", predicate = "endless", params = {} } }
end
function M.failing_matcher()
    return { type = "lua", value = { plugin = "probe", predicate = "failing", params = {} } }
end
function M.answered(input)
    local after = input.params.after or ""
    if input.stable_ms < 250 or input.cursor <= (input.markers.said or 0) then return false end
    return { matched = input.screen:find(after, 1, true) ~= nil, evidence = "answered", capture = after }
end
function M.failing() error("the predicate fails") end
return M
"#;

pub fn probe() -> Result<PluginFolder> {
    PluginFolder::new("probe", ALL, PROBE)
}

/// The id of a new adapter.
pub fn start(client: &mut Client, params: Value) -> Result<String> {
    let started = client.call("adapter.start", params)?;
    Ok(started["adapter"].as_str().context("no adapter")?.to_owned())
}

/// A new adapter of `probe` whose program has printed its first line.
pub fn started(client: &mut Client) -> Result<String> {
    let adapter = start(client, json!({"plugin": "probe"}))?;
    client.call(
        "adapter.wait",
        json!({"adapter": adapter, "params": {"after": "."}, "timeout_ms": 60_000}),
    )?;
    Ok(adapter)
}

#[test]
fn plugins_are_described_loaded_and_unloaded() -> Result<()> {
    let probe = probe()?;
    let (_served, mut client) =
        PtywrightServer::stdio(Framing::Ndjson, &["--allow-plugin-load"], &[])?;
    let capabilities = client.call("plugin.capabilities", json!({}))?;
    assert_eq!(capabilities["embedded_lua"], true);
    let built_in = capabilities["builtin_plugins"].as_array().context("builtin_plugins")?;
    ensure!(built_in.iter().any(|manifest| manifest["name"] == "claude-code"), "{capabilities}");
    let described = client.call("plugin.describe", json!({"plugin": "claude-code"}))?;
    assert_eq!(described["plugin"], "claude-code");
    assert_eq!(described["manifest"]["default_target"]["program"], "claude");
    for list in ["intents", "wait_matchers", "states"] {
        ensure!(described[list][0]["name"].is_string(), "{list}");
    }
    let manifest = described["manifest"].clone();
    let validated = client.call("plugin.validate_manifest", json!({"manifest": manifest}))?;
    assert_eq!(validated, json!({"valid": true}));
    let mut wrong = described["manifest"].clone();
    wrong["entrypoint"] = "../main.luau".into();
    let (code, said) = client.fail("plugin.validate_manifest", json!({"manifest": wrong}))?;
    ensure!(code == -32602 && said.contains(".."), "{code} {said}");

    let path = json!({"manifest_path": probe.manifest()});
    assert_eq!(client.call("plugin.load", path.clone())?, json!({"plugin": "probe"}));
    let (code, said) = client.fail("plugin.load", path)?;
    ensure!(code == -32602 && said.contains("already registered"), "{code} {said}");
    let described = client.call("plugin.describe", json!({"plugin": "probe"}))?;
    assert_eq!(described["states"], json!([]));
    ensure!(
        described["wait_matchers"]
            .as_array()
            .is_some_and(|list| { list.contains(&json!({"name": "never_matcher"})) })
    );
    let names: Vec<_> = client.call("adapter.list", json!({}))?["plugins"]
        .as_array()
        .context("plugins")?
        .iter()
        .map(|manifest| manifest["name"].clone())
        .collect();
    assert_eq!(names, ["claude-code", "codex", "probe", "shell"]);
    let adapter = started(&mut client)?;
    let (code, said) = client.fail("plugin.unload", json!({"plugin": "probe"}))?;
    ensure!(code == -32602 && said.contains("close them first"), "{code} {said}");
    client.call("adapter.close", json!({"adapter": adapter}))?;
    let unloaded = client.call("plugin.unload", json!({"plugin": "probe"}))?;
    assert_eq!(unloaded, json!({"unloaded": true}));
    for (method, params, named) in [
        ("plugin.unload", json!({"plugin": "probe"}), "probe"),
        ("plugin.unload", json!({"plugin": "shell"}), "built in"),
        ("plugin.describe", json!({"plugin": "probe"}), "probe"),
        ("plugin.describe", json!({}), "plugin"),
        ("plugin.load", json!({"manifest_path": "/no/such.toml"}), "/no/such.toml"),
        ("adapter.start", json!({"plugin": "probe"}), "probe"),
    ] {
        let (code, said) = client.fail(method, params)?;
        ensure!(code == -32602 && said.contains(named), "{method}: {code} {said}");
    }
    Ok(())
}

#[test]
fn clients_may_load_plugins_only_if_enabled() -> Result<()> {
    let probe = probe()?;
    let (_served, mut client) = probe.serve(&[])?;
    for (method, params) in [
        ("plugin.load", json!({"manifest_path": probe.manifest()})),
        ("plugin.unload", json!({"plugin": "probe"})),
    ] {
        let reply = client.request(method, params)?;
        assert_eq!(reply["error"]["code"], -32004, "{reply}");
        assert_eq!(reply["error"]["data"]["reason"], "server_did_not_grant_plugin_load");
    }
    let missing = ["serve", "--stdio", "--plugin", "/no/such.toml"];
    let said = refused(probe.folder.path(), &missing)?;
    ensure!(said.contains("/no/such.toml"), "{said}");
    Ok(())
}

#[test]
fn each_method_needs_its_permission() -> Result<()> {
    let none = PluginFolder::new("none", "", "return { classify = function() end }")?;
    let (_served, mut client) = none.serve(&[])?;
    let denied = |reply: &Value, method: &str, permission: &str| {
        let data = json!({"method": method, "required_permission": permission});
        ensure!(reply["error"]["code"] == -32004 && reply["error"]["data"] == data, "{reply}");
        Ok(())
    };
    for method in ["adapter.start", "adapter.resume"] {
        let reply = client.request(method, json!({"plugin": "none"}))?;
        denied(&reply, method, "session.spawn")?;
    }
    let spawns = PluginFolder::new("spawns", "'session.spawn'", PROBE)?;
    let (_served, mut client) = spawns.serve(&[])?;
    let adapter = start(&mut client, json!({"plugin": "spawns"}))?;
    for (method, params, permission) in [
        ("adapter.state", json!({}), "screen.read"),
        ("adapter.snapshot", json!({}), "screen.read"),
        ("adapter.inspect", json!({}), "screen.read"),
        ("adapter.transcript", json!({}), "transcript.read"),
        ("adapter.send", json!({"intent": "say"}), "input.write"),
        ("adapter.wait", json!({}), "matcher.wait"),
        ("adapter.turn", json!({"send": {"intent": "say"}}), "input.write"),
        ("adapter.close", json!({}), "session.kill"),
    ] {
        let mut params = params;
        params["adapter"] = adapter.clone().into();
        denied(&client.request(method, params)?, method, permission)?;
    }
    // Methods about sessions do not bypass the permissions of an adapter.
    let (code, said) = client.fail("session.snapshot", json!({"session": "s1"}))?;
    ensure!(code == -32602 && said.contains("belongs to the adapter"), "{code} {said}");
    assert_eq!(client.call("session.list", json!({}))?, json!({"sessions": []}));
    // The action of an intent needs more permissions than the method itself.
    let writes = PluginFolder::new("writes", "'session.spawn', 'input.write'", PROBE)?;
    let (_served, mut client) = writes.serve(&[])?;
    let adapter = start(&mut client, json!({"plugin": "writes"}))?;
    let reply = client.request("adapter.send", json!({"adapter": adapter, "intent": "stop"}))?;
    ensure!(reply["error"]["code"] != Value::Null, "{reply}");
    Ok(())
}

#[test]
fn a_failing_or_endless_plugin_does_not_affect_others() -> Result<()> {
    let probe = probe()?;
    let (_served, mut client) = probe.serve(&[])?;
    let adapter = started(&mut client)?;
    let say = |text: &str| json!({"adapter": adapter, "intent": "say", "params": {"text": text}});
    for (method, params, code, named) in [
        ("adapter.send", json!({"intent": "nope"}), -32602, "nope"),
        ("adapter.send", json!({"intent": "classify"}), -32602, "classify"),
        ("adapter.send", json!({"intent": "say"}), -32603, "say"),
        ("adapter.send", json!({"intent": "wrong"}), -32603, "press"),
        ("adapter.wait", json!({"intent": "say"}), -32602, "_matcher"),
        ("adapter.wait", json!({"intent": "failing_matcher"}), -32603, "the predicate fails"),
        ("adapter.wait", json!({"intent": "never_matcher", "timeout_ms": 1}), -32001, "1 ms"),
    ] {
        let mut params = params;
        params["adapter"] = adapter.clone().into();
        let (found, said) = client.fail(method, params.clone())?;
        ensure!(found == code && said.contains(named), "{method} {params}: {found} {said}");
    }
    client.call("adapter.send", say("fail"))?;
    let wait = json!({"adapter": adapter, "params": {"after": "fail"}});
    let state = client.call("adapter.wait", wait)?["state"].take();
    assert_eq!(state["state"], "plugin_error");
    ensure!(state["evidence"].as_str().is_some_and(|text| text.contains("told to fail")));
    // A function that never ends is stopped. Afterward, the plugin can be used again.
    let endless = json!({"adapter": adapter, "intent": "endless"});
    let (code, said) = client.fail("adapter.send", endless)?;
    ensure!(code == -32603 && said.contains("exceeded"), "{code} {said}");
    client.call("adapter.send", say("more"))?;
    Ok(())
}

#[test]
fn other_requests_are_answered_while_plugins_spin() -> Result<()> {
    let probe = probe()?;
    let path = probe.manifest();
    let served = PtywrightServer::socket_with(
        Framing::Ndjson,
        &["--plugin", path.to_str().context("a path")?],
    )?;
    // Run more functions than there are threads for files and programs.
    let mut spinning = Vec::new();
    for _ in 0..10 {
        let mut client = served.connect()?;
        let adapter = start(&mut client, json!({"plugin": "probe"}))?;
        let params = json!({"adapter": adapter, "intent": "spinning_matcher"});
        let id = client.begin("adapter.wait", params)?;
        spinning.push((client, id));
    }
    let mut other = served.connect()?;
    let adapter = start(&mut other, json!({"plugin": "shell", "program": "cat"}))?;
    assert_eq!(other.call("adapter.close", json!({"adapter": adapter}))?, json!({"closed": true}));
    for (client, id) in &mut spinning {
        let (code, said) = error(&client.end(*id)?)?;
        ensure!(code == -32603 && said.contains("exceeded"), "{code} {said}");
    }
    Ok(())
}
