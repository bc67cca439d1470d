//! The text of replies for the user, and the replies that count as failures: a table with an entry for each method.

use serde::Serialize;
use serde_json::Value;
use unterm_control::{
    Error,
    methods::{
        Method, action, approvals, audit, capture, exec, explain, instance, orchestrate, policy,
        proxy, recording, screen, selftest, session, settings, signal, token, variables,
        verify_handover, wait, workspace,
    },
};

use crate::cli::{
    explain_text, fields,
    form::{ReplyText, Show, general, shown, silent},
};

/// The methods whose replies have their own text form. The replies of all other methods have the general form.
static FORMS: &[&dyn Show] = &[
    // Sessions.
    &shown::<session::List>(sessions),
    &shown::<session::Get>(session),
    &shown::<session::Status>(session),
    &shown::<session::Create>(created),
    &shown::<orchestrate::Launch>(created),
    &shown::<explain::Explain>(explain_text::text),
    &shown::<verify_handover::VerifyHandover>(verified)
        .failing(|reply| unless(reply.equal, "another instance would not show the same")),
    &shown::<session::Cwd>(|reply| line(&reply.cwd)),
    &shown::<session::Idle>(|reply| match reply.idle {
        true => line("idle"),
        false => format!("running {}\n", reply.foreground_process),
    }),
    &shown::<session::History>(|reply| {
        reply.entries.iter().map(|entry| line(&entry.text)).collect()
    }),
    &shown::<variables::Env>(|reply| reply.value.as_deref().map_or_else(String::new, line))
        .failing(|reply| unless(reply.value.is_some(), "the variable is not set")),
    &silent::<variables::SetEnv>().failing(|reply| unless(reply.applied, &reply.message)),
    &silent::<session::Input>(),
    &silent::<session::Resize>(),
    &silent::<session::Destroy>(),
    &silent::<signal::Signal>(),
    &silent::<signal::Send>(),
    &general::<wait::Wait>()
        .failing(|reply| unless(reply.matched, "nothing of that happened in time")),
    // Recordings and exports.
    &shown::<recording::Start>(|reply| line(&reply.log_path)),
    &shown::<recording::Stop>(|reply| line(&reply.md_path)),
    &shown::<recording::Status>(|reply| match reply.recording {
        true => format!("recording since {}\n", plain(&reply.started_at)),
        false => line("not recording"),
    }),
    &shown::<recording::List>(|rows| recordings(rows)),
    &shown::<recording::Read>(|reply| reply.markdown.clone()),
    &shown::<recording::Export>(|reply| line(&reply.path)),
    &silent::<recording::AttachTrace>(),
    // Commands.
    &shown::<exec::Status>(|reply| {
        format!("{} {}\n", plain(&reply.status), reply.foreground_process)
    }),
    &shown::<exec::RunWait>(output).failing(unsuccessful).noting(|reply| {
        reply.truncated.then(|| "The beginning of the output is missing.".to_owned())
    }),
    &silent::<exec::Run>(),
    &silent::<exec::Send>(),
    &silent::<exec::Cancel>(),
    &silent::<orchestrate::Wait>()
        .failing(|reply| unless(reply.matched, "the text did not appear in time")),
    // Screens.
    &shown::<screen::Read>(|reply| rows(&reply.cells)),
    &shown::<screen::Text>(|reply| {
        reply.fields().map_or_else(|_| String::new(), |it| text(&it.lines))
    })
    .failing(|reply| {
        let unread = |error| Error::Unread { method: screen::Text::NAME, error };
        reply.fields().err().map(|error| unread(error).to_string())
    }),
    &shown::<screen::Scroll>(|reply| text(&reply.lines)),
    &shown::<screen::Search>(|reply| rows(&reply.matches)),
    &shown::<screen::DetectErrors>(|reply| rows(reply.errors.iter().map(|error| &error.row))),
    &shown::<screen::Cursor>(cursor),
    // Pictures and the clipboard.
    &shown::<capture::Screen>(|reply| line(&reply.image.path)),
    &shown::<capture::Window>(|reply| line(&reply.image.path)),
    &shown::<capture::Select>(|reply| line(&reply.image.path)),
    &shown::<capture::Clipboard>(|reply| match reply {
        capture::ClipboardReply::Text { content } => content.clone(),
        capture::ClipboardReply::Image { image_path, .. } => line(image_path),
    }),
    // Layouts and the window.
    &shown::<workspace::List>(|reply| reply.workspaces.iter().map(|it| line(&it.name)).collect()),
    &silent::<workspace::Save>(),
    &shown::<workspace::Restore>(restored),
    &shown::<action::List>(actions),
    &silent::<action::Run>().failing(|reply| unless(reply.done, "there was nothing to do")),
    &shown::<instance::List>(instances),
    &silent::<instance::SetTitle>(),
    &silent::<instance::Focus>(),
    &shown::<settings::Open>(|reply| line(&reply.url)),
    // The proxy.
    &shown::<proxy::Status>(proxy_in_force),
    &shown::<proxy::Nodes>(nodes),
    &shown::<proxy::Env>(exports),
    &silent::<proxy::Switch>(),
    &silent::<proxy::Disable>(),
    &silent::<proxy::Configure>().failing(|reply| {
        let refused: Vec<_> = reply.refused.iter().map(|node| node.error.as_str()).collect();
        unless(refused.is_empty(), &refused.join("\n"))
    }),
    // Rules, tokens, approvals and the audit log.
    &silent::<policy::Set>(),
    &shown::<policy::Check>(|reply| if reply.allowed { line("allowed") } else { String::new() })
        .failing(|reply| unless(reply.allowed, &plain(&reply.reason))),
    &shown::<token::Create>(|reply| line(&reply.token)),
    &shown::<token::List>(tokens),
    &silent::<token::Revoke>().failing(|reply| unless(reply.revoked, "no token has this number")),
    &shown::<approvals::List>(questions),
    &silent::<approvals::Forget>()
        .failing(|reply| unless(reply.forgotten, "no client has this name")),
    &shown::<audit::Log>(|entries| log(entries)),
    &shown::<selftest::Run>(|reply| reply.checks.iter().map(check).collect())
        .failing(|reply| unless(reply.ok, "")),
];

/// Shows a method's reply.
pub fn reply(method: &str, reply: &Value) -> ReplyText {
    let form = FORMS.iter().find(|form| form.method() == method);
    form.map_or_else(|| ReplyText::general(reply), |form| form.show(reply))
}

/// Returns the reason `why` if a reply is not fine.
fn unless(is_fine: bool, why: &str) -> Option<String> {
    (!is_fine).then(|| why.to_owned())
}

fn sessions(reply: &session::ListReply) -> String {
    table(
        ["ID", "SIZE", "STATE", "SHELL", "TITLE"],
        reply.sessions.iter().map(|session| {
            [
                session.id.to_string(),
                format!("{}x{}", session.cols, session.rows),
                if session.is_dead { "dead" } else { "live" }.to_owned(),
                plain(&session.shell.shell_type),
                session.title.clone(),
            ]
        }),
    )
}

fn session(reply: &session::StatusReply) -> String {
    let state = match (reply.exit_code, reply.exit_signal) {
        _ if !reply.is_dead => "live".to_owned(),
        (Some(code), _) => format!("dead, exit code {code}"),
        (None, Some(signal)) => format!("dead, by signal {signal}"),
        (None, None) => "dead".to_owned(),
    };
    let asks = if reply.awaiting_secret { "secret" } else { "" };
    properties([
        ("id", &reply.id.to_string()),
        ("title", &reply.title),
        ("state", &state),
        ("size", &format!("{}x{}", reply.cols, reply.rows)),
        ("cursor", &format!("column {}, row {}", reply.cursor.x, reply.cursor.y)),
        ("runs", &reply.shell.process_name),
        ("cwd", &reply.shell.cwd),
        ("input", asks),
    ])
}

fn created(reply: &session::CreateReply) -> String {
    line(&reply.id.to_string())
}

fn recordings(rows: &[recording::Listed]) -> String {
    table(
        ["ID", "SESSION", "STARTED", "BLOCKS", "PAGE"],
        rows.iter().map(|row| {
            let (session, blocks) = (row.tab_id.to_string(), row.block_count.to_string());
            let (id, page) = (row.unterm_session_id.clone(), row.md_path.clone());
            [id, session, row.started_at.clone(), blocks, page]
        }),
    )
}

/// The output of a command.
fn output(reply: &exec::RunWaitReply) -> String {
    if reply.output.is_empty() { String::new() } else { line(&reply.output) }
}

/// The reason why a command counts as failed. Empty if only its exit code is not 0, because the exit code is reported
/// anyway.
fn unsuccessful(reply: &exec::RunWaitReply) -> Option<String> {
    let why = match reply {
        _ if reply.timed_out => "the command is still running",
        _ if reply.interrupted => "the command was interrupted",
        exec::RunWaitReply { reason: Some(reason), .. } => reason,
        _ if reply.exit_code.unwrap_or(0) != 0 => "",
        _ => return None,
    };
    Some(why.to_owned())
}

fn cursor(reply: &screen::CursorReply) -> String {
    let hidden = if reply.visible { "" } else { ", hidden" };
    format!("column {}, row {}, {}{hidden}\n", reply.x, reply.y, plain(&reply.shape))
}

/// The lines of a screen, without the blank lines below the text.
fn text(lines: &screen::Lines) -> String {
    let lines: String = lines.iter().map(line).collect();
    let text = lines.trim_end_matches('\n');
    if text.is_empty() { String::new() } else { line(text) }
}

/// The number of each row, a tab, and the text of the row.
fn rows<'a>(rows: impl IntoIterator<Item = &'a screen::Row>) -> String {
    rows.into_iter().map(|row| format!("{}\t{}\n", row.row, row.text)).collect()
}

fn actions(reply: &action::ListReply) -> String {
    table(
        ["NAME", "KEY", "WHAT IT DOES"],
        reply.actions.iter().map(|action| {
            let doc = match &*action.argument {
                "" => action.doc.to_string(),
                argument => format!("{} Takes {argument}.", action.doc),
            };
            [action.name.to_string(), action.key.clone(), doc]
        }),
    )
}

fn verified(reply: &verify_handover::VerifyReply) -> String {
    let rebuilt = reply.rebuilt.as_deref().or(reply.reason.as_deref()).unwrap_or_default();
    properties([
        ("terminal", &reply.live),
        ("rebuilt", rebuilt),
        ("saved", &format!("{} bytes", reply.checkpoint_bytes)),
        ("since", &format!("{} bytes", reply.output_bytes)),
    ])
}

fn instances(reply: &instance::ListReply) -> String {
    let mut text = table(
        ["ID", "PID", "PORT", "STARTED", "TITLE"],
        reply.instances.iter().map(|instance| {
            let (pid, port) = (instance.pid.to_string(), instance.mcp_port.to_string());
            let (started, title) = (instance.started_at.clone(), instance.title.clone());
            [instance.id.clone(), pid, port, started, title]
        }),
    );
    if !reply.detached.is_empty() {
        text.push('\n');
        text += &table(
            ["DETACHED", "SINCE", "PROGRAM", "TITLE"],
            reply.detached.iter().map(|program| {
                let ended = if program.has_ended { " (ended)" } else { "" };
                let name = format!("{}{ended}", program.program);
                [program.instance.clone(), program.since.clone(), name, program.title.clone()]
            }),
        );
    }
    text
}

fn proxy_in_force(reply: &proxy::StatusReply) -> String {
    let given = |value: &Option<String>| value.clone().unwrap_or_default();
    let health = reply.health.as_ref();
    let answers = health.map(|health| match health.reachable {
        true => "yes".to_owned(),
        false => given(&health.hint),
    });
    properties([
        ("mode", &reply.mode),
        ("url", &health.map(|health| given(&health.url)).unwrap_or_default()),
        ("from", health.map_or("", |health| &health.source)),
        ("responds", &answers.unwrap_or_default()),
        ("socks", &given(&reply.socks_proxy)),
        ("except", &given(&reply.no_proxy)),
        ("node", &given(&reply.current_node)),
    ])
}

fn nodes(reply: &proxy::NodesReply) -> String {
    table(
        ["", "NAME", "URL", "LATENCY", "AVAILABLE"],
        reply.nodes.iter().map(|node| {
            let is_used = reply.current_node.as_ref() == Some(&node.name);
            let mark = if is_used { "*" } else { "" }.to_owned();
            let (latency, available) = (plain(&node.latency_ms), plain(&node.available));
            [mark, node.name.clone(), node.url.clone(), latency, available]
        }),
    )
}

/// Shell commands that set the environment variables of the proxy.
fn exports(reply: &proxy::EnvReply) -> String {
    if !reply.enabled {
        return line("# proxy disabled");
    }
    let export = |(name, value): (&String, &Value)| {
        format!("export {name}={}\n", unterm_mux::quote::posix(&plain(value)))
    };
    reply.env.iter().map(export).collect()
}

fn tokens(reply: &token::ListReply) -> String {
    table(
        ["NUMBER", "SCOPE", "SESSIONS", "MADE", "ENDS", "NAME"],
        reply.tokens.iter().map(|token| {
            let panes = match &token.panes {
                Some(panes) => panes.iter().map(u64::to_string).collect::<Vec<_>>().join(","),
                None => "all".to_owned(),
            };
            let ends = token.expires_at.as_deref().map_or_else(|| "never".to_owned(), second);
            let (number, scope) = (token.number.to_string(), plain(&token.scope));
            [number, scope, panes, second(&token.made_at), ends, token.name.clone()]
        }),
    )
}

/// The open questions, in the words and the order of the window; and the clients that may act without asking.
fn questions(reply: &approvals::ListReply) -> String {
    let pending = reply.pending.iter().map(|asked| {
        let (number, since, heading) = (asked.number, second(&asked.asked_at), asked.heading());
        let choices = asked.choices.iter().map(|choice| asked.title(choice));
        let choices: Vec<_> = choices.chain(asked.leaving().map(str::to_owned)).collect();
        let (text, choices) = (asked.text_on_one_line(), choices.join(" | "));
        format!("{number}  {since}  {heading}\n    {text}\n    {choices}\n")
    });
    let pending: String = pending.collect();
    let pending = if pending.is_empty() { "No questions.\n" } else { &*pending };
    let allowed = reply.allowed.iter().map(|known| [second(&known.since), known.client.clone()]);
    format!("{pending}\n{}", table(["SINCE", "ALLOWED CLIENT"], allowed))
}

fn log(entries: &[audit::Entry]) -> String {
    table(
        ["TIME", "METHOD", "SESSION", "OUTCOME", "DETAIL", "ERROR"],
        entries.iter().map(|entry| {
            let session = entry.session_id.as_deref().unwrap_or_default();
            let outcome = plain(&entry.outcome);
            [&entry.timestamp, &entry.method, session, &outcome, &entry.detail, &entry.error]
                .map(on_one_line)
        }),
    )
}

/// The line for a check of the self-test.
fn check(check: &selftest::Check) -> String {
    match check.ok {
        true => format!("ok      {}\n", check.name),
        false => format!("FAILED  {}: {}\n", check.name, check.detail),
    }
}

/// A line for each property that has a value.
fn properties<const N: usize>(properties: [(&str, &str); N]) -> String {
    let given = properties.into_iter().filter(|(_, value)| !value.is_empty());
    given.map(|(name, value)| format!("{name:<9}{value}\n")).collect()
}

fn line(text: &str) -> String {
    format!("{text}\n")
}

fn on_one_line(text: &str) -> String {
    text.replace('\n', " ")
}

/// Text and words without quotes. Any other value as JSON.
fn plain(value: &impl Serialize) -> String {
    match serde_json::to_value(value).unwrap_or_default() {
        Value::String(text) => text,
        value => value.to_string(),
    }
}

/// A time, without fractions of a second.
fn second(time: &str) -> String {
    match time.split_once('.') {
        Some((second, rest)) => {
            format!("{second}{}", rest.trim_start_matches(|c: char| c.is_ascii_digit()))
        }
        None => time.to_owned(),
    }
}

/// A table. Each column is as wide as its widest entry. The last column has no padding.
fn table<const N: usize>(head: [&str; N], rows: impl Iterator<Item = [String; N]>) -> String {
    fields::table(&head.map(str::to_owned), rows.map(Vec::from))
}

/// The panes of a saved layout, and the tabs that were opened.
fn restored(reply: &workspace::RestoreReply) -> String {
    let panes = reply.workspace.sessions.iter().map(|session| {
        let cwd = unterm_mux::local_path(&session.cwd);
        let cwd = cwd.map_or_else(|| session.cwd.clone(), |cwd| cwd.display().to_string());
        line(&format!("{}  {cwd}", session.title))
    });
    let count =
        |count: usize| if count == 1 { "1 pane".to_owned() } else { format!("{count} panes") };
    let done = match &reply.created {
        Some(created) => {
            let programs = workspace::programs_left_out(&reply.workspace);
            format!("Opened {}.{programs}", count(created.len()))
        }
        None => format!(
            "Nothing was opened. --recreate opens {}.",
            count(reply.workspace.sessions.len())
        ),
    };
    let missing: String = reply.missing.iter().map(|missing| line(missing)).collect();
    panes.collect::<String>() + &line(&done) + &missing
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The text of a method's reply. The reply must be valid.
    fn text<M: Method>(reply: Value) -> String {
        let ReplyText { text, complaint, .. } = super::reply(M::NAME, &reply);
        assert!(!complaint.is_some_and(|why| why.contains("read the reply")), "{reply}");
        text
    }

    fn complaint<M: Method>(reply: Value) -> Option<String> {
        super::reply(M::NAME, &reply).complaint
    }

    #[test]
    fn a_method_has_one_form() {
        let mut names: Vec<_> = FORMS.iter().map(|form| form.method()).collect();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn sessions_are_a_table() {
        let session = |id, title| {
            json!({"id": id, "cols": 80, "rows": 24, "is_dead": false, "title": title, "domain_id": 0, "tty": "",
                "cursor": {"x": 0, "y": 0, "visible": true},
                "shell": {"shell_type": "bash", "process_name": "bash", "cwd": ""}})
        };
        let result = json!({"sessions": [session(1, "a b"), session(10, "")]});
        assert_eq!(
            text::<session::List>(result),
            "ID  SIZE   STATE  SHELL  TITLE\n1   80x24  live   bash   a b\n10  80x24  live   bash\n"
        );
    }

    #[test]
    fn a_token_is_a_line_and_tokens_are_a_table() {
        let at = "2026-11-22T18:23:03.772494843Z";
        let made =
            json!({"token": "unterm_1", "number": 2, "name": "bot", "scope": "act", "made_at": at});
        assert_eq!(text::<token::Create>(made), "unterm_1\n");
        let result = json!({"tokens": [
            {"number": 2, "name": "build bot", "scope": "act", "made_at": at, "panes": [0, 3]},
            {"number": 10, "name": "x", "scope": "read", "made_at": at, "expires_at": "2026-12-22T18:23:03Z"},
        ]});
        assert_eq!(
            text::<token::List>(result),
            "NUMBER  SCOPE  SESSIONS  MADE                  ENDS                  NAME\n\
             2       act    0,3       2026-11-22T18:23:03Z  never                 build bot\n\
             10      read   all       2026-11-22T18:23:03Z  2026-12-22T18:23:03Z  x\n"
        );
        assert_eq!(text::<token::Revoke>(json!({"revoked": true})), "");
    }

    #[test]
    fn states_are_lines_without_what_is_not_there() {
        let off = json!({"enabled": false, "mode": "off", "http_proxy": null, "node_count": 0, "health": null});
        assert_eq!(text::<proxy::Status>(off), "mode     off\n");
        let health = json!({"source": "manual", "url": "http://a:1", "reachable": true});
        let on = json!({"enabled": true, "mode": "manual", "current_node": "a", "node_count": 1,
            "health": health});
        assert_eq!(
            text::<proxy::Status>(on),
            "mode     manual\nurl      http://a:1\nfrom     manual\nresponds yes\nnode     a\n"
        );
        let dead = json!({"id": 3, "title": "x", "cols": 80, "rows": 24, "scrollback_rows": 24, "domain_id": 0,
            "cursor": {"x": 1, "y": 2, "visible": true}, "is_dead": true, "exit_code": 4, "seq": 1,
            "awaiting_secret": false, "awaiting_input": false,
            "shell": {"shell_type": "unknown", "process_name": "", "cwd": "file:///"}});
        assert_eq!(
            text::<session::Status>(dead),
            "id       3\ntitle    x\nstate    dead, exit code 4\nsize     80x24\n\
             cursor   column 1, row 2\ncwd      file:///\n"
        );
        let cursor = json!({"x": 1, "y": 2, "visible": false, "shape": "SteadyBar"});
        assert_eq!(text::<screen::Cursor>(cursor), "column 1, row 2, SteadyBar, hidden\n");
    }

    #[test]
    fn a_shell_can_evaluate_the_proxy() {
        let result =
            json!({"enabled": true, "env": {"HTTP_PROXY": "http://it's:1", "NO_PROXY": "a,b"}});
        assert_eq!(
            text::<proxy::Env>(result),
            "export HTTP_PROXY='http://it'\\''s:1'\nexport NO_PROXY='a,b'\n"
        );
        assert_eq!(text::<proxy::Env>(json!({"enabled": false, "env": {}})), "# proxy disabled\n");
    }

    /// A reply of the method `exec.run_wait`.
    fn ended(output: &str, exit_code: i32) -> Value {
        json!({"output": output, "exit_status": "completed", "timed_out": false, "marker": "", "exit_code": exit_code,
            "exit_source": "block", "interrupted": false, "truncated": false})
    }

    #[test]
    fn output_is_printed_as_it_was_with_a_line_end() {
        assert_eq!(text::<exec::RunWait>(ended("", 0)), "");
        assert_eq!(text::<exec::RunWait>(ended("a\n b", 0)), "a\n b\n");
    }

    #[test]
    fn output_without_its_beginning_says_so() {
        let note = |truncated: bool| {
            let mut reply = ended("rest", 0);
            reply["truncated"] = json!(truncated);
            super::reply("exec.run_wait", &reply).note
        };
        assert_eq!(note(false), None);
        assert_eq!(note(true).unwrap(), "The beginning of the output is missing.");
    }

    #[test]
    fn blank_rows_below_the_text_are_left_out() {
        let shown = |lines: Value| {
            let cursor = json!({"x": 0, "y": 0});
            text::<screen::Text>(
                json!({"lines": lines, "cursor": cursor, "cols": 80, "rows": 6, "seq": 1}),
            )
        };
        assert_eq!(shown(json!(["", "a", "", "b", "", ""])), "\na\n\nb\n");
        assert_eq!(shown(json!(["", ""])), "");
    }

    #[test]
    fn a_result_that_is_a_failure_has_its_reason() {
        let revoked = |is: bool| complaint::<token::Revoke>(json!({"revoked": is}));
        assert_eq!(
            (revoked(true), revoked(false).unwrap().as_str()),
            (None, "no token has this number")
        );
        assert_eq!(complaint::<exec::RunWait>(ended("", 3)).unwrap(), "");
        let mut unknown = ended("", 0);
        unknown["exit_code"] = Value::Null;
        unknown["reason"] = json!("A new shell is at its prompt");
        assert_eq!(complaint::<exec::RunWait>(unknown).unwrap(), "A new shell is at its prompt");
        assert_eq!(complaint::<exec::RunWait>(ended("", 0)), None);
        let refused = || json!({"allowed": false, "reason": "Blocked by \"sudo\""});
        assert_eq!(complaint::<policy::Check>(refused()).unwrap(), "Blocked by \"sudo\"");
        assert_eq!(text::<policy::Check>(refused()), "");
    }

    #[test]
    fn a_reply_that_cannot_be_read_is_shown_and_fails() {
        let unread = super::reply(session::Cwd::NAME, &json!({"folder": "/"}));
        assert_eq!(unread.text, "folder  /\n");
        let why = unread.complaint.unwrap();
        assert!(why.contains(session::Cwd::NAME) && why.contains("`cwd`"), "{why}");
        let unread = super::reply(screen::Text::NAME, &json!({"rows": 1}));
        assert!(unread.complaint.unwrap().contains("`lines`"));
    }

    #[test]
    fn no_result_is_json() {
        assert_eq!(text::<exec::Run>(json!({"sent": true})), "");
        let health = json!({"ok": true, "ports": {"mcp": 1, "http": 2}});
        let shown = super::reply("no.method", &health);
        assert!(!shown.text.contains(['{', '"']) && shown.complaint.is_none());
    }
}
