//! Public clients of the Model Context Protocol: the conformance suite, the Inspector, the Python and TypeScript SDKs,
//! FastMCP and mcp-remote. `packaging/setup.sh` installs them from `tests/clients`.

use std::{
    io::{BufRead as _, BufReader, Read as _},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use crate::{
    Instance,
    process::{OwnedProcess, bare},
};

/// The folder `tests/clients`.
const OWN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/clients");
/// The number of seconds after which a client is ended. It only ends clients that hang, and does not judge their speed.
const LONGEST: &str = "600";
/// The variable that enables tasks that take several minutes.
const LONG: &str = "UNTERM_LONG";

/// The folder where the clients are installed.
pub struct Clients(PathBuf);

impl Clients {
    /// Finds the clients through `UNTERM_MCP_CLIENTS`.
    ///
    /// # Errors
    ///
    /// If the clients are not installed. The message gives the command that installs them.
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

    /// A command that runs a script of an npm package. It uses the instance's home, and does not inherit the test's
    /// environment.
    pub fn node(&self, script: &str, unterm: &Instance) -> Command {
        let mut command = self.bounded(&self.0.join("bin/node"), unterm.home());
        command.arg(self.0.join("node_modules").join(script));
        command
    }

    /// A command that runs a Python script of `tests/clients`. It uses the instance's home, and does not inherit the
    /// test's environment.
    pub fn python(&self, script: &str, unterm: &Instance) -> Command {
        let mut command = self.bounded(&self.0.join("python/bin/python"), unterm.home());
        command.arg(Path::new(OWN).join(script)).env("PYTHONDONTWRITEBYTECODE", "1");
        command
    }

    /// A command that runs `tests/clients/sdk.mjs`. It uses the instance's home, and does not inherit the test's
    /// environment.
    pub fn typescript(&self, unterm: &Instance) -> Command {
        let mut command = self.bounded(&self.0.join("bin/node"), unterm.home());
        command.arg(Path::new(OWN).join("sdk.mjs")).arg(&self.0);
        command
    }

    fn bounded(&self, program: &Path, home: &Path) -> Command {
        let mut command = bare("timeout", home);
        // Clients that start another Node search for it in `PATH`.
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

/// The output of a client that succeeded.
pub struct ClientOutput {
    /// The text that the client wrote to stdout.
    pub out: String,
    /// The text that the client wrote to stderr.
    pub err: String,
}

impl ClientOutput {
    /// Runs a client until it ends.
    ///
    /// # Errors
    ///
    /// If the client can't be started or fails, with all its output.
    pub fn of(command: &mut Command) -> Result<Self> {
        let output = command.output().context("starting a client")?;
        let said = Self {
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        };
        ensure!(output.status.success(), "{:?}: {}\n{}", output.status, said.err, said.out);
        Ok(said)
    }

    /// The client's stdout as JSON.
    ///
    /// # Errors
    ///
    /// If stdout is not JSON.
    pub fn json(&self) -> Result<Value> {
        serde_json::from_str(&self.out).with_context(|| format!("{:?} is no JSON", self.out))
    }
}

/// The instance's URL for the protocol over HTTP, and its token.
///
/// # Errors
///
/// If the instance does not serve HTTP.
pub fn http_door(unterm: &Instance) -> Result<(String, String)> {
    let port = unterm.entry()["http_port"].as_u64().filter(|port| *port != 0);
    let token = unterm.entry()["auth_token"].as_str().context("no token")?;
    Ok((format!("http://127.0.0.1:{}", port.context("no HTTP")?), token.to_owned()))
}

/// `tests/clients/bearer.mjs` as a proxy in front of an instance. It is ended on drop.
pub struct Bearer {
    _process: OwnedProcess,
    port: u16,
}

impl Bearer {
    /// Starts the proxy.
    ///
    /// # Errors
    ///
    /// If the proxy does not listen.
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
        let process = OwnedProcess(child);
        let mut port = String::new();
        BufReader::new(out.take(100)).read_line(&mut port)?;
        let port =
            port.trim().parse::<u16>().with_context(|| format!("it said {port:?}, no port"))?;
        Ok(Self { _process: process, port })
    }

    /// The URL that serves the protocol without a token.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/mcp", self.port)
    }
}
