//! Shells whose process changes its directory with `cd`.

const SHELLS: [&str; 8] = ["ash", "bash", "dash", "fish", "ksh", "mksh", "sh", "zsh"];

/// Whether a process of this name, or path, is such a shell. PowerShell and Nushell are not: their process stays in its
/// first directory.
pub(super) fn is_shell(name: &str) -> bool {
    name.rsplit('/').next().is_some_and(|name| SHELLS.contains(&name))
}
