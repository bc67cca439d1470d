//! `ptywright completions`: completion scripts for a link named `ptywright`.
//!
//! They are the scripts of `unterm-cli` under the link's name.

use anyhow::Result;
use clap::Command;

use crate::cli::generated::{self, Shell};

/// The script for a shell. `root` has all commands of the program.
///
/// # Errors
/// The script is not text.
pub fn script(shell: Shell, root: Command) -> Result<String> {
    // Nushell's script lists the commands: for a link, those below `ptywright`.
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
