//! The folder that file transfers over the terminal (OSC 5113) can't leave: the user's folder for downloads.

use std::path::{Path, PathBuf};

use unterm_mux::private;

/// The maximum length of `user-dirs.dirs`, in bytes.
const LONGEST_CONFIG: u64 = 64 << 10;

/// The folder for downloads of the user with this home folder, as `user-dirs.dirs` of freedesktop.org's xdg-user-dirs
/// names it, or else `Downloads`. `config`: the text of that file.
fn downloads(home: &Path, config: &str) -> PathBuf {
    let lines = config.lines().map(str::trim);
    let value = lines.filter_map(|line| line.strip_prefix("XDG_DOWNLOAD_DIR=")).next_back();
    let value = value.and_then(|value| value.strip_prefix('"')?.strip_suffix('"'));
    let folder = value.and_then(|value| match value.strip_prefix("$HOME/") {
        Some(rest) => Some(home.join(rest)),
        None => Some(PathBuf::from(value)).filter(|path| path.is_absolute()),
    });
    // For a user without such a folder, the file contains the home folder, to which programs must not write.
    folder
        .filter(|folder| folder.components().ne(home.components()))
        .unwrap_or_else(|| home.join("Downloads"))
}

/// The user's folder for downloads; `None` for a user without a home folder.
pub(crate) fn transfer_folder() -> Option<PathBuf> {
    let home = std::env::home_dir().filter(|home| home.is_absolute())?;
    let config = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from);
    let config = config.filter(|path| path.is_absolute()).unwrap_or_else(|| home.join(".config"));
    let config = private::read_text_of_anyone(&config.join("user-dirs.dirs"), LONGEST_CONFIG);
    let config = config.unwrap_or_default();
    Some(downloads(&home, &config))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn downloads_are_where_the_user_has_them_but_never_at_home() {
        let of = |config: &str| downloads(Path::new("/home/u"), config);
        assert_eq!(of(""), Path::new("/home/u/Downloads"));
        assert_eq!(of("XDG_DOWNLOAD_DIR=\"$HOME/Geladen\"\n"), Path::new("/home/u/Geladen"));
        let both = "XDG_DOWNLOAD_DIR=\"$HOME/a\"\n  XDG_DOWNLOAD_DIR=\"/data/b\"\nXDG_MUSIC_DIR=\"$HOME/m\"";
        assert_eq!(of(both), Path::new("/data/b"));
        for unusable in ["\"$HOME/\"", "\"/home/u\"", "\"relative\"", "unquoted", "\"\""] {
            let config = format!("XDG_DOWNLOAD_DIR={unusable}");
            assert_eq!(of(&config), Path::new("/home/u/Downloads"), "{unusable}");
        }
    }
}
