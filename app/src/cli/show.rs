//! Results as text for people.

use serde_json::Value;

/// A method's result as text, each line ended; `None`: it is best read as JSON.
pub fn text(method: &str, result: &Value) -> Option<String> {
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
        "token.revoke" => match result["revoked"] == true {
            true => String::new(),
            false => "there is no token of that number\n".to_owned(),
        },
        "approvals.list" => {
            let pending = list(result, "pending").map(|asked| {
                let [number, client, text] =
                    ["number", "client", "text"].map(|key| plain(&asked[key]));
                [number, second(&asked["asked_at"]), client, text.replace('\n', " ")]
            });
            let allowed = list(result, "allowed")
                .map(|known| [second(&known["since"]), plain(&known["client"])]);
            let pending = table(["NUMBER", "ASKED", "CLIENT", "WAITS FOR AN ANSWER TO"], pending);
            format!("{pending}\n{}", table(["SINCE", "MAY ACT"], allowed))
        }
        "approvals.forget" => match result["forgotten"] == true {
            true => String::new(),
            false => "there is no client of that name\n".to_owned(),
        },
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
        "session.set_env" => match result["applied"] == true {
            true => String::new(),
            false => line(plain(&result["message"])),
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
            false => line(plain(&result["reason"])),
        },
        "orchestrate.wait" => match result["matched"] == true {
            true => String::new(),
            false => "it did not come in time\n".to_owned(),
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
            // Blank rows below the text say nothing to a reader.
            let text = lines.trim_end_matches('\n');
            if text.is_empty() { String::new() } else { line(text.to_owned()) }
        }
        "screen.read" => rows(result, "cells"),
        "screen.search" => rows(result, "matches"),
        "screen.detect_errors" => rows(result, "errors"),
        "session.input" | "exec.run" | "exec.send" | "exec.cancel" | "signal.send"
        | "session.signal" | "session.resize" | "session.destroy" | "action.run"
        | "workspace.save" | "proxy.switch" | "proxy.disable" | "policy.set"
        | "instance.set_title" => String::new(),
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
    fields([
        ("mode", given(&result["mode"])),
        ("url", given(&health["url"])),
        ("from", given(&health["source"])),
        ("answers", answers),
        ("socks", given(&result["socks_proxy"])),
        ("none for", given(&result["no_proxy"])),
        ("node", given(&result["current_node"])),
    ])
}

/// The state of one session.
fn session(result: &Value) -> String {
    let state = match (&result["exit_code"], &result["exit_signal"]) {
        _ if result["is_dead"] != true => "live".to_owned(),
        (Value::Null, Value::Null) => "dead".to_owned(),
        (Value::Null, signal) => format!("dead, by signal {signal}"),
        (code, _) => format!("dead, exit code {code}"),
    };
    let shell = &result["shell"];
    let cursor = &result["cursor"];
    let asks = if result["awaiting_secret"] == true { "for a secret" } else { "" };
    fields([
        ("id", given(&result["id"])),
        ("title", given(&result["title"])),
        ("state", state),
        ("size", format!("{}x{}", result["cols"], result["rows"])),
        ("cursor", format!("column {}, row {}", cursor["x"], cursor["y"])),
        ("runs", given(&shell["process_name"])),
        ("cwd", given(&shell["cwd"])),
        ("asks", asks.to_owned()),
    ])
}

/// A line for each that there is something to say of.
fn fields<const N: usize>(rows: [(&str, String); N]) -> String {
    let told = rows.into_iter().filter(|(_, value)| !value.is_empty());
    told.map(|(name, value)| format!("{name:<9}{value}\n")).collect()
}

/// The same as [`plain`], empty for what is not there.
fn given(value: &Value) -> String {
    if value.is_null() { String::new() } else { plain(value) }
}

/// Variables for a shell to evaluate.
fn exports(result: &Value) -> String {
    if result["enabled"] != true {
        return "# proxy disabled\n".to_owned();
    }
    let env = result["env"].as_object().into_iter().flatten();
    env.map(|(name, value)| format!("export {name}={}\n", unterm_mux::quote::posix(&plain(value))))
        .collect()
}

/// A check of the self test.
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

/// Text without quotes, anything else as JSON.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// A time without fractions of its second.
fn second(time: &Value) -> String {
    let time = plain(time);
    match time.split_once('.') {
        Some((second, rest)) => {
            format!("{second}{}", rest.trim_start_matches(|c: char| c.is_ascii_digit()))
        }
        None => time,
    }
}

/// Columns as wide as their widest entry, the last one ragged.
fn table<const N: usize>(head: [&str; N], rows: impl Iterator<Item = [String; N]>) -> String {
    let rows: Vec<_> = std::iter::once(head.map(str::to_owned)).chain(rows).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let widths: Vec<_> = (0..N).map(|column| width(column).unwrap_or(0)).collect();
    let mut text = String::new();
    for row in &rows {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        text.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
        text.push('\n');
    }
    text
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
            text("session.list", &result).unwrap(),
            "ID  SIZE   STATE  SHELL  TITLE\n1   80x24  live   bash   a b\n10  80x24  live   bash\n"
        );
    }

    #[test]
    fn a_token_is_a_line_and_tokens_are_a_table() {
        let made = json!({"token": "unterm_1", "number": 2, "name": "bot"});
        assert_eq!(text("token.create", &made).unwrap(), "unterm_1\n");
        let at = "2026-11-22T18:23:03.772494843Z";
        let result = json!({"tokens": [
            {"number": 2, "name": "build bot", "scope": "act", "made_at": at, "panes": [0, 3]},
            {"number": 10, "name": "x", "scope": "read", "made_at": at, "expires_at": "2026-12-22T18:23:03Z"},
        ]});
        assert_eq!(
            text("token.list", &result).unwrap(),
            "NUMBER  SCOPE  SESSIONS  MADE                  ENDS                  NAME\n\
             2       act    0,3       2026-11-22T18:23:03Z  never                 build bot\n\
             10      read   all       2026-11-22T18:23:03Z  2026-12-22T18:23:03Z  x\n"
        );
        assert_eq!(text("token.revoke", &json!({"revoked": true})).unwrap(), "");
    }

    #[test]
    fn states_are_lines_without_what_is_not_there() {
        let off = json!({"enabled": false, "mode": "off", "http_proxy": null, "health": null});
        assert_eq!(text("proxy.status", &off).unwrap(), "mode     off\n");
        let health = json!({"source": "manual", "url": "http://a:1", "reachable": true});
        let on = json!({"mode": "manual", "current_node": "a", "health": health});
        assert_eq!(
            text("proxy.status", &on).unwrap(),
            "mode     manual\nurl      http://a:1\nfrom     manual\nanswers  yes\nnode     a\n"
        );
        let dead = json!({"id": 3, "title": "x", "cols": 80, "rows": 24, "cursor": {"x": 1, "y": 2},
            "is_dead": true, "exit_code": 4, "shell": {"process_name": "", "cwd": "file:///"}});
        assert_eq!(
            text("session.status", &dead).unwrap(),
            "id       3\ntitle    x\nstate    dead, exit code 4\nsize     80x24\n\
             cursor   column 1, row 2\ncwd      file:///\n"
        );
        let cursor = json!({"x": 1, "y": 2, "visible": false, "shape": "SteadyBar"});
        assert_eq!(text("screen.cursor", &cursor).unwrap(), "column 1, row 2, SteadyBar, hidden\n");
    }

    #[test]
    fn a_shell_can_evaluate_the_proxy() {
        let result =
            json!({"enabled": true, "env": {"HTTP_PROXY": "http://it's:1", "NO_PROXY": "a,b"}});
        assert_eq!(
            text("proxy.env", &result).unwrap(),
            "export HTTP_PROXY='http://it'\\''s:1'\nexport NO_PROXY='a,b'\n"
        );
        let off = json!({"enabled": false, "env": {}});
        assert_eq!(text("proxy.env", &off).unwrap(), "# proxy disabled\n");
    }

    #[test]
    fn output_is_printed_as_it_was_with_a_line_end() {
        let shown = |output: &str| text("exec.run_wait", &json!({"output": output})).unwrap();
        assert_eq!(shown(""), "");
        assert_eq!(shown("a\n b"), "a\n b\n");
    }

    #[test]
    fn blank_rows_below_the_text_are_left_out() {
        let shown = |lines: Value| text("screen.text", &json!({"lines": lines})).unwrap();
        assert_eq!(shown(json!(["", "a", "", "b", "", ""])), "\na\n\nb\n");
        assert_eq!(shown(json!(["", ""])), "");
    }

    #[test]
    fn what_has_no_form_of_its_own_is_json() {
        assert_eq!(text("server.health", &json!({})), None);
        assert_eq!(text("exec.run", &json!({"sent": true})).unwrap(), "");
    }
}
