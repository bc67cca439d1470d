//! Shells whose process changes its working directory with `cd`.

const SHELLS: [&str; 8] = ["ash", "bash", "dash", "fish", "ksh", "mksh", "sh", "zsh"];

/// Whether the name or path of a process names a shell whose process changes its working directory. Not PowerShell and
/// Nushell: their process stays in its first directory.
pub(super) fn is_shell(name: &str) -> bool {
    name.rsplit('/').next().is_some_and(|name| SHELLS.contains(&name))
}
