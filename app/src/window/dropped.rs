//! Files dropped onto the window: their paths are pasted into the pane under the pointer.
//!
//! Owns which pane that is, and how paths are written. winit tells what was dropped and not where, and hears of no motion
//! while another program drags: on X11 the server is asked for the pointer. On Wayland winit takes no drops at all.

use std::{path::PathBuf, sync::Arc};

use unterm_mux::quote;

use super::{App, errand::Done, x_server};

impl App {
    /// What was dropped since the last look is one drop: finds out where.
    pub(super) fn take_drop(&mut self) {
        if self.dropped.is_empty() {
            return;
        }
        let paths = std::mem::take(&mut self.dropped);
        let window = self.screen.as_ref().map(|screen| Arc::clone(&screen.window));
        match window.and_then(|window| x_server::id(&window)) {
            Some(id) => self.errand("drop", move || Done::Dropped(paths, x_server::pointer(id))),
            None => self.paste_dropped(&paths, self.pointer.position),
        }
    }

    /// Pastes paths, quoted where a shell needs that and with a blank behind each, into the pane at a point of the window,
    /// which gets the keyboard; where there is none, into the focused one.
    pub(super) fn paste_dropped(&mut self, paths: &[PathBuf], at: Option<(f64, f64)>) {
        let Some(focused) = self.focused_pane().map(|pane| pane.id()) else { return };
        let under = at.and_then(|(x, y)| self.pane_at(x, y));
        let pane = under.map_or(focused, |(pane, _)| pane);
        if pane != focused {
            self.report(self.mux.focus(pane));
        }
        // The shell in front reads the words, also one that was started in another.
        let shell = self.mux.pane(pane).and_then(|pane| pane.foreground());
        let shell = shell.map_or_else(String::new, |program| program.name);
        let shell = shell.rsplit('/').next().unwrap_or_default().trim_start_matches('-');
        let words = paths.iter().map(|path| quote(shell, &path.to_string_lossy()) + " ");
        self.paste_text(pane, &words.collect::<String>());
    }
}

/// A path as one word of a shell: quoted by the rules of that shell if it holds more than letters, digits and the like.
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
