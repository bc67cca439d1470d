//! Tests of the settings page's server: who may connect, its replies, and that each route calls the method that the
//! other connections offer.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    sync::{Arc, Mutex},
};

use crate::support::{self, Fixture, WithPreferences, page::Page};
use serde_json::{Map, Value, json};
use unterm_control::{ActionKeys, Described, Preferences, ThemeInfo};

/// Preferences in memory.
struct Values(Mutex<Value>);

fn defaults() -> Value {
    json!({
        "theme": "standard", "language": "en-US", "font": {"size": 12}, "cursor": {"blink": false}, "keys": {},
        "scrollback": {"lines": 10_000}, "compat": {"term_program": "unterm"}, "bell": {"mark": true},
        "window": {"opacity": 1.0},
    })
}

impl Preferences for Values {
    fn get(&self) -> Result<Value, String> {
        Ok(self.0.lock().unwrap().clone())
    }

    fn set(&self, _: &str, _: &Value) -> Result<(), String> {
        Err("not this way".to_owned())
    }

    fn change(&self, changes: &[(Vec<String>, Option<Value>)]) -> Result<(), String> {
        let mut now = self.0.lock().unwrap();
        let mut new = now.clone();
        for (path, value) in changes {
            let path = format!("/{}", path.join("/"));
            if path.starts_with("/theme/") && new["theme"].is_string() {
                let both = new["theme"].take();
                new["theme"] = json!({"light": both, "dark": both});
            }
            if path.starts_with("/theme")
                && !["standard", "nord"]
                    .contains(&value.as_ref().unwrap().as_str().unwrap_or("standard"))
            {
                return Err(format!("there is no theme {}", value.as_ref().unwrap()));
            }
            let default = defaults().pointer(&path).cloned();
            match (new.pointer_mut(&path), value.clone().or(default)) {
                (Some(place), Some(value)) => *place = value,
                (None, Some(value)) if path.starts_with("/keys/") => {
                    new["keys"][&path[6..]] = value;
                }
                _ => return Err(format!("there is no key {path}")),
            }
        }
        *now = new;
        Ok(())
    }

    fn describe(&self) -> Described {
        Described {
            defaults: defaults(),
            schema: json!({"type": "object"}),
            set: vec!["theme".to_owned(), "font.size".to_owned()],
        }
    }

    fn themes(&self) -> Vec<ThemeInfo> {
        let color = || "#000000".to_owned();
        vec![ThemeInfo {
            name: "nord".to_owned(),
            ids: Vec::new(),
            title: "Nord".to_owned(),
            light: false,
            foreground: color(),
            background: color(),
            cursor: color(),
            selection: color(),
            colors: vec![color(); 16],
        }]
    }

    fn keys(&self) -> Vec<ActionKeys> {
        Vec::new()
    }
}

fn fixture() -> (Fixture, Page) {
    let host = Arc::new(WithPreferences(Arc::new(Values(Mutex::new(defaults())))));
    let fixture = Fixture::hosted(host, Vec::new());
    let page = Page::of(&fixture);
    (fixture, page)
}

#[test]
fn only_its_own_name_and_origin_and_a_right_token_are_answered() {
    let (_fixture, page) = fixture();
    let bearer = format!("Bearer {}", page.token);
    let right = ("Authorization", bearer.as_str());
    let status = |headers: &[(&str, &str)]| page.raw("GET", "/api/state", headers, "").status;
    assert_eq!(status(&[right]), 200);
    assert_eq!(status(&[right, ("Host", &format!("localhost:{}", page.port))]), 200);
    assert_eq!(status(&[right, ("Origin", &format!("http://127.0.0.1:{}", page.port))]), 200);
    assert_eq!(status(&[right, ("Host", "rebound.example")]), 403);
    assert_eq!(status(&[right, ("Host", &format!("rebound.example:{}", page.port))]), 403);
    assert_eq!(status(&[right, ("Host", "-")]), 400);
    for origin in ["null", "http://other.example", "http://127.0.0.1:1", "file://"] {
        assert_eq!(status(&[right, ("Origin", origin)]), 403, "{origin}");
    }
    assert_eq!(status(&[right, ("Sec-Fetch-Site", "cross-site")]), 403);

    for headers in
        [&[][..], &[("Authorization", "Bearer nobody")], &[("Authorization", &page.token)]]
    {
        let reply = page.raw("GET", "/api/health", headers, "");
        assert_eq!(reply.status, 401);
        assert_eq!(reply.json(), json!({"error": "missing or bad bearer token"}));
    }
    let every = page.raw("GET", "/", &[], "");
    for line in [
        "content-security-policy: default-src 'self'; ",
        "cache-control: no-store",
        "referrer-policy: no-referrer",
        "x-content-type-options: nosniff",
        "x-frame-options: deny",
    ] {
        assert!(every.head.contains(line), "{line}: {}", every.head);
        assert!(page.raw("GET", "/api/health", &[], "").head.contains(line), "refusals, too");
    }
    assert_eq!(every.status, 200);
    assert!(!every.body.contains(&page.token));
    for path in ["/page.css", "/page.js", "/alpine.js", "/favicon.ico"] {
        assert_eq!(page.raw("GET", path, &[], "").status, 200, "{path}");
    }
    assert_eq!(page.ask("GET", "/nowhere", None).status, 404);
    assert_eq!(page.ask("GET", "/../../etc/passwd", None).status, 404);
    assert_eq!(page.ask("DELETE", "/api/state", None).status, 405);
    assert_eq!(page.ask("OPTIONS", "/api/state", None).status, 405);
}

#[test]
fn a_page_comes_in_by_a_code_that_is_good_once() {
    let (fixture, page) = fixture();
    assert_eq!(page.raw("GET", "/bootstrap.json", &[], "").status, 401);
    let mut wire = fixture.login();
    let opened = wire.call("settings.open", json!({}));
    assert_eq!(opened["expires_in_seconds"], 60);
    let url = opened["url"].as_str().unwrap();
    let code = url.strip_prefix(&format!("http://127.0.0.1:{}/#code=", page.port)).unwrap();
    let bearer = format!("Bearer {code}");
    let code = ("Authorization", bearer.as_str());
    assert_eq!(page.raw("GET", "/api/state", &[code], "").status, 401, "a code is no token");
    let reply = page.raw("GET", "/bootstrap.json", &[code], "");
    assert_eq!(reply.status, 200);
    let reply = reply.json();
    assert_eq!(reply["http_port"], page.port);
    assert_eq!(reply["mcp_port"], fixture.server().address().port());
    let token = reply["auth_token"].as_str().unwrap();
    assert_ne!(token, page.token, "a page never has the instance's own");
    assert_eq!(page.raw("GET", "/bootstrap.json", &[code], "").status, 401, "it is used");

    let bearer = format!("Bearer {token}");
    let mine = ("Authorization", bearer.as_str());
    assert_eq!(page.raw("GET", "/api/state", &[mine], "").status, 200);
    assert_eq!(page.raw("GET", "/bootstrap.json", &[mine], "").json()["auth_token"], token);
    let agents = page.get("/api/agents");
    let number = agents["pages"][0]["page"].clone();
    assert_eq!(
        page.send("POST", "/api/agents/close_page", json!({"page": number}))["closed"],
        true
    );
    assert_eq!(page.raw("GET", "/api/state", &[mine], "").status, 401, "its token is taken away");
    assert_eq!(page.refused("POST", "/api/agents/close_page", json!({"page": number})).0, 404);
    // The token of a page is not valid on the other wire.
    let reply = fixture.connect().reply("auth.login", json!({"token": token}));
    assert_eq!(reply["error"]["code"], -32001);
}

/// Sends a request for the server's health on a connection, which stays open. Returns the reply.
fn health(page: &Page, stream: &mut TcpStream, bearer: &str) -> String {
    let host = format!("Host: 127.0.0.1:{}", page.port);
    write!(stream, "GET /api/health HTTP/1.1\r\n{host}\r\n{bearer}\r\n").unwrap();
    let mut reply = Vec::new();
    let mut piece = [0; 4096];
    while !reply.ends_with(b"}") {
        let count = stream.read(&mut piece).unwrap();
        assert_ne!(count, 0, "it was closed after {:?}", String::from_utf8_lossy(&reply));
        reply.extend(&piece[..count]);
    }
    String::from_utf8(reply).unwrap()
}

#[test]
fn connections_without_a_token_keep_nobody_out() {
    let (_fixture, page) = fixture();
    let bearer = format!("Authorization: Bearer {}\r\n", page.token);
    let mut known = page.connect();
    assert!(health(&page, &mut known, &bearer).starts_with("HTTP/1.1 200"));
    // Connections with incomplete requests, and with complete ones without a token.
    let mut idle: Vec<TcpStream> = (0..150).map(|_| page.connect()).collect();
    for stream in &mut idle {
        let _ = stream.write_all(b"GET / HTTP/1.1\r\n");
    }
    let mut refused: Vec<TcpStream> = (0..150).map(|_| page.connect()).collect();
    assert!(health(&page, refused.last_mut().unwrap(), "").starts_with("HTTP/1.1 401"));
    assert_eq!(page.get("/api/health"), json!({"ok": true}));
    // The oldest connection without a token was closed, but not the connection with a token.
    let mut rest = Vec::new();
    let _ = idle[0].read_to_end(&mut rest);
    assert_eq!(rest, b"");
    assert!(health(&page, &mut known, &bearer).starts_with("HTTP/1.1 200"));
}

#[test]
fn connections_with_a_token_are_so_many_at_a_time() {
    let (fixture, page) = fixture();
    let bearer = format!("Authorization: Bearer {}\r\n", page.token);
    let mut known: Vec<TcpStream> = (0..64).map(|_| page.connect()).collect();
    for stream in &mut known {
        assert!(health(&page, stream, &bearer).starts_with("HTTP/1.1 200"));
    }
    let mut late = page.connect();
    let reply = health(&page, &mut late, &bearer);
    // Another token can still open connections.
    let made = fixture.login().call("token.create", json!({"name": "other", "scope": "read"}));
    let other = format!("Authorization: Bearer {}\r\n", made["token"].as_str().unwrap());
    assert!(health(&page, &mut page.connect(), &other).starts_with("HTTP/1.1 200"));
    assert!(reply.starts_with("HTTP/1.1 503") && reply.contains("too many connections"), "{reply}");
    known.pop();
    support::until("a place", || {
        health(&page, &mut late, &bearer).starts_with("HTTP/1.1 200").then_some(())
    });
}

/// Sends a request as another user, and returns the reply.
fn as_nobody(port: u16, request: &str) -> String {
    use std::{
        os::unix::process::CommandExt as _,
        process::{Command, Stdio},
    };
    const NOBODY: u32 = 65534;
    let script = format!("exec 3<>/dev/tcp/127.0.0.1/{port}; cat >&3; cat <&3");
    let mut shell = Command::new("bash")
        .args(["-c", &script])
        .uid(NOBODY)
        .gid(NOBODY)
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    shell.stdin.take().unwrap().write_all(request.as_bytes()).unwrap();
    String::from_utf8(shell.wait_with_output().unwrap().stdout).unwrap()
}

#[cfg(target_os = "linux")]
#[test]
fn another_user_can_not_exchange_a_code() {
    if !rustix::process::geteuid().is_root() {
        return support::skip("only root can start a program as another user");
    }
    let (fixture, page) = fixture();
    let link = fixture.server().settings_links().address().unwrap();
    let bearer = format!("Bearer {}", link.split_once("#code=").unwrap().1);
    let request = format!(
        "GET /bootstrap.json HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: {bearer}\r\nConnection: close\r\n\r\n",
        page.port
    );
    let reply = as_nobody(page.port, &request);
    assert!(reply.starts_with("HTTP/1.1 403"), "{reply}");
    assert!(reply.contains("the user who made it") && !reply.contains("auth_token"), "{reply}");
    let reply = page.raw("GET", "/bootstrap.json", &[("Authorization", &bearer)], "");
    assert_eq!(reply.status, 200, "the code stays good for its user");
}

#[test]
fn a_redirect_file_opens_the_page_once() {
    let (fixture, page) = fixture();
    let mut wire = fixture.login();
    let opened = wire.call("settings.open", json!({"redirect": true}));
    let (url, file) = (opened["url"].as_str().unwrap(), opened["file"].as_str().unwrap());
    let code = url.split_once("#code=").unwrap().1;
    assert!(std::fs::read_to_string(file).unwrap().contains(url) && !file.contains(code));
    let bearer = format!("Bearer {code}");
    let reply = page.raw("GET", "/bootstrap.json", &[("Authorization", &bearer)], "");
    assert_eq!((reply.status, std::path::Path::new(file).exists()), (200, false));
    assert!(wire.call("settings.open", json!({})).get("file").is_none());
}

#[test]
fn excess_is_refused_and_nonsense_gets_an_error() {
    let (_fixture, page) = fixture();
    let long = format!("{{\"lines\": \"{}\"}}", "x".repeat(2 << 20));
    let bearer = format!("Bearer {}", page.token);
    let right = ("Authorization", bearer.as_str());
    let mut stream = page.connect();
    let head = format!(
        "POST /api/scrollback HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n{}: {}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
        page.port,
        right.0,
        right.1,
        long.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    // The server may answer and close before everything is sent.
    let _ = stream.write_all(long.as_bytes());
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    assert!(
        answer.is_empty() || answer.starts_with(b"HTTP/1.1 413"),
        "{}",
        String::from_utf8_lossy(&answer)
    );
    let head = page.raw("GET", "/api/health", &[right, ("X-Long", &"x".repeat(20 << 10))], "");
    assert!(head.status == 431 || head.status == 400, "{}", head.status);
    let no_json = page.raw("POST", "/api/scrollback", &[right], "{lines");
    assert_eq!(no_json.status, 400);
    assert!(no_json.json()["error"].as_str().unwrap().contains("no JSON"));
    assert_eq!(page.raw("POST", "/api/scrollback", &[right], "[1]").status, 400);
    assert_eq!(page.ask("POST", "/api/scrollback", Some(json!({}))).status, 400);
    assert_eq!(page.ask("POST", "/api/scrollback", None).status, 400);

    // More connections than the limit: the newest one is closed, and the others stay open.
    let held: Vec<_> = (0..64).map(|_| page.connect()).collect();
    let mut one_more = page.connect();
    let mut nothing = Vec::new();
    assert_eq!(one_more.read_to_end(&mut nothing).unwrap_or(0), 0);
    drop(held);
}

#[test]
fn every_route_of_every_unterm_has_its_shape() {
    let (fixture, page) = fixture();
    let mut wire = fixture.login();
    let session = fixture.program(&mut wire, "cat", &[]);
    assert_eq!(page.get("/api/health"), json!({"ok": true}));

    let state = page.get("/api/state");
    let names: Vec<_> = state.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(
        names,
        [
            "hostname",
            "pid",
            "ports",
            "project",
            "proxy",
            "recording",
            "scrollback",
            "sessions_path",
            "started_at",
            "theme",
            "version"
        ]
    );
    assert_eq!(
        state["ports"],
        json!({"mcp": fixture.server().address().port(), "http": page.port})
    );
    assert_eq!(state["proxy"], wire.call("proxy.status", json!({})));
    assert_eq!(state["recording"], json!({"active": false}));
    assert_eq!(
        state["scrollback"],
        json!({"lines": 10_000, "default": 10_000, "max": 999_999_999})
    );

    let manual = page.send("POST", "/api/proxy", json!({"http_proxy": "http://127.0.0.1:9"}));
    assert_eq!(
        (&manual["configured"], &manual["status"]["mode"]),
        (&json!(true), &json!("manual"))
    );
    let off = page.send("POST", "/api/proxy", json!({"enabled": false}));
    assert_eq!((&off["status"]["enabled"], &off["status"]["mode"]), (&json!(false), &json!("off")));

    assert_eq!(
        page.send("POST", "/api/theme", json!({"name": "nord"})),
        json!({"applied": true, "theme": "nord", "color_scheme": "Nord"})
    );
    assert_eq!(page.get("/api/state")["theme"], "nord");
    let (status, message) = page.refused("POST", "/api/theme", json!({"name": "nort"}));
    assert_eq!(status, 400);
    assert!(message.contains("nort"), "{message}");

    let lines = json!({"lines": 10_000, "default": 10_000, "max": 999_999_999, "min": 100});
    assert_eq!(page.get("/api/scrollback"), lines);
    assert_eq!(
        page.send("POST", "/api/scrollback", json!({"lines": 500})),
        json!({"applied": true, "lines": 500, "requires_restart_for_existing_panes": true})
    );
    assert_eq!(page.refused("POST", "/api/scrollback", json!({"lines": 99})).0, 400);

    let compat = page.get("/api/compat");
    assert_eq!((&compat["term_program"], &compat["default"]), (&json!("unterm"), &json!("unterm")));
    assert!(compat["presets"].as_array().unwrap().contains(&json!("ghostty")));
    assert_eq!(
        page.send("POST", "/api/compat", json!({"term_program": "kitty"})),
        json!({"applied": true, "term_program": "kitty", "requires_new_shell": true})
    );
    for bad in ["", "a\nb", &"x".repeat(65)] {
        assert_eq!(page.refused("POST", "/api/compat", json!({"term_program": bad})).0, 400);
    }

    assert!(page.get("/api/updates").is_object());
    std::fs::write(fixture.registry().join("update_check.json"), r#"{"latest": "9"}"#).unwrap();
    assert_eq!(page.get("/api/updates"), json!({"latest": "9"}));
    assert_eq!(page.refused("POST", "/api/updates/check", json!({})).0, 502);

    let started = page.send("POST", "/api/recording/start", json!({"pane_id": session.id}));
    assert!(started["log_path"].is_string() && started["md_path_when_done"].is_string());
    let state = page.get("/api/state");
    assert_eq!(state["recording"]["pane_id"], session.id);
    assert_eq!(state["recording"]["status"]["session_id"], started["session_id"]);
    wire.call("session.input", json!({"id": session.id, "input": "a needle\r"}));
    session.wait_for_text("a needle");
    let stopped = page.send("POST", "/api/recording/stop", json!({"pane_id": session.id}));
    assert_eq!(stopped["exit_reason"], "stopped");
    assert_eq!(page.refused("POST", "/api/recording/start", json!({"pane_id": 999})).0, 404);
    let id = started["session_id"].as_str().unwrap();
    let sessions = page.get("/api/sessions");
    assert_eq!(sessions["sessions"][0]["unterm_session_id"], id);
    assert_eq!(page.get("/api/sessions?project=none")["sessions"], json!([]));
    let markdown = page.ask("GET", &format!("/api/sessions/{id}/markdown"), None);
    assert_eq!(markdown.status, 200);
    assert!(markdown.head.contains("content-type: text/plain"), "{}", markdown.head);
    assert!(markdown.body.contains("a needle"), "{}", markdown.body);
    assert_eq!(page.ask("GET", "/api/sessions/nobody/markdown", None).status, 404);
    let found = page.get("/api/sessions/search?text=A%20NEEDLE");
    assert_eq!(found["matches"][0]["unterm_session_id"], id);

    let language = page.get("/api/i18n");
    assert_eq!(language["current"], "en-US");
    assert_eq!(language["available"].as_array().unwrap().len(), 9);
    assert!(language["dict"].is_object());
    let german = page.send("POST", "/api/i18n", json!({"lang": "de-DE"}));
    assert_eq!(german["current"], "de-DE");
    assert!(german.get("dict").is_none());
    assert!(page.get("/api/i18n/ja-JP").is_object());
    assert_eq!(page.ask("GET", "/api/i18n/xx-XX", None).status, 404);
    assert_eq!(page.refused("POST", "/api/i18n", json!({"lang": "xx"})).0, 400);
}

#[test]
fn settings_are_read_changed_and_reset() {
    let (_fixture, page) = fixture();
    let all = page.get("/api/settings");
    assert_eq!(all["settings"], defaults());
    assert_eq!(all["defaults"], defaults());
    assert_eq!(all["set"], json!(["theme", "font.size"]));
    assert!(all["schema"].is_object());
    for name in [
        "theme",
        "themes",
        "font",
        "cursor",
        "keys",
        "scrollback",
        "compat",
        "proxy",
        "i18n",
        "recording",
        "bell",
        "window",
        "general",
    ] {
        assert!(page.get(&format!("/api/settings/{name}")).is_object(), "{name}");
    }
    assert_eq!(page.ask("GET", "/api/settings/nothing", None).status, 400);
    let font = page.get("/api/settings/font");
    assert_eq!(
        font,
        json!({"section": "font", "values": {"size": 12}, "defaults": {"size": 12}, "set": ["size"]})
    );
    assert_eq!(page.send("PUT", "/api/settings/font", json!({"size": 15}))["values"]["size"], 15);
    assert_eq!(page.send("PUT", "/api/settings/font", json!({"size": null}))["values"]["size"], 12);
    let general = page.get("/api/settings/general");
    assert_eq!(general["values"], json!({"language": "en-US", "theme": "standard"}));
    assert_eq!(general["set"], json!(["theme"]));
    // Either all keys are changed, or no key is.
    let (status, _) = page.refused("PUT", "/api/settings/font", json!({"size": 20, "sise": 1}));
    assert_eq!(status, 400);
    assert_eq!(page.get("/api/settings/font")["values"]["size"], 12);
    let pair =
        page.send("PUT", "/api/settings/theme", json!({"light": "nord", "dark": "standard"}));
    assert_eq!(pair["theme"], json!({"light": "nord", "dark": "standard"}));
    let theme = |body| page.send("PUT", "/api/settings/theme", body)["theme"].take();
    assert_eq!(theme(json!({"dark": "nord"})), json!({"light": "nord", "dark": "nord"}));
    assert_eq!(theme(json!({"light": "standard"})), json!({"light": "standard", "dark": "nord"}));
    for (bad, why) in [
        (json!({"light": "nort"}), "there is no theme \"nort\""),
        (json!({"dark": "nort"}), "there is no theme \"nort\""),
        (json!({}), "Give a theme: 'name', or 'light', 'dark' or both"),
    ] {
        let (status, message) = page.refused("PUT", "/api/settings/theme", bad);
        assert_eq!((status, message.as_str()), (400, why));
    }
    assert_eq!(
        page.get("/api/settings/theme")["theme"],
        json!({"light": "standard", "dark": "nord"})
    );
    // The other appearance keeps the theme that both shared.
    assert_eq!(theme(json!({"name": "nord"})), "nord");
    assert_eq!(theme(json!({"light": "standard"})), json!({"light": "standard", "dark": "nord"}));
    let bound = page.send("PUT", "/api/settings/keys", json!({"keys": {"ctrl+1": "new_tab"}}));
    assert_eq!(bound["own"], json!({"ctrl+1": "new_tab"}));
    let object =
        r#"Invalid 'keys': expected an object of keys, such as {"ctrl+shift+t": "new_tab"}"#;
    for (body, why) in [
        (json!({"ctrl+2": "new_tab"}), format!("{object}, got nothing")),
        (json!({"keys": ["ctrl+2"]}), format!(r#"{object}, got ["ctrl+2"]"#)),
        (
            json!({"keys": {"ctrl+2": "new_tab", "ctrl+3": 5}}),
            r#"Invalid 'keys': expected an action's name for "ctrl+3", such as "new_tab", or null to take it out, got 5"#.to_owned(),
        ),
    ] {
        assert_eq!(page.refused("PUT", "/api/settings/keys", body), (400, why));
    }
    assert_eq!(page.get("/api/settings/keys")["own"], json!({"ctrl+1": "new_tab"}));
    let wrong = page.refused("PUT", "/api/settings/recording", json!({"enabled": "yes"}));
    assert!(wrong.1.starts_with("Invalid params: ") && !wrong.1.contains("line 1"), "{wrong:?}");
    let rules = json!({"redaction": {"enabled": true, "custom_patterns": ["abc+"]}});
    assert_eq!(page.send("PUT", "/api/settings/recording", rules)["idle_rotate_minutes"], 5);
    let every = page.send("PUT", "/api/settings/recording", json!({"enabled": true}));
    assert_eq!(
        (&every["enabled"], &every["redaction"]["custom_patterns"]),
        (&json!(true), &json!(["abc+"]))
    );
    let bad = json!({"redaction": {"enabled": true, "custom_patterns": ["("]}});
    let why = "\"(\" is not a valid regular expression: unclosed group";
    assert_eq!(page.refused("PUT", "/api/settings/recording", bad), (400, why.to_owned()));
}

#[test]
fn agents_are_seen_paused_and_bound_by_rules() {
    let (fixture, page) = fixture();
    let mut wire = fixture.connect();
    wire.call("auth.login", json!({"token": page.token, "client": "helper", "conversation": "42"}));
    let session = fixture.program(&mut wire, "cat", &[]);
    let agents = page.get("/api/agents");
    assert_eq!(agents["clients"][0]["client"], "helper");
    assert_eq!(agents["clients"][0]["conversation"], "42");
    assert_eq!(agents["log"][0]["method"], "session.create");
    assert_eq!(agents["log"][0]["client"], "helper");
    assert_eq!(agents["paused"], false);

    assert_eq!(
        page.send("POST", "/api/agents/pause", json!({"paused": true})),
        json!({"paused": true})
    );
    wire.call("session.list", json!({}));
    let input = json!({"jsonrpc": "2.0", "id": 99, "method": "session.input",
        "params": {"id": session.id, "input": "held"}});
    wire.send(format!("{input}\n"));
    assert_eq!(page.get("/api/agents")["paused"], true);
    assert!(!page.get("/api/agents")["log"].to_string().contains("held"), "it waits");
    page.send("POST", "/api/agents/pause", json!({"paused": false}));
    assert_eq!(
        serde_json::from_str::<Value>(&wire.receive().unwrap()).unwrap(),
        json!({"jsonrpc": "2.0", "id": 99, "result": {"status": "ok"}})
    );
    session.wait_for_text("held");

    let rules = json!({"enabled": true, "blocked_patterns": ["rm "], "allowed_patterns": []});
    assert_eq!(page.send("PUT", "/api/policy", rules), json!({"set": true}));
    assert_eq!(page.get("/api/policy")["blocked_patterns"], json!(["rm "]));
    assert_eq!(
        page.send("POST", "/api/policy/check", json!({"command": "rm x"}))["allowed"],
        false
    );
    assert!(
        wire.fail("exec.run", json!({"id": session.id, "command": "rm x"})).contains("blocked")
    );
    drop(wire);
}

#[test]
fn a_page_receives_changes() {
    let (fixture, page) = fixture();
    let mut stream = page.connect();
    let request = format!(
        "GET /api/events HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {}\r\n\r\n",
        page.port, page.token
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut lines = BufReader::new(stream).lines().map(Result::unwrap);
    let mut wait_for = |topic: &str| {
        let wanted = format!("event: {topic}");
        assert!(lines.any(|line| line == wanted), "{topic} was never told");
    };
    wait_for("ready");
    let mut wire = fixture.login();
    wait_for("agents");
    page.send("POST", "/api/proxy", json!({"enabled": false}));
    wait_for("proxy");
    wire.call(
        "policy.set",
        json!({"enabled": false, "blocked_patterns": [], "allowed_patterns": []}),
    );
    wait_for("policy");
    fixture.program(&mut wire, "cat", &[]);
    wait_for("sessions");
}

#[test]
fn the_description_is_served_and_names_what_is_there() {
    let (_fixture, page) = fixture();
    let described = page.get("/api/openapi.json");
    assert_eq!(described["openapi"], "3.1.0");
    let mut routes = Map::new();
    for (path, verbs) in described["paths"].as_object().unwrap() {
        for verb in verbs.as_object().unwrap().keys() {
            let path =
                path.replace("{id}", "x").replace("{section}", "font").replace("{code}", "en-US");
            // Without a token, an existing route answers 401, and a missing one does not.
            let status = page.raw(&verb.to_uppercase(), &path, &[], "").status;
            routes.insert(format!("{verb} {path}"), status.into());
        }
    }
    assert!(routes.len() > 50);
    assert!(routes.values().all(|status| *status == 401), "{routes:?}");
}
