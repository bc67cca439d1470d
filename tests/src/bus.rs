//! A session bus (D-Bus) of a test's own.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    process::{Command, Stdio},
};

use anyhow::{Context as _, Result, ensure};
use tempfile::TempDir;

use crate::{
    Display,
    process::{Ended, bare},
};

/// A session bus; ended when dropped, with what it started.
pub struct Bus {
    _daemon: Ended,
    address: String,
    _folder: TempDir,
}

impl Bus {
    /// Starts one that nothing else is on, and that starts nothing. Needs no settings of the system's.
    ///
    /// # Errors
    ///
    /// When dbus-daemon is not installed or does not start.
    pub fn start() -> Result<Self> {
        let folder = folder()?;
        let settings = folder.path().join("bus.conf");
        let listen = folder.path().display();
        fs::write(
            &settings,
            format!(
                "<busconfig><type>session</type><listen>unix:dir={listen}</listen><auth>EXTERNAL</auth>\
                 <policy context=\"default\"><allow send_destination=\"*\" eavesdrop=\"true\"/>\
                 <allow eavesdrop=\"true\"/><allow own=\"*\"/></policy></busconfig>"
            ),
        )?;
        let mut daemon = Command::new("dbus-daemon");
        daemon.arg(format!("--config-file={}", settings.display()));
        Self::run(daemon, folder)
    }

    /// Starts one that starts the system's services when they are asked for, on a display.
    ///
    /// # Errors
    ///
    /// Likewise.
    pub fn with_services(display: &Display) -> Result<Self> {
        let folder = folder()?;
        let mut daemon = bare("dbus-daemon", folder.path());
        daemon.env("DISPLAY", display.name());
        daemon.arg("--session");
        Self::run(daemon, folder)
    }

    fn run(mut daemon: Command, folder: TempDir) -> Result<Self> {
        let mut daemon = daemon
            .args(["--nofork", "--nopidfile", "--nosyslog", "--print-address=1"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("starting dbus-daemon")?;
        let stdout = daemon.stdout.take().context("dbus-daemon's stdout")?;
        let daemon = Ended(daemon);
        let mut address = String::new();
        BufReader::new(stdout).read_line(&mut address)?;
        let address = address.trim().to_owned();
        ensure!(!address.is_empty(), "dbus-daemon gave no address");
        Ok(Self { _daemon: daemon, address, _folder: folder })
    }

    /// Its address, as in `$DBUS_SESSION_BUS_ADDRESS`.
    pub fn address(&self) -> &str {
        &self.address
    }
}

fn folder() -> std::io::Result<TempDir> {
    tempfile::Builder::new().prefix("unterm-bus-").tempdir()
}
