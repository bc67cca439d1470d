//! Tests of `capture.*` over a real connection. The pictures come from a test host, with or without a display.

use std::{
    path::Path,
    sync::{Arc, Mutex, mpsc},
};

use crate::support::{self, Fixture, Wire};
use serde_json::{Value, json};
use unterm_control::{Captures, Clip, Host, HostRequest, OnDisplay};
use unterm_mux::Pane;

/// The beginning of a PNG file, as far as the server reads it.
fn png(width: u32, height: u32) -> Vec<u8> {
    let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR".to_vec();
    png.extend(width.to_be_bytes());
    png.extend(height.to_be_bytes());
    png
}

#[derive(Default)]
struct Studio {
    has_window: bool,
    has_display: bool,
    /// Whether the user cancels.
    cancels: bool,
    clip: Option<Clip>,
    /// The clipboard's owner reports each request on the first channel, and provides the content after it received a
    /// message on the second channel.
    owner: Option<Mutex<(mpsc::Sender<()>, mpsc::Receiver<()>)>>,
    /// The user selects a region when this channel receives a message.
    chosen: Option<Mutex<mpsc::Receiver<()>>>,
    asked: Mutex<Vec<OnDisplay>>,
}

struct StudioHost(Arc<Studio>);

impl Host for StudioHost {
    fn has_window(&self) -> bool {
        self.0.has_window
    }
    fn instance_title_changed(&self, _: Option<&str>) {}
    fn ask(&self, _: HostRequest) {}
    fn captures(&self) -> Option<Arc<dyn Captures>> {
        Some(self.0.clone())
    }
}

impl Captures for Studio {
    fn panes(&self, panes: &[Arc<Pane>]) -> Result<Vec<u8>, String> {
        Ok(png(100 * panes.len() as u32, 50))
    }
    fn display(&self, what: &OnDisplay, file: &Path) -> Result<bool, String> {
        self.asked.lock().unwrap().push(what.clone());
        if let (OnDisplay::Region(_), Some(chosen)) = (what, &self.chosen) {
            chosen.lock().unwrap().recv().unwrap();
        }
        if !self.has_display {
            return Err("there is no display".to_owned());
        }
        if !self.cancels {
            std::fs::write(file, png(1280, 800)).unwrap();
        }
        Ok(!self.cancels)
    }
    fn clipboard(&self) -> Result<Clip, String> {
        if let Some(owner) = &self.owner {
            let owner = owner.lock().unwrap();
            owner.0.send(()).unwrap();
            owner.1.recv().unwrap();
        }
        self.clip.clone().ok_or_else(|| "There is no clipboard: none".to_owned())
    }
    fn stamp(&self) -> String {
        static COUNT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let count = COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        format!("20261122_041500_{count:03}")
    }
}

fn fixture(studio: Studio) -> (Fixture, Arc<Studio>) {
    let studio = Arc::new(studio);
    (Fixture::hosted(Arc::new(StudioHost(studio.clone())), Vec::new()), studio)
}

/// Checks that the reply's image file exists in that folder. Returns the reply's data about the image, without the
/// path.
fn image(fixture: &Fixture, reply: &Value, folder: &str, kind: &str) -> Value {
    let mut image = reply["image"].clone();
    let path = image.as_object_mut().unwrap().remove("path").unwrap();
    let path = Path::new(path.as_str().unwrap());
    assert_eq!(path.parent().unwrap(), fixture.registry().join(folder));
    let name = path.file_name().unwrap().to_str().unwrap();
    assert!(name.starts_with(&format!("{kind}_20261122_")) && name.ends_with(".png"), "{name}");
    assert_eq!(std::fs::metadata(path).unwrap().len(), image["size_bytes"]);
    image
}

#[test]
fn without_a_display_all_sessions_are_in_the_picture() {
    let (fixture, _) = fixture(Studio::default());
    let mut wire = fixture.login();
    let first = fixture.program(&mut wire, "sh", &["-c", "printf 'one\\r\\ntwo'; exec cat"]);
    first.wait_for_text("two");
    support::until("cat", || (first.pane.title() == "cat").then_some(()));
    fixture.program(&mut wire, "cat", &[]);
    let reply = wire.call("capture.screen", json!({}));
    assert_eq!(
        reply["captures"][0],
        json!({"session_id": "0", "title": first.pane.title(), "screen": "one\ntwo", "type": "text"})
    );
    assert_eq!(reply["captures"].as_array().unwrap().len(), 2);
    assert_eq!((&reply["type"], &reply["text_snapshot"]), (&json!("image/png"), &json!(true)));
    assert_eq!(
        reply["message"],
        "No picture could be taken: there is no display; the picture shows the sessions"
    );
    assert_eq!(
        image(&fixture, &reply, "screenshots", "screen"),
        json!({"format": "png", "width": 200, "height": 50, "size_bytes": 24, "source": "sessions"})
    );
    let png = wire.call("screen.png", json!({"id": first.id}));
    assert_eq!((&png["width"], &png["height"]), (&json!(100), &json!(50)));
    assert!(png["base64"].as_str().unwrap().starts_with("iVBORw0KGgo"), "{png}");
    let reply = wire.call("capture.screen", json!({"include_base64": true}));
    assert!(reply["image"]["base64"].as_str().unwrap().starts_with("iVBORw0KGgo"), "{reply}");
    let reply = wire.call("capture.select", json!({"interactive": true}));
    assert_eq!(reply["mode"], "screen_fallback");
    assert_eq!(
        reply["message"],
        "Interactive region selection is not available in headless MCP mode; captured the screen instead."
    );
    assert_eq!(reply["type"], "image/png");
    assert_eq!(reply["image"]["source"], "sessions");
}

#[test]
fn with_a_display_the_picture_is_its_own() {
    let (fixture, studio) =
        fixture(Studio { has_display: true, has_window: true, ..Studio::default() });
    let mut wire = fixture.login();
    let reply = wire.call("capture.screen", json!({}));
    assert_eq!(reply["captures"], json!([]));
    assert_eq!(reply.get("message"), None);
    assert_eq!(
        image(&fixture, &reply, "screenshots", "screen"),
        json!({"format": "png", "width": 1280, "height": 800, "size_bytes": 24, "source": "screen"})
    );
    assert_eq!(wire.call("capture.select", json!({}))["mode"], "screen_fallback");
    let reply = wire.call("capture.select", json!({"interactive": true, "timeout_ms": 5}));
    assert_eq!((&reply["mode"], &reply["image"]["source"]), (&json!("region"), &json!("region")));
    let asked = studio.asked.lock().unwrap().pop();
    assert_eq!(asked, Some(OnDisplay::Region(std::time::Duration::from_millis(5))));
}

#[test]
fn a_user_who_cancels_is_an_error() {
    let (fixture, _) =
        fixture(Studio { has_display: true, has_window: true, cancels: true, ..Studio::default() });
    let mut wire = fixture.login();
    let message = wire.fail("capture.select", json!({"interactive": true}));
    assert_eq!(message, "The selection was canceled");
}

#[test]
fn the_user_chooses_one_region_at_a_time() {
    let (choose, chosen) = mpsc::channel();
    let chosen = Some(Mutex::new(chosen));
    let studio = Studio { has_display: true, has_window: true, chosen, ..Studio::default() };
    let (fixture, studio) = fixture(studio);
    let mut wire = fixture.login();
    let id = fixture.program(&mut wire, "cat", &[]).id;
    let select = json!({"id": 1, "method": "capture.select", "params": {"interactive": true}});
    // There are as many calls as blocking threads.
    let mut asking: Vec<Wire> = (0..8).map(|_| fixture.login()).collect();
    asking[0].send(format!("{select}\n"));
    support::until("the first", || (studio.asked.lock().unwrap().len() == 1).then_some(()));
    for wire in &mut asking[1..] {
        let why = wire.fail("capture.select", json!({"interactive": true}));
        assert!(why.contains("choosing a region for another call"), "{why}");
    }
    // Other calls are still served, including calls for pictures.
    wire.call("session.read_tail", json!({"id": id}));
    wire.call("screen.png", json!({"id": id}));
    wire.call("capture.screen", json!({}));
    choose.send(()).unwrap();
    let first: Value = serde_json::from_str(&asking[0].receive().unwrap()).unwrap();
    assert_eq!(first["result"]["mode"], "region");
    choose.send(()).unwrap();
    assert_eq!(wire.call("capture.select", json!({"interactive": true}))["mode"], "region");
}

#[test]
fn as_many_pictures_are_kept_as_last_and_the_users_stay() {
    let (fixture, _) = fixture(Studio { has_display: true, ..Studio::default() });
    let mut wire = fixture.login();
    let id = fixture.program(&mut wire, "cat", &[]).id;
    let folder = fixture.registry().join("screenshots");
    std::fs::create_dir_all(&folder).unwrap();
    let users = ["screen_20200101_000000_000.png", "region_hidden_20200101_000000_000.png", "mine"];
    for name in users {
        std::fs::write(folder.join(name), "taken by the user").unwrap();
    }
    let mut taken = Vec::new();
    for at in 0..110 {
        let (method, params) = match at % 2 {
            0 => ("capture.screen", json!({})),
            _ => ("capture.window", json!({"title": id.to_string()})),
        };
        let reply = wire.call(method, params);
        taken.push(reply["image"]["path"].as_str().unwrap().to_owned());
    }
    for name in users {
        assert!(folder.join(name).exists(), "{name}");
    }
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 100 + users.len());
    assert!(taken[10..].iter().all(|path| Path::new(path).exists()));
}

#[test]
fn a_window_is_found_by_title_number_or_process() {
    let (fixture, studio) = fixture(Studio { has_display: true, ..Studio::default() });
    let mut wire = fixture.login();
    assert_eq!(wire.fail("capture.window", json!({})), "There is no session");
    fixture.program(&mut wire, "cat", &[]);
    let second =
        fixture.program(&mut wire, "sh", &["-c", "printf '\\033]2;mine\\007up'; exec cat"]);
    second.wait_for_text("up");
    let pid = second.pane.process().pid().unwrap();
    assert_eq!(wire.call("capture.window", json!({}))["session_id"], "0");
    for params in [json!({"title": "ine"}), json!({"title": "1"}), json!({"pid": pid})] {
        let reply = wire.call("capture.window", params.clone());
        assert_eq!(reply["session_id"], "1", "{params}");
        assert_eq!((&reply["title"], &reply["screen"]), (&json!("mine"), &json!("up")));
        assert_eq!((&reply["type"], &reply["text_snapshot"]), (&json!("image/png"), &json!(true)));
        assert_eq!(image(&fixture, &reply, "screenshots", "window")["source"], "sessions");
    }
    let reply = wire.call("capture.window", json!({"title": "somebody else's"}));
    assert_eq!(reply["text_snapshot"], false);
    assert_eq!(reply.get("session_id"), None);
    assert_eq!(image(&fixture, &reply, "screenshots", "window")["source"], "window");
    let title = Some("somebody else's".to_owned());
    let asked = studio.asked.lock().unwrap().pop();
    assert_eq!(asked, Some(OnDisplay::Window { title, pid: None }));
}

#[test]
fn an_unknown_target_gets_a_picture_of_the_sessions() {
    let (fixture, _) = fixture(Studio::default());
    let mut wire = fixture.login();
    fixture.program(&mut wire, "cat", &[]);
    fixture.program(&mut wire, "cat", &[]);
    for params in [json!({"title": "nobody's"}), json!({"pid": 1}), json!({"title": "x", "pid": 1})]
    {
        let reply = wire.call("capture.window", params.clone());
        let keys: Vec<_> = reply.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["image", "message", "text_snapshot", "type"], "{params}");
        assert_eq!((&reply["type"], &reply["text_snapshot"]), (&json!("image/png"), &json!(false)));
        assert_eq!(
            image(&fixture, &reply, "screenshots", "window"),
            json!({"format": "png", "width": 200, "height": 50, "size_bytes": 24, "source": "sessions"})
        );
        assert_eq!(
            reply["message"],
            "No picture could be taken: there is no display; the picture shows the sessions"
        );
    }
}

#[test]
fn the_clipboard_is_text_or_a_picture_or_an_error() {
    let (fixture_, _) =
        fixture(Studio { clip: Some(Clip::Text("é\n".to_owned())), ..Studio::default() });
    let reply = fixture_.login().call("capture.clipboard", json!({}));
    assert_eq!(reply, json!({"type": "text", "content": "é\n"}));

    let clip = Clip::Image { width: 3, height: 2, png: png(3, 2) };
    let (fixture_, _) = fixture(Studio { clip: Some(clip), ..Studio::default() });
    let mut reply = fixture_.login().call("capture.clipboard", json!({}));
    let path = reply.as_object_mut().unwrap().remove("image_path").unwrap();
    assert!(path.as_str().unwrap().contains("/clipboard/clipboard_2026"), "{path}");
    assert_eq!(std::fs::read(path.as_str().unwrap()).unwrap(), png(3, 2));
    let base64 = reply.as_object_mut().unwrap().remove("base64").unwrap();
    assert!(base64.as_str().unwrap().starts_with("iVBORw0KGgo"), "{base64}");
    assert_eq!(
        reply,
        json!({"type": "image", "format": "png", "width": 3, "height": 2, "bit_depth": 8, "size_bytes": 24})
    );

    let (fixture_, _) = fixture(Studio::default());
    let message = fixture_.login().fail("capture.clipboard", json!({}));
    assert_eq!(message, "There is no clipboard: none");
    let message = Fixture::new().login().fail("capture.clipboard", json!({}));
    assert_eq!(message, "This instance takes no pictures");
}

#[test]
fn a_silent_clipboard_owner_blocks_nothing_else() {
    let (asked, requests) = mpsc::channel();
    let (answer, answers) = mpsc::channel();
    let clip = Some(Clip::Text("it".to_owned()));
    let owner = Some(Mutex::new((asked, answers)));
    let (fixture, _) = fixture(Studio { clip, owner, ..Studio::default() });
    // There are more calls than threads for blocking work.
    let mut wires: Vec<_> = (0..16).map(|_| fixture.login()).collect();
    for wire in &mut wires {
        wire.send("{\"id\":1,\"method\":\"capture.clipboard\"}\n");
    }
    requests.recv().unwrap();
    let mut other = fixture.login();
    fixture.program(&mut other, "cat", &[]);
    let picture = other.call("screen.png", json!({"id": 0}));
    assert_eq!(picture["width"], 100, "{picture}");
    wires.iter().for_each(|_| answer.send(()).unwrap());
    for mut wire in wires {
        assert!(wire.receive().unwrap().contains("\"content\":\"it\""));
    }
}

#[test]
fn the_self_test_takes_a_picture() {
    let (fixture, _) = fixture(Studio::default());
    let mut wire = fixture.login();
    fixture.program(&mut wire, "cat", &[]);
    let tested = wire.call("selftest.run", json!({}));
    assert_eq!(tested["ok"], true, "{tested}");
    let checks = tested["checks"].as_array().unwrap();
    let names: Vec<_> = checks.iter().map(|check| check["name"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        [
            "mux.available",
            "server.health",
            "server.capabilities",
            "policy.check",
            "system.launch_admin",
            "proxy.status",
            "capture.window"
        ]
    );
    assert_eq!(checks[6]["detail"]["text_snapshot"], true);

    // Only calls that name a missing session fail.
    for (named, error) in [
        (json!({"session_id": "99"}), "Session 99 not found"),
        (json!({"id": 99}), "Session 99 not found"),
        (json!({"session_id": "first"}), "Invalid session_id: \"first\""),
    ] {
        let tested = wire.call("selftest.run", named);
        assert_eq!(tested["ok"], false, "{tested}");
        let (own, of_session) = tested["checks"].as_array().unwrap().split_at(7);
        assert!(own.iter().all(|check| check["ok"] == true), "{tested}");
        let failed: Vec<_> = of_session
            .iter()
            .map(|check| (check["name"].as_str().unwrap(), &check["ok"], &check["detail"]))
            .collect();
        let detail = json!({ "error": error });
        let names =
            ["session.status", "screen.text", "screen.detect_errors", "session.recording_status"];
        assert_eq!(failed, names.map(|name| (name, &json!(false), &detail)), "{tested}");
    }
}
