//! Public clients of the Model Context Protocol: the conformance suite, the Inspector, the Python and TypeScript SDKs, FastMCP and
//! mcp-remote, as `packaging/setup.sh` installs them from `tests/clients`.

use std::{
    io::{BufRead as _, BufReader, Read as _},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use crate::{
    Instance,
    process::{Ended, bare},
};

/// What `tests/clients` holds.
const OWN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/clients");
/// Seconds after which one that does not end is ended: it bounds a hang and judges no speed.
const LONGEST: &str = "600";
/// Asks for the tasks that take minutes.
const LONG: &str = "UNTERM_LONG";

/// Where they are.
pub struct Clients(PathBuf);

impl Clients {
    /// Finds them by `UNTERM_MCP_CLIENTS`.
    ///
    /// # Errors
    ///
    /// When they are not there, with what installs them.
    pub fn find() -> Result<Self> {
        let folder = std::env::var_os("UNTERM_MCP_CLIENTS").map(PathBuf::from);
        let folder = folder.context(
            "UNTERM_MCP_CLIENTS is not set, so there are no clients to test with: run packaging/test, which installs them",
        )?;
        for part in ["bin/node", "python/bin/python", "node_modules"] {
            let part = folder.join(part);
            ensure!(part.exists(), "{} is missing: run packaging/test", part.display());
        }
        Ok(Self(folder))
    }

    /// A script of an npm package, with an instance's home and nothing of the test's environment.
    pub fn node(&self, script: &str, unterm: &Instance) -> Command {
        let mut command = self.bounded(&self.0.join("bin/node"), unterm.home());
        command.arg(self.0.join("node_modules").join(script));
        command
    }

    /// A script of `tests/clients` in Python, the same way.
    pub fn python(&self, script: &str, unterm: &Instance) -> Command {
        let mut command = self.bounded(&self.0.join("python/bin/python"), unterm.home());
        command.arg(Path::new(OWN).join(script)).env("PYTHONDONTWRITEBYTECODE", "1");
        command
    }

    /// `tests/clients/sdk.mjs`, the same way.
    pub fn typescript(&self, unterm: &Instance) -> Command {
        let mut command = self.bounded(&self.0.join("bin/node"), unterm.home());
        command.arg(Path::new(OWN).join("sdk.mjs")).arg(&self.0);
        command
    }

    fn bounded(&self, program: &Path, home: &Path) -> Command {
        let mut command = bare("timeout", home);
        // Those of them that start another Node look for it there.
        let path = std::env::var_os("PATH").unwrap_or_default();
        let all = std::iter::once(self.0.join("bin")).chain(std::env::split_paths(&path));
        if let Ok(all) = std::env::join_paths(all) {
            command.env("PATH", all);
        }
        if std::env::var(LONG).is_ok_and(|value| value == "1") {
            command.env(LONG, "1");
        }
        command.args(["--kill-after", "5", LONGEST]).arg(program).stdin(Stdio::null());
        command
    }
}

/// What a client said that did what it should.
pub struct Said {
    /// On stdout.
    pub out: String,
    /// On stderr.
    pub err: String,
}

impl Said {
    /// Runs a client until it ends.
    ///
    /// # Errors
    ///
    /// When it can't be started, or fails, with all that it said.
    pub fn of(command: &mut Command) -> Result<Self> {
        let output = command.output().context("starting a client")?;
        let said = Self {
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        };
        ensure!(output.status.success(), "{:?}: {}\n{}", output.status, said.err, said.out);
        Ok(said)
    }

    /// Its stdout as JSON.
    ///
    /// # Errors
    ///
    /// When it is none.
    pub fn json(&self) -> Result<Value> {
        serde_json::from_str(&self.out).with_context(|| format!("{:?} is no JSON", self.out))
    }
}

/// An instance's address for the protocol over HTTP, and its token.
///
/// # Errors
///
/// When it serves none.
pub fn http_door(unterm: &Instance) -> Result<(String, String)> {
    let port = unterm.entry()["http_port"].as_u64().filter(|port| *port != 0);
    let token = unterm.entry()["auth_token"].as_str().context("no token")?;
    Ok((format!("http://127.0.0.1:{}", port.context("no HTTP")?), token.to_owned()))
}

/// `tests/clients/bearer.mjs` in front of an instance; ended when dropped.
pub struct Bearer {
    _process: Ended,
    port: u16,
}

impl Bearer {
    /// Starts it.
    ///
    /// # Errors
    ///
    /// When it does not listen.
    pub fn start(clients: &Clients, unterm: &Instance) -> Result<Self> {
        let (url, token) = http_door(unterm)?;
        let mut child: Child = bare(&clients.0.join("bin/node").to_string_lossy(), unterm.home())
            .arg(Path::new(OWN).join("bearer.mjs"))
            .arg(url)
            .env("UNTERM_TOKEN", token)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("starting the proxy")?;
        let out = child.stdout.take().context("its output")?;
        let process = Ended(child);
        let mut port = String::new();
        BufReader::new(out.take(100)).read_line(&mut port)?;
        let port =
            port.trim().parse::<u16>().with_context(|| format!("it said {port:?}, no port"))?;
        Ok(Self { _process: process, port })
    }

    /// Where the protocol is spoken without a token.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/mcp", self.port)
    }
}
