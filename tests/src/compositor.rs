//! A Wayland compositor that belongs to one test, and a simulated user: keys, the clipboard, and the list of windows.

use std::{
    fs::{self, File},
    os::unix::{fs::chown, net::UnixStream},
    path::Path,
    process::{Command, Output, Stdio},
};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use tempfile::TempDir;

use crate::{
    process::{OwnedProcess, bare},
    wait_for, wait_until,
};

/// sway without hardware, on a screen of 2560×1600 pixels. It is ended on drop.
pub struct Compositor {
    // Must be the first field: the keyboard must be dropped before the compositor that it needs.
    _keyboard: OwnedProcess,
    sway: OwnedProcess,
    folder: TempDir,
}

/// The user as whom sway runs if the tests run as root (nobody), because sway refuses to run as root.
const NOBODY: u32 = 65_534;
/// The name of the socket for windows. It is the first free name in the test's own folder.
const SOCKET: &str = "wayland-1";

impl Compositor {
    /// Starts sway with this scale of the screen, and with a keyboard.
    ///
    /// # Errors
    ///
    /// If sway or wtype is not installed or does not start.
    pub fn start(scale: f64) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("unterm-sway-").tempdir()?;
        let settings = folder.path().join("config");
        fs::write(
            &settings,
            format!(
                "xwayland disable\noutput HEADLESS-1 resolution 2560x1600 scale {scale}\ndefault_border none\n\
                 for_window [app_id=\"unterm\"] floating enable\n"
            ),
        )?;
        let log = folder.path().join("log");
        let is_root = rustix::process::geteuid().is_root();
        let mut command = program(if is_root { "setpriv" } else { "sway" }, folder.path());
        if is_root {
            chown(folder.path(), Some(NOBODY), Some(NOBODY))?;
            chown(&settings, Some(NOBODY), Some(NOBODY))?;
            command.arg(format!("--reuid={NOBODY}")).arg(format!("--regid={NOBODY}"));
            command.args(["--clear-groups", "sway"]);
        }
        let sway = command
            .arg("--config")
            .arg(&settings)
            .env_remove("WAYLAND_DISPLAY")
            .env("WLR_BACKENDS", "headless")
            .env("WLR_LIBINPUT_NO_DEVICES", "1")
            .env("WLR_RENDERER", "pixman")
            .stdout(Stdio::null())
            .stderr(File::create(&log)?)
            .spawn()
            .context("starting sway")?;
        let sway = OwnedProcess(sway);
        let read_log = || fs::read_to_string(&log).unwrap_or_default();
        let is_there = |name: &str| UnixStream::connect(folder.path().join(name)).is_ok();
        wait_for(
            "sway",
            || Ok((is_there("sway.sock") && is_there(SOCKET)).then_some(())),
            read_log,
        )?;
        // sway has a keyboard only while a client provides one. This client types nothing and keeps running.
        let keyboard = stays("wtype", &["-s", "1000000000"], folder.path())?;
        let compositor = Self { _keyboard: keyboard, sway, folder };
        wait_for(
            "the keyboard",
            || Ok(compositor.tell(&["-t", "get_inputs"])?.contains("keyboard").then_some(())),
            read_log,
        )?;
        Ok(compositor)
    }

    /// Kills sway, as a crash would end it.
    ///
    /// # Errors
    ///
    /// If sway has already ended.
    pub fn kill(self) -> Result<()> {
        Ok(self.sway.kill()?)
    }

    /// The variables, with their values, for a program that opens its windows in this compositor.
    pub fn env(&self) -> [(&'static str, String); 2] {
        let folder = self.folder.path().display().to_string();
        [("XDG_RUNTIME_DIR", folder), ("WAYLAND_DISPLAY", SOCKET.to_owned())]
    }

    /// Types text and presses keys, given as wtype's arguments.
    ///
    /// # Errors
    ///
    /// If wtype fails.
    pub fn press(&self, args: &[&str]) -> Result<()> {
        let output = program("wtype", self.folder.path()).args(args).output()?;
        succeeded("wtype", &output)
    }

    /// Waits until a window of Unterm has the keyboard focus, and returns its title.
    ///
    /// # Errors
    ///
    /// If no window gets the focus.
    pub fn wait_for_window(&self) -> Result<String> {
        wait_for(
            "a window with the keyboard",
            || {
                let tree: Value = serde_json::from_str(&self.tell(&["-t", "get_tree"])?)?;
                Ok(focused_title(&tree).map(str::to_owned))
            },
            String::new,
        )
    }

    /// Closes the window through the compositor.
    ///
    /// # Errors
    ///
    /// If there is no window.
    pub fn close_window(&self) -> Result<()> {
        self.tell(&["[app_id=\"unterm\"]", "kill"]).map(|_| ())
    }

    /// Puts text on the clipboard like another program would, and waits until other programs can read it. The text
    /// stays on the clipboard until the returned value is dropped.
    ///
    /// # Errors
    ///
    /// If wl-clipboard is not installed or fails.
    pub fn copy(&self, text: &str) -> Result<impl Sized> {
        let owner = stays("wl-copy", &["--foreground", text], self.folder.path())?;
        self.wait_for_clipboard(text)?;
        Ok(owner)
    }

    /// Waits until other programs read this text from the clipboard.
    ///
    /// # Errors
    ///
    /// If the text does not appear.
    pub fn wait_for_clipboard(&self, text: &str) -> Result<()> {
        let read = || {
            let output = program("wl-paste", self.folder.path())
                .arg("--no-newline")
                .output()
                .context("starting wl-paste")?;
            Ok(String::from_utf8_lossy(&output.stdout).into_owned())
        };
        wait_until("text on the clipboard", read, |now| now == text).map(drop)
    }

    /// Runs swaymsg and returns its answer.
    fn tell(&self, words: &[&str]) -> Result<String> {
        let output = program("swaymsg", self.folder.path())
            .args(words)
            .output()
            .context("starting swaymsg")?;
        succeeded("swaymsg", &output)?;
        Ok(String::from_utf8(output.stdout)?)
    }
}

/// A program that runs in the compositor of this folder, without a desktop environment.
fn program(name: &str, folder: &Path) -> Command {
    let mut command = bare(name, folder);
    command
        .env("XDG_RUNTIME_DIR", folder)
        .env("WAYLAND_DISPLAY", SOCKET)
        .env("SWAYSOCK", folder.join("sway.sock"))
        .stdin(Stdio::null());
    command
}

/// Starts a program that keeps running.
fn stays(name: &str, args: &[&str], folder: &Path) -> Result<OwnedProcess> {
    let mut command = program(name, folder);
    command.args(args).stdout(Stdio::null()).stderr(Stdio::null());
    Ok(OwnedProcess(command.spawn().with_context(|| format!("starting {name}"))?))
}

fn succeeded(name: &str, output: &Output) -> Result<()> {
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{name} failed: {}", said.trim());
    Ok(())
}

/// The title of Unterm's window, if it has the keyboard focus.
fn focused_title(node: &Value) -> Option<&str> {
    if node["app_id"] == "unterm" && node["focused"] == true {
        return node["name"].as_str();
    }
    let children = ["nodes", "floating_nodes"].into_iter().filter_map(|name| node[name].as_array());
    children.flatten().find_map(focused_title)
}
