//! The TCP ports on which the programs of terminals listen, from `/proc`.
//!
//! Reads only `/proc`. Finds no port of another user's process, because the system hides its open files, and none of a
//! program that has left its terminal, such as a daemon.

use std::{
    collections::{BTreeSet, HashMap},
    fs,
};

use super::linux::{Stat, processes};

/// The state of a listening socket in `/proc/net/tcp`.
const LISTEN: &str = "0A";

/// The ports on which programs listen, for each of the terminals. A terminal is given by its device number.
pub(super) fn listening_ports(terminals: &[Option<u64>]) -> Vec<BTreeSet<u16>> {
    let mut found = vec![BTreeSet::new(); terminals.len()];
    let lists = ["/proc/net/tcp", "/proc/net/tcp6"].map(|file| fs::read_to_string(file).ok());
    let own = rustix::process::geteuid().as_raw();
    let sockets: HashMap<u64, u16> =
        lists.iter().flatten().flat_map(|list| listening(list, own)).collect();
    if sockets.is_empty() {
        // Usually, no program of the user listens. Then no open file needs to be read.
        return found;
    }
    for process in processes() {
        let terminal = Some(u64::from(process.terminal)).filter(|terminal| *terminal != 0);
        let of = terminal.and_then(|it| terminals.iter().position(|one| *one == Some(it)));
        if let Some(of) = of {
            found[of].extend(ports(&process, &sockets));
        }
    }
    found
}

/// The listening sockets of a user in the content of `/proc/net/tcp` or `/proc/net/tcp6`: the inode and the port of each.
fn listening(list: &str, user: u32) -> impl Iterator<Item = (u64, u16)> {
    list.lines().skip(1).filter_map(move |line| {
        let mut fields = line.split_ascii_whitespace().skip(1);
        let (_, port) = fields.next()?.rsplit_once(':')?;
        // The fields after both addresses are: state, queues, timer, retransmissions, user, timeout, inode.
        let is_listening = fields.nth(1)? == LISTEN;
        let is_own = fields.nth(3)?.parse() == Ok(user);
        let inode = fields.nth(1)?.parse().ok()?;
        let port = u16::from_str_radix(port, 16).ok()?;
        (is_listening && is_own).then_some((inode, port))
    })
}

/// The ports on which a process listens.
fn ports(process: &Stat, sockets: &HashMap<u64, u16>) -> Vec<u16> {
    let Ok(files) = fs::read_dir(format!("/proc/{}/fd", process.pid)) else { return Vec::new() };
    let port = |file: fs::DirEntry| {
        let target = fs::read_link(file.path()).ok()?;
        let inode = target.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?;
        sockets.get(&inode.parse().ok()?).copied()
    };
    files.flatten().filter_map(port).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_listening_sockets_of_the_user_count() {
        let list = "\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:0BB8 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 41 1 0 100 0 0 10 0
   1: 0100007F:0BB9 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 42 1 0 100 0 0 10 0
   2: 0100007F:0BBA 0100007F:C350 01 00000000:00000000 00:00000000 00000000  1000        0 43 1 0 100 0 0 10 0
   3: garbage
   4: 00000000000000000000000000000000:FFFF 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 44 1 0 100 0 0 10 0
";
        let found: Vec<_> = listening(list, 1000).collect();
        assert_eq!(found, [(41, 3000), (44, 65_535)]);
        assert_eq!(listening("", 1000).count(), 0);
    }

    #[test]
    fn a_listening_process_is_found_by_its_descriptors() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let user = rustix::process::geteuid().as_raw();
        let list = fs::read_to_string("/proc/net/tcp").expect("a list");
        let sockets = listening(&list, user).collect();
        let own = super::super::linux::stat(std::process::id().cast_signed()).expect("a process");
        assert!(ports(&own, &sockets).contains(&port));
        drop(listener);
        assert!(!ports(&own, &sockets).contains(&port));
    }
}
