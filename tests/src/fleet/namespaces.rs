//! Network namespaces. A fleet runs in one namespace without access to other networks. Each connector runs in its own
//! namespace, which is connected to the fleet's servers by a virtual cable. So every start of a connector is a new host
//! on the network.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    os::unix::process::CommandExt as _,
    path::Path,
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicUsize, Ordering},
};

use anyhow::{Context as _, Result, bail, ensure};

use crate::{binary, process::bare};

/// The environment variable that is set in processes in the fleet's namespace.
const ENTERED: &str = "UNTERM_TEST_NAMESPACE";
/// The address of the fleet's servers.
pub const SERVERS: &str = "10.87.0.1";
/// A script that sets up the namespace of the fleet, and runs a program in it.
const FLEET: &str = r#"ip link set lo up && ip addr add 10.87.0.1/32 dev lo && exec "$@""#;
/// A script that waits for the cable, and runs a program at its end. `$0` is the beginning of the cable's addresses.
const CONNECTOR: &str = r#"
echo ready
read -r _ || exit 1
ip addr add "$0.2/30" dev eth0 && ip link set eth0 up && ip route add default via "$0.1" || exit 1
exec "$@" </dev/null >/dev/null
"#;
/// The options with which `unshare` creates a network namespace: as root, or as root of a new user namespace.
const WAYS: [&[&str]; 2] = [&["--net"], &["--user", "--map-root-user", "--net"]];

/// The number of cables so far. It makes each cable's name unique, because Linux removes the cable of a dead connector
/// with a delay.
static CABLES: AtomicUsize = AtomicUsize::new(0);

/// Whether this process runs in the namespace of a fleet.
pub fn is_entered() -> bool {
    std::env::var_os(ENTERED).is_some()
}

/// Runs this program again, in the namespace of a fleet. Returns if the system allows no namespaces, or if this process
/// is already in the namespace.
///
/// # Errors
///
/// If the program can't be run again.
pub fn enter() -> Result<()> {
    if is_entered() {
        return Ok(());
    }
    // The connector's namespace is inside the fleet's, so nested namespaces must be allowed.
    let nested = |way: &&[&str]| {
        let tried = Command::new("unshare")
            .args(*way)
            .args(["sh", "-c", FLEET, "sh", "unshare", "--net"])
            .args(["ip", "link", "add", "name", "cable", "type", "veth", "peer", "name", "end"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        tried.is_ok_and(|status| status.success())
    };
    let Some(way) = WAYS.into_iter().find(nested) else { return Ok(()) };
    let error = Command::new("unshare")
        .args(way)
        .args(["sh", "-c", FLEET, "sh"])
        .arg(std::env::current_exe()?)
        .args(std::env::args_os().skip(1))
        .env(ENTERED, "1")
        .exec();
    bail!("the program can't be run again: {error}")
}

/// The virtual cable of a connector.
pub struct Cable {
    name: String,
    /// The first three numbers of the addresses at both ends of the cable.
    prefix: String,
}

impl Cable {
    /// A cable that no connector has used.
    pub fn unused() -> Self {
        let number = CABLES.fetch_add(1, Ordering::Relaxed);
        let prefix = format!("10.{}.{}", 88 + number / 250, number % 250);
        Self { name: format!("cable{number}"), prefix }
    }

    /// A command that runs one of Unterm's programs at the end of the cable.
    pub fn command(&self, program: &str, home: &Path) -> Command {
        let mut command = bare("unshare", home);
        command.args(["--net", "sh", "-c", CONNECTOR, &self.prefix]).arg(binary(program));
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        command
    }

    /// Connects the cable to a process that the command started.
    ///
    /// # Errors
    ///
    /// If the process has ended, or the system refuses.
    pub fn plug_in(&self, child: &mut Child) -> Result<()> {
        let mut ready = String::new();
        BufReader::new(child.stdout.take().context("no output")?).read_line(&mut ready)?;
        ensure!(ready == "ready\n", "no namespace: {ready:?}");
        let Self { name, prefix } = self;
        let (pid, address) = (child.id().to_string(), format!("{prefix}.1/30"));
        for args in [
            &["link", "add", "name", name, "type", "veth", "peer", "name", "eth0", "netns", &pid][..],
            &["addr", "add", &address, "dev", name],
            &["link", "set", name, "up"],
        ] {
            let done = Command::new("ip").args(args).output()?;
            let why = String::from_utf8_lossy(&done.stderr);
            ensure!(done.status.success(), "ip {}: {why}", args.join(" "));
        }
        child.stdin.take().context("no input")?.write_all(b"connected\n")?;
        Ok(())
    }
}
