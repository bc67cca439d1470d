//! `unterm-cli mcp`: the Model Context Protocol on stdin and stdout, relayed to an instance that runs, or to one that is
//! started for it and ends with the last client it has then. What is relayed is never looked at.

use std::{
    io::{self, BufRead as _, BufReader, Read, Write},
    net::{Shutdown, TcpStream},
    path::Path,
    process::{Child, ChildStdout, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use anyhow::{Context, Result, bail};
use rustix::{
    event::{PollFd, PollFlags, poll},
    io::Errno,
};
use unterm_control::{
    client::{self, Client, ClientError, Endpoint, LAST},
    held::{self, Hold},
};

/// Relays until the client closes its side, or the instance goes.
pub fn relay(home: &Path, instance: Option<&str>, toolset: Option<&str>) -> Result<()> {
    let toolset = toolset.unwrap_or_default();
    let (stream, hold, own) = match running(home, instance, toolset)? {
        Some((stream, hold)) => (stream, hold, None),
        None => {
            let own = Own::start()?;
            let endpoint = client::find_by_name(home, &own.id)?;
            // Its standard input holds it.
            (Client::model_context(&endpoint, toolset)?, None, Some(own))
        }
    };
    let is_over = Arc::new(AtomicBool::new(false));
    let (mut up, ended) = (stream.try_clone()?, Arc::clone(&is_over));
    thread::spawn(move || {
        let _ = pass(&mut io::stdin().lock(), &mut up);
        ended.store(true, Ordering::Relaxed);
        // Replies that are under way still come, for as long as somebody may read them. The line is one of its own, whatever
        // the client ended with.
        let _ = write!(up, "\n{{\"jsonrpc\":\"2.0\",\"method\":\"{LAST}\"}}\n");
        if until_unread().is_ok() {
            let _ = up.shutdown(Shutdown::Both);
        }
    });
    let relayed = pass(&mut &stream, &mut io::stdout().lock());
    drop(hold);
    drop(own);
    match relayed {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        Ok(()) if !is_over.load(Ordering::Relaxed) => bail!("Unterm closed the connection"),
        _ => Ok(()),
    }
}

/// A connection, and what keeps the instance where it would end with its other clients.
type Joined = (TcpStream, Option<Hold>);

/// A connection to the instance that is meant: the one of that name, else the one this runs in, else the active one;
/// `None`: none runs.
fn running(home: &Path, instance: Option<&str>, toolset: &str) -> Result<Option<Joined>> {
    if let Some(name) = instance {
        return Ok(Some(join(home, &client::find_by_name(home, name)?, toolset)?));
    }
    let around = std::env::var("UNTERM_INSTANCE").ok();
    let around = around.and_then(|name| client::find_by_name(home, &name).ok());
    let mut refusal = None;
    let endpoints: Vec<Endpoint> = around.into_iter().chain(client::find(home)).collect();
    for endpoint in endpoints {
        match join(home, &endpoint, toolset) {
            Ok(joined) => return Ok(Some(joined)),
            Err(error @ ClientError::Call { .. }) => refusal = refusal.or(Some(error)),
            // Nobody listens there any more, or it is ending.
            Err(_) => {}
        }
    }
    match refusal {
        Some(refusal) => Err(refusal.into()),
        None => Ok(None),
    }
}

/// Holds an instance, and then connects to it.
fn join(home: &Path, endpoint: &Endpoint, toolset: &str) -> Result<Joined, ClientError> {
    let hold = held::hold(home, endpoint.port).map_err(|error| match error.kind() {
        io::ErrorKind::WouldBlock => io::Error::other("it is ending"),
        _ => error,
    })?;
    Ok((Client::model_context(endpoint, toolset)?, hold))
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

/// Waits until nobody can read standard output any more, which a file's end never comes to.
fn until_unread() -> rustix::io::Result<()> {
    let stdout = io::stdout();
    loop {
        // Nothing is asked for: an error and a hang-up are told all the same (POSIX, poll).
        match poll(&mut [PollFd::new(&stdout, PollFlags::empty())], None) {
            Ok(0) | Err(Errno::INTR) => {}
            told => return told.map(drop),
        }
    }
}

/// An instance that was started for this, without a window. When its standard input ends, so also when this process is
/// killed, it ends with the last of its other clients.
struct Own {
    process: Child,
    /// What it has to say after its id: nothing, or that others hold it.
    out: BufReader<ChildStdout>,
    id: String,
}

impl Own {
    /// Starts one and waits until it can be driven.
    fn start() -> Result<Self> {
        let program = std::env::current_exe()?.with_file_name("unterm");
        let mut command = Command::new(&program);
        // Others may come to need it: what is typed in this terminal (Ctrl+C) is not for it.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut process = command
            .args(["--headless", "--with-stdin"])
            // A client shows what it is told on stderr as if something were wrong.
            .env(
                "UNTERM_LOG",
                std::env::var_os("UNTERM_LOG").unwrap_or_else(|| "warn,rmcp=off".into()),
            )
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}", program.display()))?;
        let mut id = String::new();
        let out = process.stdout.take().context("it has no output")?;
        let mut out = BufReader::new(out);
        out.read_line(&mut id)?;
        let id = id.trim_end().to_owned();
        if id.is_empty() {
            let how = process.wait()?;
            bail!("{} ended before it could be driven ({how})", program.display());
        }
        Ok(Self { process, out, id })
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        let mut held = String::new();
        if self.out.read_line(&mut held).is_ok_and(|length| length > 0) {
            return;
        }
        let _ = self.process.wait();
    }
}
