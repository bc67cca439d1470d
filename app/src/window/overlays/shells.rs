//! The installed shells, as items of the panel.

use std::path::Path;

use crate::window::overlays::{choice::Choice, panel::item::Item};

/// Shells to offer in addition to those in `/etc/shells`, if they are on `PATH`.
const SHELLS: &[&str] = &["bash", "zsh", "fish", "nu", "pwsh", "elvish", "xonsh"];

pub(crate) fn items() -> Vec<Item<Choice>> {
    shells()
        .into_iter()
        .map(|path| {
            let name = Path::new(&path).file_name().unwrap_or_default();
            Item::new(name.to_string_lossy(), Choice::Shell(path.clone())).noted(path)
        })
        .collect()
}

/// The paths of the installed shells. The shell in `$SHELL` is first.
fn shells() -> Vec<String> {
    let own = std::env::var("SHELL").ok();
    let listed = std::fs::read_to_string("/etc/shells").unwrap_or_default();
    let listed = listed.lines().map(str::trim).filter(|line| line.starts_with('/'));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let installed: Vec<String> = SHELLS
        .iter()
        .filter_map(|name| {
            let mut folders = std::env::split_paths(&path);
            folders.find_map(|folder| {
                let file = folder.join(name);
                file.is_file().then(|| file.to_string_lossy().into_owned())
            })
        })
        .collect();
    let mut seen = std::collections::HashSet::new();
    own.into_iter()
        .chain(listed.map(str::to_owned))
        .chain(installed)
        .filter(|path| Path::new(path).is_file())
        // Skips a shell that was already found in another folder, for example if `/bin` is a link to `/usr/bin`.
        .filter(|path| {
            let name = Path::new(path).file_name().map(ToOwned::to_owned);
            seen.insert(name)
        })
        .collect()
}
