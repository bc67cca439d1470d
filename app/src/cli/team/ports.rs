//! Ports for the programs of a team: a range for each member. When it is chosen, no program listens in the range, and
//! no other team has it. Another program may take a port later, because only the programs of the team reserve it.

use std::net::{Ipv4Addr, TcpListener};

use anyhow::{Result, bail};

use super::record::Team;

/// The ports that are leased. They are below the ports that systems use for outgoing connections: 32768 to 60999 on
/// Linux, from 49152 on most others.
const LEASED: std::ops::Range<u16> = 20_000..32_000;

/// The first port of each member's range of `count` ports. 0 for members without ports.
///
/// # Errors
/// There are not enough free ports.
pub fn free(members: usize, count: u16, teams: &[Team]) -> Result<Vec<u16>> {
    let listens = |port: u16| TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_err();
    choose(members, count, teams, listens)
}

fn choose(
    members: usize,
    count: u16,
    teams: &[Team],
    is_used: impl Fn(u16) -> bool,
) -> Result<Vec<u16>> {
    if count == 0 {
        return Ok(vec![0; members]);
    }
    let leased: Vec<_> = teams.iter().flat_map(|team| &team.members).map(|it| it.ports()).collect();
    let mut found = Vec::new();
    let mut port = LEASED.start;
    while found.len() < members {
        let Some(end) = port.checked_add(count).filter(|end| *end <= LEASED.end) else {
            bail!("there are no {members} ranges of {count} free ports; close a team first");
        };
        let range = port..end;
        if let Some(other) = leased.iter().find(|it| it.start < range.end && range.start < it.end) {
            port = other.end;
        } else if let Some(used) = range.clone().find(|port| is_used(*port)) {
            port = used + 1;
        } else {
            found.push(port);
            port = end;
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{super::record::Member, *};

    fn team(first_port: u16, ports: u16) -> Team {
        let member = Member { first_port, ..Member::new(1, ports, Path::new("/")) };
        Team { members: vec![member], ..Team::default() }
    }

    #[test]
    fn ranges_leave_out_used_and_leased_ports() {
        let none = |_| false;
        assert_eq!(choose(2, 10, &[], none).unwrap(), [20_000, 20_010]);
        assert_eq!(choose(2, 10, &[team(20_005, 10)], none).unwrap(), [20_015, 20_025]);
        assert_eq!(choose(2, 10, &[], |port| port == 20_012).unwrap(), [20_000, 20_013]);
        assert_eq!(choose(3, 0, &[], none).unwrap(), [0, 0, 0]);
        assert!(choose(1, 10, &[], |_| true).is_err());
        assert_eq!(choose(1, 1, &[team(0, 0)], none).unwrap(), [20_000]);
    }
}
