//! Files dropped on the window, and how their paths are quoted for a shell.
//!
//! On X11, the window receives drops itself (`xdnd.rs`). If an X11 program ignores the window's proxy, winit reports
//! its drops without a position, and Unterm queries the pointer's position. On macOS, winit reports all drops, also
//! without a position. On Wayland, winit does not support drops.

use unterm_mux::quote;

pub(crate) mod receive;
#[cfg(all(unix, not(target_os = "macos")))]
pub(crate) mod xdnd;

/// A drop on the window.
#[derive(Debug)]
pub(crate) struct Dropped {
    /// The paths of dropped files on this machine, and the URIs of everything else.
    pub(crate) names: Vec<String>,
    /// The position of the drop in pixels of the window; `None` if unknown.
    pub(crate) at: Option<(f64, f64)>,
}

impl Dropped {
    /// The names as words of a shell, each followed by a blank.
    pub(crate) fn words(&self, shell: &str) -> String {
        self.names.iter().map(|name| quote(shell, name) + " ").collect()
    }
}

/// Parses a list of URIs ([RFC 2483], section 5). Returns `file:` URIs of this machine as paths, even if the files do
/// not exist.
///
/// [RFC 2483]: https://www.rfc-editor.org/rfc/rfc2483#section-5
pub(crate) fn from_uri_list(list: &[u8]) -> Vec<String> {
    let lines = list.split(|byte| matches!(byte, b'\r' | b'\n' | 0));
    let uris = lines.filter(|line| !line.is_empty() && line[0] != b'#');
    uris.map(|uri| {
        let uri = String::from_utf8_lossy(uri).into_owned();
        // Old programs write `file:/path` instead of `file:///path`.
        let whole = match uri.strip_prefix("file:/") {
            Some(path) if !path.starts_with('/') => format!("file:///{path}"),
            _ => uri.clone(),
        };
        unterm_mux::local_path(&whole).map_or(uri, |path| path.to_string_lossy().into_owned())
    })
    .collect()
}

/// Turns a path into one word of a shell. If the path contains other characters than letters, digits and characters
/// such as `/` and `.`, it is quoted by the rules of that shell.
fn quote(shell: &str, path: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+:@%=".contains(c);
    match !path.is_empty() && path.chars().all(is_plain) {
        true => path.to_owned(),
        false => quote::for_shell(shell, path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_uris_names_local_files_by_their_paths() {
        let list =
            b"# a comment\r\nfile:///tmp/a%20b\r\nfile:/tmp/missing\nfile://far.example/x\r\n\
            https://example.com/a%20b\r\nfile:///tmp/%0d%0aend\r\n\0";
        let names = from_uri_list(list);
        let far = "file://far.example/x";
        let web = "https://example.com/a%20b";
        assert_eq!(names, ["/tmp/a b", "/tmp/missing", far, web, "/tmp/\r\nend"]);
    }

    #[test]
    fn a_path_is_one_word() {
        let check = |shell: &str, path: &str, word: &str| assert_eq!(quote(shell, path), word);
        for shell in ["bash", "zsh", "fish", "pwsh", "nu", "vim", ""] {
            check(shell, "/home/me/a-b_c.txt", "/home/me/a-b_c.txt");
            check(shell, "/tmp/my file (1)", "'/tmp/my file (1)'");
            check(shell, "/tmp/bücher", "/tmp/bücher");
            check(shell, "~", "'~'");
        }
        check("bash", "/tmp/it's $HOME", r"'/tmp/it'\''s $HOME'");
        check("fish", r"/tmp/it's \x", r"'/tmp/it\'s \\x'");
        check("pwsh", "/tmp/it's ’x’; id", "'/tmp/it''s ’’x’’; id'");
        check("nu", r"/tmp/\x $y", r"'/tmp/\x $y'");
        check("nu", r#"/tmp/it's "\x""#, r#""/tmp/it's \"\\x\"""#);
    }
}
