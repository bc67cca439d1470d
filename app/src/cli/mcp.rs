//! `unterm-cli mcp`: the Model Context Protocol on stdin and stdout, relayed to an instance that runs, or to one that is
//! started for it and ends with it. What is relayed is never looked at.

use std::{
    io::{self, BufRead as _, BufReader, Read, Write},
    net::Shutdown,
    path::Path,
    process::{Child, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use anyhow::{Context, Result, bail};
use unterm_control::client::{self, Client, ClientError, Endpoint};

/// Relays until the client closes its side, or the instance goes.
pub fn relay(home: &Path, instance: Option<&str>, toolset: Option<&str>) -> Result<()> {
    let toolset = toolset.unwrap_or_default();
    let (stream, own) = match running(home, instance, toolset)? {
        Some(stream) => (stream, None),
        None => {
            let own = Own::start()?;
            let endpoint = client::find_by_name(home, &own.id)?;
            (Client::model_context(&endpoint, toolset)?, Some(own))
        }
    };
    let is_over = Arc::new(AtomicBool::new(false));
    let (mut up, ended) = (stream.try_clone()?, Arc::clone(&is_over));
    thread::spawn(move || {
        let _ = pass(&mut io::stdin().lock(), &mut up);
        ended.store(true, Ordering::Relaxed);
        // Replies that are under way still come.
        let _ = up.shutdown(Shutdown::Write);
    });
    let relayed = pass(&mut &stream, &mut io::stdout().lock());
    drop(own);
    match relayed {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        Ok(()) if !is_over.load(Ordering::Relaxed) => bail!("Unterm closed the connection"),
        _ => Ok(()),
    }
}

/// A connection to the instance that is meant: the one of that name, else the one this runs in, else the active one;
/// `None`: none runs.
fn running(
    home: &Path,
    instance: Option<&str>,
    toolset: &str,
) -> Result<Option<std::net::TcpStream>> {
    if let Some(name) = instance {
        return Ok(Some(Client::model_context(&client::find_by_name(home, name)?, toolset)?));
    }
    let around = std::env::var("UNTERM_INSTANCE").ok();
    let around = around.and_then(|name| client::find_by_name(home, &name).ok());
    let mut refusal = None;
    let endpoints: Vec<Endpoint> = around.into_iter().chain(client::find(home)).collect();
    for endpoint in endpoints {
        match Client::model_context(&endpoint, toolset) {
            Ok(stream) => return Ok(Some(stream)),
            Err(error @ ClientError::Call { .. }) => refusal = refusal.or(Some(error)),
            // Nobody listens there any more.
            Err(_) => {}
        }
    }
    match refusal {
        Some(refusal) => Err(refusal.into()),
        None => Ok(None),
    }
}

/// Passes bytes on as they come.
fn pass(from: &mut impl Read, to: &mut impl Write) -> io::Result<()> {
    let mut buffer = vec![0; 64 << 10];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(count) => {
                to.write_all(&buffer[..count])?;
                to.flush()?;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// An instance that was started for this, without a window. It ends when its standard input does, so also when this
/// process is killed.
struct Own {
    process: Child,
    id: String,
}

impl Own {
    /// Starts one and waits until it can be driven.
    fn start() -> Result<Self> {
        let program = std::env::current_exe()?.with_file_name("unterm");
        let mut process = Command::new(&program)
            .args(["--headless", "--with-stdin"])
            // A client shows what it is told on stderr as if something were wrong.
            .env("UNTERM_LOG", std::env::var_os("UNTERM_LOG").unwrap_or_else(|| "warn".into()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}", program.display()))?;
        let mut id = String::new();
        let out = process.stdout.take().context("it has no output")?;
        BufReader::new(out).read_line(&mut id)?;
        let id = id.trim_end().to_owned();
        if id.is_empty() {
            let how = process.wait()?;
            bail!("{} ended before it could be driven ({how})", program.display());
        }
        Ok(Self { process, id })
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}
