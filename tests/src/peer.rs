//! Any terminal in a window of a display, to compare measurements.
//!
//! Starts a terminal, places its window, takes pictures of it, and ends it. Never interprets what it shows.

use std::{
    ffi::OsString,
    fs,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail, ensure};
use tempfile::TempDir;
use x11rb::{
    connection::Connection as _,
    protocol::xproto::{
        self, ConfigureWindowAux, ConnectionExt as _, ImageFormat, InputFocus, MapState,
    },
};

use crate::{Display, PATIENCE, Resources, Window, binary, process::OwnedProcess, wait_for};

/// How to start a terminal with a grid of 120×40 cells.
pub struct Terminal {
    /// The terminal's name in the results.
    pub name: &'static str,
    /// The words of the command before the words of the program that the terminal runs. If it can't run a program, the
    /// whole command.
    words: &'static [&'static str],
    /// Whether the program is built from this tree. Otherwise it is searched in `PATH`.
    is_ours: bool,
    /// Whether the terminal can run programs.
    pub runs_programs: bool,
}

const fn ours(name: &'static str, words: &'static [&'static str]) -> Terminal {
    Terminal { name, words, is_ours: true, runs_programs: true }
}

const fn other(name: &'static str, words: &'static [&'static str]) -> Terminal {
    Terminal { name, words, is_ours: false, runs_programs: true }
}

/// Unterm with the painter that it chooses by itself.
pub const UNTERM: Terminal = ours("unterm", &["unterm", "-e"]);
/// Unterm with the CPU painter.
pub const UNTERM_CPU: Terminal = ours("unterm, CPU", &["unterm", "--painter", "cpu", "-e"]);
/// Unterm with the GPU painter, even on an emulated GPU.
pub const UNTERM_GPU: Terminal = ours("unterm, GPU", &["unterm", "--painter", "gpu", "-e"]);
/// alacritty with its own defaults, except the grid.
#[rustfmt::skip]
pub const ALACRITTY: Terminal = other("alacritty", &[
    "alacritty", "-o", "window.dimensions.columns=120", "-o", "window.dimensions.lines=40", "-e",
]);
/// xterm with its own defaults, except the grid.
pub const XTERM: Terminal = other("xterm", &["xterm", "-geometry", "120x40", "-e"]);
/// A window without a terminal, as the lower bound.
pub const BARE: Terminal =
    Terminal { name: "bare window", words: &["bare-window"], is_ours: true, runs_programs: false };

/// A running terminal. It is ended on drop.
pub struct Peer<'a> {
    child: OwnedProcess,
    home: TempDir,
    window: Option<Window<'a>>,
    display: &'a Display,
    before: Vec<xproto::Window>,
}

impl Terminal {
    /// Whether this machine can start the terminal.
    pub fn is_installed(&self) -> bool {
        self.is_ours
            || std::env::var_os("PATH").is_some_and(|path| {
                std::env::split_paths(&path).any(|folder| folder.join(self.words[0]).is_file())
            })
    }

    /// Starts the terminal with a program and a home of its own. Does not wait for its window.
    ///
    /// # Errors
    ///
    /// If the terminal can't be started.
    pub fn spawn<'a>(&self, display: &'a Display, program: &[&str]) -> Result<Peer<'a>> {
        let home = tempfile::Builder::new().prefix("unterm-peer-").tempdir()?;
        fs::create_dir(home.path().join(".unterm"))?;
        let before = viewable(display)?;
        let path: OsString = match self.is_ours {
            true => binary(self.words[0]).into(),
            false => self.words[0].into(),
        };
        let mut command = Command::new(path);
        command.args(&self.words[1..]);
        if self.runs_programs {
            command.args(program);
        }
        let log = fs::File::create(home.path().join("log"))?;
        let child = command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", home.path())
            .env("XDG_RUNTIME_DIR", home.path())
            .env("SHELL", "/bin/bash")
            .env("LANG", "C.UTF-8")
            .env("DISPLAY", display.name())
            .current_dir(home.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .with_context(|| format!("starting {}", self.name))?;
        Ok(Peer { child: OwnedProcess(child), home, window: None, display, before })
    }
}

/// The viewable top-level windows.
fn viewable(display: &Display) -> Result<Vec<xproto::Window>> {
    let mut found = Vec::new();
    for window in display.connection.query_tree(display.root)?.reply()?.children {
        // A window may close between the listing and the request.
        let Ok(attributes) = display.connection.get_window_attributes(window)?.reply() else {
            continue;
        };
        if attributes.map_state == MapState::VIEWABLE {
            found.push(window);
        }
    }
    Ok(found)
}

impl<'a> Peer<'a> {
    /// Polls as fast as possible until the terminal's window is visible.
    ///
    /// # Errors
    ///
    /// If the terminal ends first, with its log, or no window appears.
    pub fn window(&mut self) -> Result<Window<'a>> {
        let deadline = Instant::now() + PATIENCE;
        while self.window.is_none() {
            let found = viewable(self.display)?.into_iter().find(|id| !self.before.contains(id));
            self.window = found.map(|id| Window { display: self.display, id });
            if found.is_none() {
                let ended = self.child.0.try_wait()?;
                if ended.is_some() || Instant::now() > deadline {
                    bail!("no window, {ended:?}: {}", self.log());
                }
            }
        }
        self.window.context("a window")
    }

    /// The terminal's stderr so far.
    pub fn log(&self) -> String {
        fs::read_to_string(self.home.path().join("log")).unwrap_or_default()
    }

    /// The terminal's process id.
    pub fn pid(&self) -> u32 {
        self.child.0.id()
    }

    /// The resources of the machine that the terminal uses.
    ///
    /// # Errors
    ///
    /// If the terminal has ended.
    pub fn resources(&self) -> Result<Resources> {
        Resources::of(self.pid())
    }

    /// The processor time that the terminal has used.
    ///
    /// # Errors
    ///
    /// If the terminal has ended.
    pub fn processor_time(&self) -> Result<Duration> {
        // proc(5): after the name in parentheses, the 12th and 13th field are ticks in user and kernel mode, including
        // threads that have ended. Linux reports 100 ticks per second to programs, whatever it counts internally.
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.pid()))?;
        let (_, fields) = stat.rsplit_once(')').context("a name in brackets")?;
        let ticks = fields.split_whitespace().skip(11).take(2).map(str::parse::<u64>);
        Ok(Duration::from_millis(10 * ticks.sum::<Result<u64, _>>()?))
    }

    /// Runs a command that sends the terminal a message, such as `alacritty msg`.
    ///
    /// # Errors
    ///
    /// If the command fails.
    pub fn message(&self, words: &[&str]) -> Result<()> {
        let status = Command::new(words[0])
            .args(&words[1..])
            .env("HOME", self.home.path())
            .env("XDG_RUNTIME_DIR", self.home.path())
            .env("DISPLAY", self.display.name())
            .status()?;
        ensure!(status.success(), "{words:?} ended with {status}");
        Ok(())
    }

    /// Waits until the terminal shows `count` windows.
    ///
    /// # Errors
    ///
    /// If fewer windows appear.
    pub fn wait_for_windows(&self, count: usize) -> Result<()> {
        let all_shown = || {
            let windows = viewable(self.display)?.len() - self.before.len();
            Ok((windows >= count).then_some(()))
        };
        wait_for("its windows", all_shown, || self.log())
    }

    /// Waits until the terminal ends by itself, which happens after its program has ended.
    ///
    /// # Errors
    ///
    /// If the terminal keeps running.
    pub fn wait_for_exit(&mut self) -> Result<()> {
        let child = &mut self.child.0;
        wait_for("the terminal's end", || Ok(child.try_wait()?.map(drop)), String::new)
    }
}

/// Part of a window, in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowPart {
    /// Left edge.
    pub x: i16,
    /// Top edge.
    pub y: i16,
    /// Width.
    pub width: u16,
    /// Height.
    pub height: u16,
}

impl Window<'_> {
    /// Moves the window, so that no window covers another.
    ///
    /// # Errors
    ///
    /// If the window has closed.
    pub fn place(&self, x: i32, y: i32) -> Result<()> {
        let place = ConfigureWindowAux::new().x(x).y(y);
        self.display.connection.configure_window(self.id, &place)?.check()?;
        Ok(())
    }

    /// Gives the window the keyboard focus.
    ///
    /// # Errors
    ///
    /// If the window has closed.
    pub fn focus(&self) -> Result<()> {
        let connection = &self.display.connection;
        connection.set_input_focus(InputFocus::PARENT, self.id, x11rb::CURRENT_TIME)?.check()?;
        Ok(())
    }

    /// The bytes of a part of the window.
    ///
    /// # Errors
    ///
    /// If the window has closed, or does not contain the whole part.
    pub fn part(&self, part: WindowPart) -> Result<Vec<u8>> {
        let WindowPart { x, y, width, height } = part;
        let connection = &self.display.connection;
        let image = connection
            .get_image(ImageFormat::Z_PIXMAP, self.id, x, y, width, height, u32::MAX)?
            .reply()?;
        Ok(image.data)
    }

    /// Sends a key press without a release. Does not wait for any effect.
    ///
    /// # Errors
    ///
    /// If the layout has no such key.
    pub fn press(&self, name: &str) -> Result<()> {
        self.display.one_key(name, true)?;
        self.display.connection.flush()?;
        Ok(())
    }

    /// Sends a key release.
    ///
    /// # Errors
    ///
    /// If the layout has no such key.
    pub fn release(&self, name: &str) -> Result<()> {
        self.display.one_key(name, false)?;
        self.display.connection.flush()?;
        Ok(())
    }
}
