//! A session bus (D-Bus) that belongs to one test.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    process::{Command, Stdio},
};

use anyhow::{Context as _, Result, ensure};
use tempfile::TempDir;

use crate::{
    Display,
    process::{OwnedProcess, bare},
};

/// A session bus. On drop, it is ended together with everything it started.
pub struct Bus {
    _daemon: OwnedProcess,
    address: String,
    _folder: TempDir,
}

impl Bus {
    /// Starts a bus without clients or services. Uses none of the system's settings.
    ///
    /// # Errors
    ///
    /// If dbus-daemon is not installed or does not start.
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

    /// Starts a bus that launches the system's services on demand, on a display.
    ///
    /// # Errors
    ///
    /// If dbus-daemon is not installed or does not start.
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
        let daemon = OwnedProcess(daemon);
        let mut address = String::new();
        BufReader::new(stdout).read_line(&mut address)?;
        let address = address.trim().to_owned();
        ensure!(!address.is_empty(), "dbus-daemon gave no address");
        Ok(Self { _daemon: daemon, address, _folder: folder })
    }

    /// The bus's address, as in `$DBUS_SESSION_BUS_ADDRESS`.
    pub fn address(&self) -> &str {
        &self.address
    }
}

fn folder() -> std::io::Result<TempDir> {
    tempfile::Builder::new().prefix("unterm-bus-").tempdir()
}
