//! A terminal in which commands of `unterm-cli ptywright` run. It is itself a session of a ptywright server.

use anyhow::{Result, ensure};
use serde_json::{Value, json};
use unterm_tests::binary;

use crate::ptywright::client::{Client, Framing, PtywrightServer};

/// A shell script that runs on a terminal. `$CLI` in it stands for `unterm-cli ptywright`.
pub struct OuterTerminal {
    pub served: PtywrightServer,
    client: Client,
    session: String,
}

impl OuterTerminal {
    /// Runs a script on a terminal of 24 rows and 80 columns.
    pub fn new(script: &str) -> Result<Self> {
        let (served, mut client) = PtywrightServer::stdio(Framing::Ndjson, &[], &[])?;
        let binary = binary("unterm-cli");
        let script = format!("CLI='{} ptywright'; {script}", binary.display());
        let env = json!({"PS1": "$ ", "TERM": "xterm-256color"});
        let created = client.call(
            "session.create",
            json!({"program": "/bin/sh", "args": ["-c", script], "env": env}),
        )?;
        let session = created["session"].as_str().unwrap_or_default().to_owned();
        Ok(Self { served, client, session })
    }

    /// Waits until the screen contains a text, and returns the screen.
    pub fn wait(&mut self, text: &str) -> Result<String> {
        self.wait_for(json!({"type": "contains_text", "value": text}))
    }

    /// Waits until a regular expression matches the screen, and returns the screen.
    pub fn wait_regex(&mut self, pattern: &str) -> Result<String> {
        self.wait_for(json!({"type": "screen_regex", "value": pattern}))
    }

    fn wait_for(&mut self, matcher: Value) -> Result<String> {
        let text =
            |snapshot: &Value| snapshot["plain_text"].as_str().unwrap_or_default().to_owned();
        match self.client.wait(&self.session, matcher.clone()) {
            Ok(evidence) => Ok(text(&evidence["snapshot"])),
            Err(error) => {
                let screen = text(&self.snapshot()?);
                Err(error.context(format!("waiting for {matcher} on\n{screen}")))
            }
        }
    }

    pub fn snapshot(&mut self) -> Result<Value> {
        self.client.call("session.snapshot", json!({"session": self.session}))
    }

    pub fn type_text(&mut self, text: &str) -> Result<()> {
        self.client.act(&self.session, json!({"type": "text", "value": text})).map(drop)
    }

    pub fn press(&mut self, key: &str) -> Result<()> {
        self.client.act(&self.session, json!({"type": "key", "value": key})).map(drop)
    }

    pub fn resize(&mut self, rows: u16, cols: u16) -> Result<()> {
        let size = json!({"session": self.session, "rows": rows, "cols": cols});
        self.client.call("session.resize", size).map(drop)
    }

    /// Waits for the line `code=N` that a script prints at its end, and checks the code.
    pub fn ends_with(&mut self, code: i32) -> Result<String> {
        let screen = self.wait_regex("code=[0-9]+ modes=[a-z]+")?;
        ensure!(screen.contains(&format!("code={code} modes=same")), "{screen}");
        Ok(screen)
    }
}

/// A script that runs a command, and prints its status and whether the terminal's modes are unchanged.
pub fn checked(command: &str) -> String {
    format!(
        "before=$(stty -g); {command}; code=$?; after=$(stty -g); \
         [ \"$before\" = \"$after\" ] && modes=same || modes=other; echo code=$code modes=$modes; read -r x"
    )
}
