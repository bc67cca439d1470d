//! The ptywright protocol, served by the real program. Covers every method and error over standard streams with both
//! kinds of framing and over a socket, the state that two clients share, notifications, and what remains when a client
//! or the server ends.

mod adapters;
mod client;
mod load;
mod logs;
mod outer_terminal;
mod plugins;
mod repl;
mod repl_editor;
mod run;
mod waits;

use std::{
    fs,
    os::unix::{
        fs::{PermissionsExt as _, symlink},
        net::UnixListener,
    },
    process::{Command, Stdio},
};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use unterm_tests::{Start, binary, wait_for};

use self::client::{Framing, PtywrightServer, error, refused};

#[test]
fn every_method_works_in_both_framings() -> Result<()> {
    for framing in Framing::ALL {
        let (served, mut client) = PtywrightServer::stdio(framing, &[], &[])?;
        let capabilities = client.call("server.capabilities", json!({}))?;
        ensure!(capabilities["name"] == "unterm" && capabilities["framing"] == framing.name());
        let methods = capabilities["methods"].as_array().context("methods")?;
        ensure!(
            methods.contains(&json!("session.wait")) && methods.contains(&json!("adapter.turn"))
        );
        let notifications = json!(["session.changed", "session.output", "session.exited"]);
        assert_eq!(capabilities["notifications"], notifications);

        let session = client.script("printf ready; stty -echo; exec cat")?;
        assert_eq!(session, "s1");
        assert_eq!(client.call("session.list", json!({}))?, json!({"sessions": ["s1"]}));
        let evidence = client.wait_text(&session, "ready")?;
        assert_eq!(evidence["matched"], true);
        assert_eq!(evidence["transcript_tail"], "ready");
        let snapshot = &evidence["snapshot"];
        let size = json!({"rows": 24, "cols": 80, "pixel_width": 0, "pixel_height": 0});
        assert_eq!(snapshot["size"], size);
        assert_eq!(snapshot["plain_text"], "ready");
        assert_eq!(snapshot["cursor"], json!({"row": 0, "col": 5, "visible": true}));
        assert_eq!(snapshot["cells"].as_array().map(Vec::len), Some(24 * 80));
        assert_eq!(snapshot["title"], Value::Null);
        assert_eq!(evidence["sequence"], snapshot["sequence"]);
        assert_eq!(client.call("session.snapshot", json!({"session": "s1"}))?, *snapshot);

        assert_eq!(
            client.act("s1", json!({"type": "text", "value": "typed\n"}))?,
            json!({"sent": true})
        );
        client.wait(&session, json!({"type": "transcript_regex", "value": "ready(typed)"}))?;
        let size = json!({"session": "s1", "rows": 40, "cols": 120, "pixel_width": 1200, "pixel_height": 805});
        assert_eq!(client.call("session.resize", size)?, json!({"resized": true}));
        let snapshot = client.call("session.snapshot", json!({"session": "s1"}))?;
        let size = json!({"rows": 40, "cols": 120, "pixel_width": 1200, "pixel_height": 805});
        assert_eq!(snapshot["size"], size);
        let text = client.call("session.transcript", json!({"session": "s1"}))?;
        assert_eq!(text, json!({"text": "readytyped\r\n"}));
        assert_eq!(client.call("session.kill", json!({"session": "s1"}))?, json!({"killed": true}));
        client.wait(&session, json!({"type": "process_exited"}))?;
        let text = client.call("session.transcript", json!({"session": "s1"}))?;
        ensure!(text["text"].as_str().is_some_and(|text| text.starts_with("readytyped")), "{text}");
        assert_eq!(
            client.call("session.close", json!({"session": "s1"}))?,
            json!({"closed": true})
        );
        assert_eq!(client.call("session.list", json!({}))?, json!({"sessions": []}));
        drop(served);
    }
    Ok(())
}

#[test]
fn every_error_has_its_code_and_names_the_value() -> Result<()> {
    for framing in Framing::ALL {
        let (_served, mut client) = PtywrightServer::stdio(framing, &[], &[])?;
        for (message, id, code, named) in [
            ("{bad}", Value::Null, -32700, "JSON"),
            ("[]", Value::Null, -32600, "batches"),
            (r#"{"jsonrpc":"2.0","id":7}"#, json!(7), -32600, "method"),
            (r#"{"jsonrpc":"1","id":"x","method":"session.list"}"#, json!("x"), -32600, "\"1\""),
            (r#"{"jsonrpc":"2.0","id":8,"method":"nope"}"#, json!(8), -32601, "nope"),
            (r#"{"jsonrpc":"2.0","id":8,"method":"adapter.nope"}"#, json!(8), -32601, "nope"),
            (
                r#"{"jsonrpc":"2.0","id":9,"method":"session.list","params":[]}"#,
                json!(9),
                -32602,
                "params",
            ),
        ] {
            client.send(message)?;
            let reply = client.receive()?.context("no reply")?;
            let (found, said) = error(&reply)?;
            ensure!(
                found == code && said.contains(named) && reply["id"] == id,
                "{message}: {reply}"
            );
        }
        // A notification never gets a reply, even if it fails.
        client.send(r#"{"jsonrpc":"2.0","method":"nope"}"#)?;
        client.send(r#"{"jsonrpc":"2.0","method":"$/setTrace","params":{"value":"off"}}"#)?;
        let session = client.script("exec cat")?;
        let input = |action: Value| json!({"session": session, "action": action});
        let wait =
            |matcher: Value| json!({"session": session, "matcher": matcher, "timeout_ms": 1});
        let deep = (0..20).fold(
            json!({"type": "process_exited"}),
            |inner, _| json!({"type": "any", "value": [inner]}),
        );
        for (method, params, named) in [
            ("session.create", json!({}), "program"),
            ("session.create", json!({"program": "/no/such"}), "/no/such"),
            ("session.create", json!({"program": "sh", "colour": 1}), "colour"),
            ("session.create", json!({"program": "sh", "rows": 0}), "rows"),
            ("session.create", json!({"program": "sh", "rows": "x"}), "rows"),
            ("session.create", json!({"program": "sh", "cwd": "/no/such"}), "/no/such"),
            ("session.create", json!({"program": "sh", "env": {"a=b": "c"}}), "a=b"),
            (
                "session.create",
                json!({"program": "sh", "transcript_max_chars": 1u64 << 40}),
                "transcript_max_chars",
            ),
            (
                "session.create",
                json!({"program": "sh", "raw_transcript_append": true}),
                "raw_transcript_path",
            ),
            ("session.list", json!({"x": 1}), "x"),
            ("session.snapshot", json!({"session": "s9"}), "s9"),
            ("session.snapshot", json!({"session": "s01"}), "s01"),
            ("session.snapshot", json!({"session": session, "redact": 1}), "redact"),
            ("session.snapshot", json!({"session": session, "redaction": {}}), "enabled"),
            (
                "session.transcript",
                json!({"session": session, "redaction": {"enabled": true, "extra_regexes": ["("]}}),
                "extra_regexes[0]",
            ),
            ("session.resize", json!({"session": session, "rows": 24}), "cols"),
            ("session.resize", json!({"session": session, "rows": 24, "cols": 0}), "cols"),
            ("session.input", input(json!({"type": "key", "value": "hyper"})), "hyper"),
            ("session.input", input(json!({"type": "press"})), "press"),
            ("session.input", input(json!({"type": "signal", "value": "stop"})), "stop"),
            (
                "session.input",
                input(json!({"type": "bracketed_paste", "value": "\u{1b}[201~"})),
                "201~",
            ),
            (
                "session.input",
                input(json!({"type": "stream_text", "value": {"text": "", "chunk_chars": 0}})),
                "chunk_chars",
            ),
            (
                "session.input",
                input(json!({"type": "mark_transcript", "value": {"label": ""}})),
                "label",
            ),
            ("session.wait", wait(json!({"type": "screen_regex", "value": "("})), "("),
            (
                "session.wait",
                wait(json!({"type": "lua", "value": {"plugin": "p", "predicate": "f"}})),
                "unknown plugin `p`",
            ),
            ("session.wait", wait(deep), "16 deep"),
            ("server.set_notifications", json!({}), "enabled"),
        ] {
            let (code, said) = client.fail(method, params.clone())?;
            ensure!(code == -32602 && said.contains(named), "{method} {params}: {code} {said}");
        }
        let (code, said) =
            client.fail("session.wait", wait(json!({"type": "contains_text", "value": "no"})))?;
        ensure!(code == -32001 && said.contains("1 ms"), "{code} {said}");
        client.act(&session, json!({"type": "kill"}))?;
        client.wait(&session, json!({"type": "process_exited"}))?;
        for (method, params) in [
            ("session.input", input(json!({"type": "text", "value": "x"}))),
            ("session.resize", json!({"session": session, "rows": 24, "cols": 80})),
            ("session.wait", wait(json!({"type": "contains_text", "value": "no"}))),
        ] {
            let (code, said) = client.fail(method, params)?;
            ensure!(code == -32002 && said.contains("has ended"), "{method}: {code} {said}");
        }
        client.call("session.close", json!({"session": session}))?;
        assert_eq!(client.fail("session.close", json!({"session": session}))?.0, -32602);
        // Secrets are redacted in errors as well.
        let (_, said) = client.fail("session.snapshot", json!({"session": "password=hunter2"}))?;
        ensure!(said.contains("[REDACTED]") && !said.contains("hunter2"), "{said}");
    }
    Ok(())
}

#[test]
fn every_action_reaches_the_program() -> Result<()> {
    let (_served, mut client) = PtywrightServer::stdio(Framing::Ndjson, &[], &[])?;
    // A program that shows each byte that it reads.
    let session = client.script("stty raw -echo; printf ok; exec cat -v")?;
    client.wait_text(&session, "ok")?;
    for (action, shown) in [
        (json!({"type": "text", "value": "héllo"}), "hM-CM-)llo"),
        (json!({"type": "paste", "value": "a\nb"}), "a\r\nb"),
        (json!({"type": "bracketed_paste", "value": "p"}), "^[[200~p^[[201~"),
        (json!({"type": "key", "value": "f1"}), "^[OP"),
        (json!({"type": "key", "value": "f5"}), "^[[15~"),
        (json!({"type": "key", "value": "backspace"}), "^?"),
        (json!({"type": "key", "value": "shift_tab"}), "^[[Z"),
        (json!({"type": "key", "value": "page_up"}), "^[[5~"),
        (json!({"type": "key", "value": "ctrl_a"}), "^A"),
        (json!({"type": "key", "value": "up"}), "^[[A"),
        (json!({"type": "interrupt"}), "^C"),
        (json!({"type": "eof"}), "^D"),
        (
            json!({"type": "stream_text", "value": {"text": "streamed", "chunk_chars": 3, "delay_ms": 1}}),
            "streamed",
        ),
    ] {
        let before = client.call("session.transcript", json!({"session": session}))?;
        let before = before["text"].as_str().context("text")?.to_owned();
        client.act(&session, action.clone())?;
        // The program's newlines are not converted, since its terminal is raw.
        let expected = format!("{before}{}", shown.replace("\r\n", "\n"));
        client
            .wait(&session, json!({"type": "transcript_contains", "value": expected}))
            .with_context(|| format!("{action}"))?;
    }
    client.act(&session, json!({"type": "mark_transcript", "value": {"label": "here"}}))?;
    let size = json!({"rows": 10, "cols": 20, "pixel_width": 200, "pixel_height": 100});
    client.act(&session, json!({"type": "resize", "value": size}))?;
    assert_eq!(client.call("session.snapshot", json!({"session": session}))?["size"], size);
    let trapping = client
        .script("trap 'printf caught; exit' USR1; printf set; while :; do read -r x; done")?;
    client.wait_text(&trapping, "set")?;
    client.act(&trapping, json!({"type": "signal", "value": "user1"}))?;
    client.wait_text(&trapping, "caught")?;
    client.wait(&trapping, json!({"type": "process_exited"}))?;
    Ok(())
}

#[test]
fn cells_have_widths_and_styles() -> Result<()> {
    let (_served, mut client) = PtywrightServer::stdio(Framing::Ndjson, &[], &[])?;
    let session = client.script(
        "printf '\\033]2;a title\\007\\033[?1049h\\033[?1h\\033=\\033[H\\033[1;3;31mA\\033[0;7;38;2;1;2;3m漢\\033[0;4;2mz\\033[0m'; exec cat",
    )?;
    client.wait_text(&session, "A漢z")?;
    let snapshot = client.call("session.snapshot", json!({"session": session}))?;
    let style = |changes: Value| {
        let mut style = json!({"foreground": "default", "background": "default", "bold": false, "dim": false,
            "italic": false, "underline": false, "inverse": false});
        let changes = changes.as_object().cloned().unwrap_or_default();
        style.as_object_mut().into_iter().for_each(|style| style.extend(changes.clone()));
        style
    };
    let cell = |col: u16, text: &str, wide: bool, rest: bool, changes: Value| json!({"row": 0, "col": col, "text": text, "wide": wide, "wide_continuation": rest, "style": style(changes)});
    let inverse = json!({"inverse": true, "foreground": "rgb:1:2:3"});
    let expected = [
        cell(0, "A", false, false, json!({"bold": true, "italic": true, "foreground": "idx:1"})),
        cell(1, "漢", true, false, inverse.clone()),
        cell(2, "", false, true, inverse),
        cell(3, "z", false, false, json!({"underline": true, "dim": true})),
        cell(4, "", false, false, json!({})),
    ];
    assert_eq!(snapshot["cells"].as_array().context("cells")?[..5], expected);
    let modes = ["alternate_screen", "application_cursor", "application_keypad"];
    ensure!(modes.iter().all(|mode| snapshot[mode] == true), "{snapshot}");
    assert_eq!(snapshot["title"], "a title");
    Ok(())
}

#[test]
fn secrets_are_redacted_unless_a_client_asks_for_them() -> Result<()> {
    let (_served, mut client) = PtywrightServer::stdio(Framing::Ndjson, &[], &[])?;
    let session = client.script("printf 'TOKEN=hunter2 Anna\\n'; exec cat")?;
    let evidence = client.wait_text(&session, "hunter2")?;
    assert_eq!(evidence["snapshot"]["plain_text"], "TOKEN=[REDACTED] Anna");
    assert_eq!(evidence["transcript_tail"], "TOKEN=[REDACTED] Anna\r\n");
    let raw = client.call("session.transcript", json!({"session": session, "redact": false}))?;
    assert_eq!(raw["text"], "TOKEN=hunter2 Anna\r\n");
    let redaction = json!({"enabled": true, "replacement": "*", "extra_literals": ["Anna"]});
    let params = json!({"session": session, "redaction": redaction});
    assert_eq!(client.call("session.snapshot", params)?["plain_text"], "TOKEN=* *");
    Ok(())
}

#[test]
fn matchers_wait_for_later_output() -> Result<()> {
    let (_served, mut client) = PtywrightServer::stdio(Framing::Ndjson, &[], &[])?;
    let session =
        client.script("stty -echo; printf go; read -r x; printf '\\033[5;10Hdone'; exec cat")?;
    client.wait_text(&session, "go")?;
    client.act(&session, json!({"type": "key", "value": "enter"}))?;
    let all = json!({"type": "all", "value": [
        {"type": "cursor_at", "value": {"row": 4, "col": 13}},
        {"type": "any", "value": [{"type": "process_exited"}, {"type": "screen_regex", "value": "d(on)e"}]},
        {"type": "screen_stable", "value": {"min_ms": 100}},
    ]});
    let evidence = client.wait(&session, all)?;
    ensure!(evidence["elapsed_ms"].as_u64().is_some(), "{evidence}");
    // A message of the client cancels the wait.
    let wait = json!({"session": session, "matcher": {"type": "contains_text", "value": "never"}, "timeout_ms": 600_000});
    let id = client.begin("session.wait", wait)?;
    let cancel = json!({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": id}});
    client.send(&cancel.to_string())?;
    assert_eq!(error(&client.end(id)?)?.0, -32005);
    Ok(())
}

#[test]
fn raw_transcripts_are_complete_and_private() -> Result<()> {
    let (served, mut client) = PtywrightServer::stdio(Framing::Ndjson, &[], &[])?;
    let raw = served.home.path().join("raw");
    // The program prints more than the server buffers.
    let script = "head -c 8000000 /dev/zero | tr '\\0' x; printf 'TOKEN=a\\377'";
    let params = json!({"program": "sh", "args": ["-c", script], "raw_transcript_path": "raw", "transcript_max_chars": 10});
    let session = client.call("session.create", params.clone())?["session"].take();
    let session = session.as_str().context("session")?;
    client.wait(session, json!({"type": "process_exited"}))?;
    let bytes = fs::read(&raw)?;
    assert_eq!((bytes.len(), &bytes[bytes.len() - 8..]), (8_000_008, &b"TOKEN=a\xff"[..]));
    assert_eq!(fs::metadata(&raw)?.permissions().mode() & 0o777, 0o600);
    let text = client.call("session.transcript", json!({"session": session, "redact": false}))?;
    assert_eq!(text["text"], "xxTOKEN=a\u{fffd}");
    let (code, said) = client.fail("session.create", params.clone())?;
    ensure!(code == -32602 && said.contains("raw_transcript_path: raw: File exists"), "{said}");
    let mut appended = params;
    appended["args"] = json!(["-c", "printf more"]);
    appended["raw_transcript_append"] = true.into();
    let session = client.call("session.create", appended.clone())?["session"].take();
    client.wait(session.as_str().context("session")?, json!({"type": "process_exited"}))?;
    ensure!(fs::read(&raw)?.ends_with(b"TOKEN=a\xffmore"));
    symlink("elsewhere", served.home.path().join("link"))?;
    appended["raw_transcript_path"] = "link".into();
    assert_eq!(client.fail("session.create", appended)?.0, -32602);
    ensure!(!served.home.path().join("elsewhere").exists());
    Ok(())
}

#[test]
fn a_socket_is_private_and_its_clients_share_sessions() -> Result<()> {
    for framing in Framing::ALL {
        let served = PtywrightServer::socket(framing)?;
        assert_eq!(fs::metadata(served.path())?.permissions().mode() & 0o777, 0o600);
        let path = served.path();
        let said =
            refused(served.home.path(), &["serve", "--socket", path.to_str().context("path")?])?;
        ensure!(said.contains("another program listens there"), "{said}");
        let (mut one, mut two) = (served.connect()?, served.connect()?);
        let session = one.script("printf ready; exec cat")?;
        let wait =
            json!({"session": session, "matcher": {"type": "contains_text", "value": "typed"}});
        let waiting = one.begin("session.wait", wait)?;
        // The first connection's wait does not block other connections.
        assert_eq!(two.call("session.list", json!({}))?, json!({"sessions": [session]}));
        two.act(&session, json!({"type": "text", "value": "typed\n"}))?;
        assert_eq!(one.end(waiting)?["result"]["matched"], true);
        let wait =
            json!({"session": session, "matcher": {"type": "contains_text", "value": "never"}});
        let waiting = one.begin("session.wait", wait)?;
        two.call("session.close", json!({"session": session}))?;
        assert_eq!(error(&one.end(waiting)?)?.0, -32002);
    }
    Ok(())
}

#[test]
fn a_stale_socket_is_replaced_and_anything_else_is_refused() -> Result<()> {
    let home = tempfile::tempdir()?;
    drop(UnixListener::bind(home.path().join("socket"))?);
    let served = PtywrightServer::socket_in(home, Framing::Ndjson)?;
    assert_eq!(served.connect()?.call("session.list", json!({}))?, json!({"sessions": []}));
    let home = served.home.path();
    fs::write(home.join("file"), "text")?;
    let said = refused(home, &["serve", "--socket", "file"])?;
    ensure!(said.contains("no socket") && fs::read(home.join("file"))? == b"text", "{said}");
    fs::create_dir(home.join("open"))?;
    fs::set_permissions(home.join("open"), fs::Permissions::from_mode(0o777))?;
    let said = refused(home, &["serve", "--socket", "open/socket"])?;
    ensure!(said.contains("other users could replace a socket in open"), "{said}");
    let said = refused(home, &["serve", "--socket", r"\\.\pipe\ptywright"])?;
    ensure!(said.contains("named pipes exist on Windows only"), "{said}");
    let said = refused(home, &["serve"])?;
    ensure!(said.contains("--stdio"), "{said}");
    Ok(())
}

#[test]
fn notifications_follow_replies_for_subscribers_only() -> Result<()> {
    let served = PtywrightServer::socket(Framing::Ndjson)?;
    let (mut one, mut two) = (served.connect()?, served.connect()?);
    let session = one.script("stty -echo; printf before; exec cat")?;
    one.wait_text(&session, "before")?;
    let asked = json!({"enabled": true, "adapters": [], "sessions": [session]});
    assert_eq!(one.call("server.set_notifications", asked.clone())?, asked);
    let other = one.script("printf other; exec cat")?;
    one.wait_text(&other, "other")?;
    one.act(&session, json!({"type": "text", "value": "TOKEN=abc\n"}))?;
    let note = one.note()?;
    assert_eq!(
        (&note["method"], &note["params"]["session"]),
        (&json!("session.changed"), &json!(session))
    );
    let note = one.note()?;
    assert_eq!(note["method"], "session.output");
    assert_eq!(note["params"]["output"], "TOKEN=[REDACTED]\r\n", "only what came after");
    two.call("session.kill", json!({"session": session}))?;
    let exited = loop {
        let note = one.note()?;
        if note["method"] == "session.exited" {
            break note;
        }
    };
    assert_eq!(exited["params"]["session"], json!(session));
    ensure!(one.notes.is_empty() && two.notes.is_empty());
    // The filter applies only to the first client. The second client never enabled notifications.
    let all = json!({"enabled": true});
    let in_force = json!({"enabled": true, "adapters": [], "sessions": []});
    assert_eq!(two.call("server.set_notifications", all)?, in_force);
    two.act(&other, json!({"type": "text", "value": "x\n"}))?;
    assert_eq!(two.note()?["params"]["session"], json!(other));
    let off = json!({"enabled": false, "adapters": [], "sessions": []});
    assert_eq!(one.call("server.set_notifications", json!({"enabled": false}))?, off);
    ensure!(one.notes.is_empty(), "{:?}", one.notes);
    Ok(())
}

#[test]
fn an_unreadable_message_ends_the_connection_with_a_reason() -> Result<()> {
    let served = PtywrightServer::socket(Framing::Lsp)?;
    for (bytes, named) in [
        ("Content-Length: 99999999\r\n\r\n".to_owned(), "longer than 16777216 bytes"),
        ("Content-Length: x\r\n\r\n".to_owned(), "no number"),
        ("x".repeat(5000), "headers of a message are too long"),
    ] {
        let mut client = served.connect()?;
        client.send_raw(bytes.as_bytes())?;
        let (code, said) = error(&client.receive()?.context("no reason")?)?;
        ensure!(code == -32700 && said.contains(named), "{said}");
        ensure!(client.receive()?.is_none(), "the connection is closed");
    }
    // Open more connections than the limit allows. Several more are tried, because the connection that checked the
    // start may still count.
    let clients = (0..70).map(|_| served.connect()).collect::<Result<Vec<_>>>()?;
    let refused = clients.into_iter().rev().find_map(|mut client| client.receive().ok().flatten());
    ensure!(error(&refused.context("none is refused")?)?.1.contains("64 connections"));
    Ok(())
}

#[test]
fn a_client_killed_during_a_wait_leaves_nothing_behind() -> Result<()> {
    let (mut served, mut client) = PtywrightServer::stdio(Framing::Ndjson, &[], &[])?;
    let session = client.script("printf ready; exec cat")?;
    client.wait_text(&session, "ready")?;
    let programs = served.programs()?;
    ensure!(!programs.is_empty(), "the session's program runs below the server");
    let wait = json!({"session": session, "matcher": {"type": "contains_text", "value": "never"}, "timeout_ms": 600_000});
    client.begin("session.wait", wait.clone())?;
    drop(client);
    let status = wait_for("its end", || Ok(served.process.try_wait()?), String::new)?;
    ensure!(status.success(), "{status}");
    let is_there = |pid: &String| std::path::Path::new("/proc").join(pid).exists();
    wait_for(
        "the end of its programs",
        || Ok((!programs.iter().any(is_there)).then_some(())),
        String::new,
    )?;

    let served = PtywrightServer::socket(Framing::Ndjson)?;
    let mut other = served.connect()?;
    let session = other.script("printf ready; exec cat")?;
    let mut client = served.connect()?;
    let waiting = json!({"session": session, "matcher": wait["matcher"], "timeout_ms": 600_000});
    client.begin("session.wait", waiting)?;
    drop(client);
    // The server continues to serve the other client. SIGTERM then ends the server, its socket and its programs.
    other.wait_text(&session, "ready")?;
    let (programs, path) = (served.programs()?, served.path());
    let mut served = served;
    Command::new("kill").arg(served.process.id().to_string()).status()?;
    let status = wait_for("its end", || Ok(served.process.try_wait()?), String::new)?;
    ensure!(status.success() && !path.exists(), "{status}");
    wait_for(
        "the end of its programs",
        || Ok((!programs.iter().any(is_there)).then_some(())),
        String::new,
    )?;
    Ok(())
}

#[test]
fn requests_are_answered_after_the_input_has_ended() -> Result<()> {
    let (mut served, mut client) = PtywrightServer::stdio(Framing::Ndjson, &[], &[])?;
    let created =
        client.begin("session.create", json!({"program": "sh", "args": ["-c", "read -r x"]}))?;
    let wait = json!({"session": "s1", "matcher": {"type": "contains_text", "value": "no"}, "timeout_ms": 100});
    let waiting = client.begin("session.wait", wait)?;
    client.close();
    assert_eq!(client.end(created)?["result"]["session"], "s1");
    assert_eq!(error(&client.end(waiting)?)?.0, -32001);
    ensure!(client.receive()?.is_none());
    let status = wait_for("its end", || Ok(served.process.try_wait()?), String::new)?;
    ensure!(status.success(), "{status}");
    Ok(())
}

#[test]
fn a_link_named_ptywright_accepts_the_same_arguments() -> Result<()> {
    let home = tempfile::tempdir()?;
    let link = home.path().join("ptywright");
    symlink(binary("unterm-cli"), &link)?;
    let mut process = Command::new(&link)
        .args(["serve", "--stdio"])
        .env("UNTERM_HOME", home.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let request = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session.list\"}\n";
    std::io::Write::write_all(&mut process.stdin.take().context("input")?, request.as_bytes())?;
    let output = process.wait_with_output()?;
    let reply: Value = serde_json::from_slice(&output.stdout)?;
    assert_eq!(reply, json!({"jsonrpc": "2.0", "id": 1, "result": {"sessions": []}}));
    Ok(())
}

#[test]
fn sessions_of_a_running_instance_are_its_panes() -> Result<()> {
    let mut unterm = Start::headless().now()?;
    let before = unterm.sessions()?.len();
    let registry = unterm.registry().to_owned();
    let (served, mut client) = PtywrightServer::stdio(
        Framing::Lsp,
        &["--instance", unterm.entry()["id"].as_str().context("id")?],
        &[("UNTERM_HOME", &registry)],
    )?;
    let session = client.script("stty -echo; printf ready; exec cat")?;
    client.wait_text(&session, "ready")?;
    assert_eq!(unterm.sessions()?.len(), before + 1);
    client.act(&session, json!({"type": "text", "value": "typed\n"}))?;
    client.wait(&session, json!({"type": "transcript_contains", "value": "readytyped"}))?;
    let other = client.script("exec cat")?;
    client.call("session.close", json!({"session": session}))?;
    assert_eq!(unterm.sessions()?.len(), before + 1);
    let (code, said) = client.fail("session.snapshot", json!({"session": session}))?;
    ensure!(code == -32602 && said.contains(&session), "{said}");
    client.call("session.kill", json!({"session": other}))?;
    client.wait(&other, json!({"type": "process_exited"}))?;
    drop(client);
    wait_for(
        "the end of its panes",
        || Ok((unterm.sessions()?.len() == before).then_some(())),
        String::new,
    )?;
    drop(served);
    Ok(())
}
