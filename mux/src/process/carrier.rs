//! Programs that forward the terminal: to another machine, into a container, or to an inner terminal.
//!
//! Owns the only list of these programs. Never inspects a process. The name of a program does not show where its output
//! was written, or by which program.

/// The names as the kernel stores them (at most 15 bytes on Linux), without the part after a colon, as in `tmux:
/// client`.
const CARRIERS: [&str; 35] = [
    // Programs that connect to other machines.
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
    // Programs that connect through a serial line.
    "cu",
    "minicom",
    "picocom",
    "tio",
    // Programs that connect to containers and virtual machines.
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
    // Programs that run other programs in an inner terminal.
    "script",
    // Terminal multiplexers. The programs in their panes may be any of those above.
    "tmux",
    "tmate",
    "screen",
    "zellij",
    "dtach",
];

/// The beginning of the names of virtual machines that use a terminal as their console.
const MACHINES: &str = "qemu-system-";

/// Whether a program shows output that was written elsewhere, usually by a shell there. The argument is the program's
/// name or the path of its executable.
pub fn is_carrier(name: &str) -> bool {
    let name = bare(name);
    CARRIERS.contains(&name) || name.starts_with(MACHINES)
}

/// Whether a program is tmux. The argument is the program's name or the path of its executable.
pub fn is_tmux(name: &str) -> bool {
    bare(name) == "tmux"
}

/// The name of a program, without its folder and without a status after a colon.
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
