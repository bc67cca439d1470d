//! Finds the user who owns the other end of a loopback connection.
//!
//! Linux lists each TCP socket with its owner's user id in `/proc/net/tcp` and `/proc/net/tcp6` ([proc_net_tcp(5)]). On
//! other systems, such a list needs privileges or unsafe calls, so [`is_own_user`] always returns true there. On those
//! systems, only the secret code keeps other users out.
//!
//! [proc_net_tcp(5)]: https://www.kernel.org/doc/html/latest/networking/proc_net_tcp.html

use std::{io, net::SocketAddr};

/// Whether this process's user owns the socket `peer`, which is connected to this process's socket `own`.
///
/// # Errors
/// The system's list of sockets can't be read, or does not contain the connection.
#[cfg(target_os = "linux")]
pub fn is_own_user(peer: SocketAddr, own: SocketAddr) -> io::Result<bool> {
    Ok(uid(peer, own)? == rustix::process::geteuid().as_raw())
}

/// Always returns true, because this system does not reveal the owner.
///
/// # Errors
/// Never fails.
#[cfg(not(target_os = "linux"))]
pub fn is_own_user(_: SocketAddr, _: SocketAddr) -> io::Result<bool> {
    Ok(true)
}

#[cfg(target_os = "linux")]
fn uid(peer: SocketAddr, own: SocketAddr) -> io::Result<u32> {
    use std::{
        fs::File,
        io::{BufRead as _, BufReader},
    };
    // A program may reach an IPv4 address through an IPv6 socket.
    for (file, ends) in [
        ("/proc/net/tcp", format!("{} {}", v4(peer), v4(own))),
        ("/proc/net/tcp6", format!("{} {}", v6(peer), v6(own))),
    ] {
        let list = match File::open(file) {
            Ok(list) => list,
            // The kernel has no IPv6.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(io::Error::other(format!("{file}: {error}"))),
        };
        for line in BufReader::new(list).lines() {
            if let Some(uid) = owner(&line?, &ends) {
                return Ok(uid);
            }
        }
    }
    Err(io::Error::other("the connection is not in /proc/net/tcp"))
}

/// The user id in a line of the list, if the line's socket has these two addresses. A closed socket has the inode 0 and the
/// user id 0, and belongs to no user.
#[cfg(target_os = "linux")]
fn owner(line: &str, ends: &str) -> Option<u32> {
    let fields = line.trim_start().split_once(": ")?.1.strip_prefix(ends)?;
    // The fields after both addresses are: state, queues, timer, retransmissions, user, timeout, inode.
    let mut fields = fields.split_ascii_whitespace().skip(4);
    let uid = fields.next()?.parse().ok()?;
    let inode: u64 = fields.nth(1)?.parse().ok()?;
    (inode != 0).then_some(uid)
}

/// Formats an address like `/proc/net/tcp`: the four bytes as one number in native byte order, and then the port.
#[cfg(target_os = "linux")]
fn v4(address: SocketAddr) -> String {
    match address.ip().to_canonical() {
        std::net::IpAddr::V4(ip) => {
            format!("{:08X}:{:04X}", u32::from_ne_bytes(ip.octets()), address.port())
        }
        // No entry of that list looks like this text.
        std::net::IpAddr::V6(_) => "-".to_owned(),
    }
}

/// Formats an address like `/proc/net/tcp6`.
#[cfg(target_os = "linux")]
fn v6(address: SocketAddr) -> String {
    let ip = match address.ip() {
        std::net::IpAddr::V4(ip) => ip.to_ipv6_mapped(),
        std::net::IpAddr::V6(ip) => ip,
    };
    let octets = ip.octets();
    let (words, _) = octets.as_chunks::<4>();
    let words: String =
        words.iter().map(|word| format!("{:08X}", u32::from_ne_bytes(*word))).collect();
    format!("{words}:{:04X}", address.port())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn a_connection_is_found_by_both_its_ends() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let own = listener.local_addr().unwrap();
        let stream = TcpStream::connect(own).unwrap();
        let peer = stream.local_addr().unwrap();
        assert!(is_own_user(peer, own).unwrap());
        let other = SocketAddr::new(own.ip(), own.port() ^ 1);
        assert!(is_own_user(peer, other).is_err(), "no such connection");
    }

    #[test]
    fn a_line_says_who_holds_a_socket() {
        let own = "127.0.0.1:8377".parse().unwrap();
        let peer = "127.0.0.1:37736".parse().unwrap();
        let ends = format!("{} {}", v4(peer), v4(own));
        let line = |uid, inode| {
            format!(
                "   3: {ends} 01 00000000:00000000 00:00000000 00000000 {uid}        0 {inode} 2 0000000085b29510 20 0 0 10 -1"
            )
        };
        assert_eq!(owner(&line("    0", "35121"), &ends), Some(0));
        assert_eq!(owner(&line("65534", "35121"), &ends), Some(65534));
        assert_eq!(owner(&line("    0", "0"), &ends), None, "nobody holds it any more");
        assert_eq!(owner(&line("    0", "35121"), &format!("{} {}", v4(own), v4(peer))), None);
        if cfg!(target_endian = "little") {
            assert_eq!(ends, "0100007F:9368 0100007F:20B9");
            assert_eq!(v6(own), "0000000000000000FFFF00000100007F:20B9");
        }
    }
}
