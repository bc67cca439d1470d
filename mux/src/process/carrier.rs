//! Programs that forward the terminal: to another machine, into a container, or into a terminal of their own.
//!
//! Owns the one list of them. Never inspects a process: a name does not show which program wrote the output, or where.

/// Names as the kernel stores them (15 bytes on Linux), without a part after a colon, as in `tmux: client`.
const CARRIERS: [&str; 35] = [
    // To other machines.
    "ssh",
    "slogin",
    "dbclient",
    "plink",
    "autossh",
    "mosh",
    "mosh-client",
    "et",
    "telnet",
    "rsh",
    "rlogin",
    "tsh",
    "adb",
    // Through a serial line.
    "cu",
    "minicom",
    "picocom",
    "tio",
    // Into containers and virtual machines.
    "docker",
    "podman",
    "nerdctl",
    "crictl",
    "kubectl",
    "oc",
    "incus",
    "lxc",
    "lxc-attach",
    "machinectl",
    "systemd-nspawn",
    "virsh",
    // Into a terminal of their own.
    "script",
    // Terminal multiplexers, whose programs may be any of these.
    "tmux",
    "tmate",
    "screen",
    "zellij",
    "dtach",
];

/// Virtual machines with a terminal as their console.
const MACHINES: &str = "qemu-system-";

/// Whether a program, by its name or its executable's path, shows output written elsewhere, usually by a shell there.
pub fn is_carrier(name: &str) -> bool {
    let name = bare(name);
    CARRIERS.contains(&name) || name.starts_with(MACHINES)
}

/// A program's name without its folder and without a status after a colon.
fn bare(name: &str) -> &str {
    let name = name.rsplit('/').next().unwrap_or(name);
    name.split(':').next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn carriers_go_by_name_or_path() {
        for name in ["ssh", "/usr/bin/ssh", "tmux: client", "/usr/bin/tmux", "qemu-system-x86"] {
            assert!(is_carrier(name), "{name}");
        }
        for name in
            ["", "/", ":", "sh", "/usr/bin/bash", "ssh-agent", "sshd", "/ssh/vim", "dockerd"]
        {
            assert!(!is_carrier(name), "{name}");
        }
        assert!(CARRIERS.iter().all(|name| name.len() <= 15));
    }
}
