//! Results as text for people, and the complaints that results stand for.

use serde_json::Value;

use crate::fields;

/// A method's result as text, with a line end after each line. Methods without a form of their own get a general one.
pub fn text(method: &str, result: &Value) -> String {
    own_form(method, result).unwrap_or_else(|| fields::text(result))
}

/// The reason why a call that succeeded counts as failed; empty if its output says so by itself.
pub fn complaint(method: &str, result: &Value) -> Option<String> {
    let is = |key: &str, expected: bool| result[key] == expected;
    let why = match method {
        "token.revoke" if is("revoked", false) => "no token has this number",
        "approvals.forget" if is("forgotten", false) => "no client has this name",
        "orchestrate.wait" if is("matched", false) => "the text did not appear in time",
        "session.wait" if is("matched", false) => "nothing of that happened in time",
        "action.run" if is("done", false) => "there was nothing to do",
        "exec.run_wait" if is("timed_out", true) => "the command is still running",
        "exec.run_wait" if is("interrupted", true) => "the command was interrupted",
        "exec.run_wait" if result["exit_code"].as_i64().unwrap_or(0) != 0 => "",
        "selftest.run" if is("ok", false) => "",
        "session.env" if result["value"].is_null() => "the variable is not set",
        "session.set_env" if is("applied", false) => return Some(plain(&result["message"])),
        "policy.check" if is("allowed", false) => return Some(plain(&result["reason"])),
        "proxy.configure" if result["refused"][0].is_object() => {
            let refused = list(result, "refused").map(|node| plain(&node["error"]));
            return Some(refused.collect::<Vec<_>>().join("\n"));
        }
        _ => return None,
    };
    Some(why.to_owned())
}

/// The text of methods with their own format; `None` for all others.
fn own_form(method: &str, result: &Value) -> Option<String> {
    Some(match method {
        "session.list" => table(
            ["ID", "SIZE", "STATE", "SHELL", "TITLE"],
            list(result, "sessions").map(|session| {
                let state = if session["is_dead"] == true { "dead" } else { "live" };
                [
                    plain(&session["id"]),
                    format!("{}x{}", session["cols"], session["rows"]),
                    state.to_owned(),
                    plain(&session["shell"]["shell_type"]),
                    plain(&session["title"]),
                ]
            }),
        ),
        "instance.list" => table(
            ["ID", "PID", "PORT", "STARTED", "TITLE"],
            list(result, "instances").map(|instance| {
                ["id", "pid", "mcp_port", "started_at", "title"].map(|key| plain(&instance[key]))
            }),
        ),
        "action.list" => table(
            ["NAME", "KEY", "WHAT IT DOES"],
            list(result, "actions").map(|action| {
                let argument = plain(&action["argument"]);
                let doc = match argument.as_str() {
                    "" => plain(&action["doc"]),
                    argument => format!("{} Takes {argument}.", plain(&action["doc"])),
                };
                [plain(&action["name"]), plain(&action["key"]), doc]
            }),
        ),
        "token.create" => line(plain(&result["token"])),
        "token.list" => table(
            ["NUMBER", "SCOPE", "SESSIONS", "MADE", "ENDS", "NAME"],
            list(result, "tokens").map(|token| {
                let panes = match token["panes"].as_array() {
                    Some(panes) => panes.iter().map(plain).collect::<Vec<_>>().join(","),
                    None => "all".to_owned(),
                };
                let ends = match &token["expires_at"] {
                    Value::Null => "never".to_owned(),
                    time => second(time),
                };
                let [number, scope, name] =
                    ["number", "scope", "name"].map(|key| plain(&token[key]));
                [number, scope, panes, second(&token["made_at"]), ends, name]
            }),
        ),
        "approvals.list" => {
            let pending = list(result, "pending").map(|asked| {
                let [number, client, text] =
                    ["number", "client", "text"].map(|key| plain(&asked[key]));
                [number, second(&asked["asked_at"]), client, text.replace('\n', " ")]
            });
            let allowed = list(result, "allowed")
                .map(|known| [second(&known["since"]), plain(&known["client"])]);
            let pending = table(["NUMBER", "ASKED", "CLIENT", "QUESTION"], pending);
            format!("{pending}\n{}", table(["SINCE", "ALLOWED CLIENT"], allowed))
        }
        "settings.open" => line(plain(&result["url"])),
        "session.create" | "orchestrate.launch" => line(plain(&result["id"])),
        "session.cwd" => line(plain(&result["cwd"])),
        "session.idle" => line(match result["idle"] == true {
            true => "idle".to_owned(),
            false => format!("running {}", plain(&result["foreground_process"])),
        }),
        "exec.status" => {
            line(format!("{} {}", plain(&result["status"]), plain(&result["foreground_process"])))
        }
        "session.env" => match &result["value"] {
            Value::Null => String::new(),
            value => line(plain(value)),
        },
        "session.recording_start" => line(plain(&result["log_path"])),
        "session.recording_stop" => line(plain(&result["md_path"])),
        "session.recording_status" => line(match result["recording"] == true {
            true => format!("recording since {}", plain(&result["started_at"])),
            false => "not recording".to_owned(),
        }),
        "session.recording_list" => table(
            ["ID", "SESSION", "STARTED", "BLOCKS", "PAGE"],
            result.as_array().into_iter().flatten().map(|row| {
                ["unterm_session_id", "tab_id", "started_at", "block_count", "md_path"]
                    .map(|key| plain(&row[key]))
            }),
        ),
        "session.recording_read" => plain(&result["markdown"]),
        "session.export_markdown" => line(plain(&result["path"])),
        "session.audit_log" => table(
            ["TIME", "METHOD", "SESSION", "OUTCOME", "DETAIL", "ERROR"],
            result.as_array().into_iter().flatten().map(|entry| {
                ["timestamp", "method", "session_id", "outcome", "detail", "error"]
                    .map(|key| entry[key].as_str().unwrap_or_default().replace('\n', " "))
            }),
        ),
        "capture.screen" | "capture.window" | "capture.select" => {
            line(plain(&result["image"]["path"]))
        }
        "capture.clipboard" => match result["type"] == "text" {
            true => plain(&result["content"]),
            false => line(plain(&result["image_path"])),
        },
        "workspace.list" => {
            list(result, "workspaces").map(|entry| line(plain(&entry["name"]))).collect()
        }
        "proxy.nodes" => table(
            ["", "NAME", "URL", "LATENCY", "AVAILABLE"],
            list(result, "nodes").map(|node| {
                let mark = if node["name"] == result["current_node"] { "*" } else { "" };
                let [name, url, latency, available] =
                    ["name", "url", "latency_ms", "available"].map(|key| plain(&node[key]));
                [mark.to_owned(), name, url, latency, available]
            }),
        ),
        "proxy.env" => exports(result),
        "proxy.status" => proxy(result),
        "session.get" | "session.status" => session(result),
        "screen.cursor" => {
            let hidden = if result["visible"] == true { "" } else { ", hidden" };
            let shape = plain(&result["shape"]);
            format!("column {}, row {}, {shape}{hidden}\n", result["x"], result["y"])
        }
        "policy.check" => match result["allowed"] == true {
            true => "allowed\n".to_owned(),
            false => String::new(),
        },
        "selftest.run" => list(result, "checks").map(check).collect(),
        "session.history" => {
            list(result, "entries").map(|entry| line(plain(&entry["text"]))).collect()
        }
        "exec.run_wait" => {
            let output = plain(&result["output"]);
            if output.is_empty() { output } else { line(output) }
        }
        "screen.text" | "screen.scroll" => {
            let lines: String = list(result, "lines").map(|text| line(plain(text))).collect();
            // Leave out the blank rows below the text.
            let text = lines.trim_end_matches('\n');
            if text.is_empty() { String::new() } else { line(text.to_owned()) }
        }
        "screen.read" => rows(result, "cells"),
        "screen.search" => rows(result, "matches"),
        "screen.detect_errors" => rows(result, "errors"),
        "session.input"
        | "exec.run"
        | "exec.send"
        | "exec.cancel"
        | "signal.send"
        | "session.signal"
        | "session.resize"
        | "session.destroy"
        | "action.run"
        | "workspace.save"
        | "proxy.switch"
        | "proxy.disable"
        | "proxy.configure"
        | "policy.set"
        | "instance.set_title"
        | "instance.focus"
        | "token.revoke"
        | "approvals.forget"
        | "session.set_env"
        | "session.recording_attach_trace"
        | "orchestrate.wait" => String::new(),
        _ => return None,
    })
}

/// The proxy in force.
fn proxy(result: &Value) -> String {
    let health = &result["health"];
    let answers = match &health["reachable"] {
        Value::Null => String::new(),
        reachable if *reachable == true => "yes".to_owned(),
        _ => given(&health["hint"]),
    };
    rows_of([
        ("mode", given(&result["mode"])),
        ("url", given(&health["url"])),
        ("from", given(&health["source"])),
        ("responds", answers),
        ("socks", given(&result["socks_proxy"])),
        ("except", given(&result["no_proxy"])),
        ("node", given(&result["current_node"])),
    ])
}

/// The state of a session.
fn session(result: &Value) -> String {
    let state = match (&result["exit_code"], &result["exit_signal"]) {
        _ if result["is_dead"] != true => "live".to_owned(),
        (Value::Null, Value::Null) => "dead".to_owned(),
        (Value::Null, signal) => format!("dead, by signal {signal}"),
        (code, _) => format!("dead, exit code {code}"),
    };
    let shell = &result["shell"];
    let cursor = &result["cursor"];
    let asks = if result["awaiting_secret"] == true { "secret" } else { "" };
    rows_of([
        ("id", given(&result["id"])),
        ("title", given(&result["title"])),
        ("state", state),
        ("size", format!("{}x{}", result["cols"], result["rows"])),
        ("cursor", format!("column {}, row {}", cursor["x"], cursor["y"])),
        ("runs", given(&shell["process_name"])),
        ("cwd", given(&shell["cwd"])),
        ("input", asks.to_owned()),
    ])
}

/// One line for each row with a value.
fn rows_of<const N: usize>(rows: [(&str, String); N]) -> String {
    let given = rows.into_iter().filter(|(_, value)| !value.is_empty());
    given.map(|(name, value)| format!("{name:<9}{value}\n")).collect()
}

/// As [`plain`], but empty for null.
fn given(value: &Value) -> String {
    if value.is_null() { String::new() } else { plain(value) }
}

/// Shell commands that set the proxy variables.
fn exports(result: &Value) -> String {
    if result["enabled"] != true {
        return "# proxy disabled\n".to_owned();
    }
    let env = result["env"].as_object().into_iter().flatten();
    env.map(|(name, value)| format!("export {name}={}\n", unterm_mux::quote::posix(&plain(value))))
        .collect()
}

/// A check of the self-test.
fn check(check: &Value) -> String {
    let name = plain(&check["name"]);
    match check["ok"] == true {
        true => format!("ok      {name}\n"),
        false => format!("FAILED  {name}: {}\n", check["detail"]),
    }
}

fn list<'a>(result: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    result[key].as_array().into_iter().flatten()
}

/// A row's number, a tab, and its text.
fn rows(result: &Value, key: &str) -> String {
    list(result, key).map(|row| format!("{}\t{}\n", row["row"], plain(&row["text"]))).collect()
}

fn line(mut text: String) -> String {
    text.push('\n');
    text
}

/// A string without quotes; any other value as JSON.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// A time without fractions of a second.
fn second(time: &Value) -> String {
    let time = plain(time);
    match time.split_once('.') {
        Some((second, rest)) => {
            format!("{second}{}", rest.trim_start_matches(|c: char| c.is_ascii_digit()))
        }
        None => time,
    }
}

/// A table whose columns are as wide as their widest entry; the last column has no padding.
fn table<const N: usize>(head: [&str; N], rows: impl Iterator<Item = [String; N]>) -> String {
    fields::table(&head.map(str::to_owned), rows.map(Vec::from))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn sessions_are_a_table() {
        let session = |id, title| json!({"id": id, "cols": 80, "rows": 24, "is_dead": false, "title": title, "shell": {"shell_type": "bash"}});
        let result = json!({"sessions": [session(1, "a b"), session(10, "")]});
        assert_eq!(
            text("session.list", &result),
            "ID  SIZE   STATE  SHELL  TITLE\n1   80x24  live   bash   a b\n10  80x24  live   bash\n"
        );
    }

    #[test]
    fn a_token_is_a_line_and_tokens_are_a_table() {
        let made = json!({"token": "unterm_1", "number": 2, "name": "bot"});
        assert_eq!(text("token.create", &made), "unterm_1\n");
        let at = "2026-11-22T18:23:03.772494843Z";
        let result = json!({"tokens": [
            {"number": 2, "name": "build bot", "scope": "act", "made_at": at, "panes": [0, 3]},
            {"number": 10, "name": "x", "scope": "read", "made_at": at, "expires_at": "2026-12-22T18:23:03Z"},
        ]});
        assert_eq!(
            text("token.list", &result),
            "NUMBER  SCOPE  SESSIONS  MADE                  ENDS                  NAME\n\
             2       act    0,3       2026-11-22T18:23:03Z  never                 build bot\n\
             10      read   all       2026-11-22T18:23:03Z  2026-12-22T18:23:03Z  x\n"
        );
        assert_eq!(text("token.revoke", &json!({"revoked": true})), "");
    }

    #[test]
    fn states_are_lines_without_what_is_not_there() {
        let off = json!({"enabled": false, "mode": "off", "http_proxy": null, "health": null});
        assert_eq!(text("proxy.status", &off), "mode     off\n");
        let health = json!({"source": "manual", "url": "http://a:1", "reachable": true});
        let on = json!({"mode": "manual", "current_node": "a", "health": health});
        assert_eq!(
            text("proxy.status", &on),
            "mode     manual\nurl      http://a:1\nfrom     manual\nresponds yes\nnode     a\n"
        );
        let dead = json!({"id": 3, "title": "x", "cols": 80, "rows": 24, "cursor": {"x": 1, "y": 2},
            "is_dead": true, "exit_code": 4, "shell": {"process_name": "", "cwd": "file:///"}});
        assert_eq!(
            text("session.status", &dead),
            "id       3\ntitle    x\nstate    dead, exit code 4\nsize     80x24\n\
             cursor   column 1, row 2\ncwd      file:///\n"
        );
        let cursor = json!({"x": 1, "y": 2, "visible": false, "shape": "SteadyBar"});
        assert_eq!(text("screen.cursor", &cursor), "column 1, row 2, SteadyBar, hidden\n");
    }

    #[test]
    fn a_shell_can_evaluate_the_proxy() {
        let result =
            json!({"enabled": true, "env": {"HTTP_PROXY": "http://it's:1", "NO_PROXY": "a,b"}});
        assert_eq!(
            text("proxy.env", &result),
            "export HTTP_PROXY='http://it'\\''s:1'\nexport NO_PROXY='a,b'\n"
        );
        let off = json!({"enabled": false, "env": {}});
        assert_eq!(text("proxy.env", &off), "# proxy disabled\n");
    }

    #[test]
    fn output_is_printed_as_it_was_with_a_line_end() {
        let shown = |output: &str| text("exec.run_wait", &json!({"output": output}));
        assert_eq!(shown(""), "");
        assert_eq!(shown("a\n b"), "a\n b\n");
    }

    #[test]
    fn blank_rows_below_the_text_are_left_out() {
        let shown = |lines: Value| text("screen.text", &json!({"lines": lines}));
        assert_eq!(shown(json!(["", "a", "", "b", "", ""])), "\na\n\nb\n");
        assert_eq!(shown(json!(["", ""])), "");
    }

    #[test]
    fn a_result_that_is_a_failure_has_its_reason() {
        let complaint = |method: &str, result: Value| complaint(method, &result);
        let revoked = |is: bool| complaint("token.revoke", json!({"revoked": is}));
        assert_eq!(
            (revoked(true), revoked(false).unwrap().as_str()),
            (None, "no token has this number")
        );
        assert_eq!(complaint("exec.run_wait", json!({"exit_code": 3})).unwrap(), "");
        assert_eq!(complaint("exec.run_wait", json!({"exit_code": 0})), None);
        let refused = json!({"allowed": false, "reason": "Blocked by \"sudo\""});
        assert_eq!(complaint("policy.check", refused).unwrap(), "Blocked by \"sudo\"");
        assert_eq!(text("policy.check", &json!({"allowed": false})), "");
    }

    #[test]
    fn no_result_is_json() {
        assert_eq!(text("exec.run", &json!({"sent": true})), "");
        let health = json!({"ok": true, "ports": {"mcp": 1, "http": 2}});
        assert!(!text("server.health", &health).contains(['{', '"']));
    }
}
