//! `ptywright completions`: prints completion scripts for a link named `ptywright`.
//!
//! The scripts are those of `unterm-cli`, with the name of the link.

use anyhow::Result;
use clap::Command;

use crate::cli::generated::{self, Shell};

/// The completion script for a shell. `root` must contain all commands of the program.
///
/// # Errors
/// Fails if the generated script is not valid text.
pub fn script(shell: Shell, root: Command) -> Result<String> {
    // The Nushell script lists commands. For the link, it lists only those below `ptywright`.
    let own = root.find_subcommand("ptywright").cloned().unwrap_or(root);
    let script = generated::completions(shell, own)?;
    Ok(script.replace("unterm-cli", "ptywright").replace("unterm_cli", "ptywright"))
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory as _, ValueEnum as _};

    use super::*;
    use crate::cli::args::Args;

    #[test]
    fn each_script_is_for_the_link_alone() {
        for shell in Shell::value_variants() {
            let script = script(*shell, Args::command()).unwrap();
            assert!(script.contains("ptywright"), "{shell:?}");
            assert!(!script.contains("unterm"), "{shell:?}: {script}");
        }
    }
}
