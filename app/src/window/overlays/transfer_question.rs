//! The question whether a program may transfer files over the terminal (OSC 5113).

use std::path::Path;

use unicode_width::UnicodeWidthChar;
use unterm_control::{escaped, shortened};
use unterm_mux::{Pane, TransferDirection, TransferRequest};

use crate::window::overlays::{
    answer::Answer,
    confirm::{Confirm, Preview},
};

/// The maximum number of characters of a path and of the pane's title that a question shows.
const PATH_SHOWN: usize = 100;
const TITLE_SHOWN: usize = 80;
/// The columns of a line with a path. The question's width has room for them.
const LINE_SHOWN: usize = 50;

/// A text in one line, with invisible characters escaped, so that it can't imitate other text.
fn visible(text: &str) -> String {
    escaped(text).replace('\n', "\\n").replace('\t', "\\t")
}

/// The lines that show a path beneath the folder. The empty path is the whole folder.
fn lines_of(path: &str, folder: &Path) -> Vec<String> {
    let text = match path.is_empty() {
        true => format!("everything in {}", folder.display()),
        false => path.to_owned(),
    };
    let mut lines = vec![String::new()];
    let mut columns = 0;
    for char in shortened(&visible(&text), PATH_SHOWN).chars() {
        let width = char.width().unwrap_or_default();
        if columns + width > LINE_SHOWN {
            lines.push("    ".to_owned());
            columns = 4;
        }
        columns += width;
        if let Some(line) = lines.last_mut() {
            line.push(char);
        }
    }
    lines
}

/// The question whether a program may transfer files. The button that denies it is marked, and no letter allows it,
/// because the question can appear while the user types.
pub(crate) fn question(
    pane: &Pane,
    request: &TransferRequest,
    paths: &[String],
    folder: &Path,
) -> Confirm {
    let title = shortened(&visible(&pane.title()), TITLE_SHOWN);
    let shown = folder.display();
    let (question, about) = match request.direction {
        TransferDirection::ToHere => (
            "Let a program put files on this machine?",
            format!(
                "The program in the pane “{title}” may then write new files to {shown}. It can't replace files, \
                 and can't write anywhere else."
            ),
        ),
        TransferDirection::FromHere => (
            "Let a program read files of this machine?",
            format!(
                "The program in the pane “{title}” may then read these paths in {shown}, with all that they \
                 contain. If it runs on another machine, the files go there."
            ),
        ),
    };
    // A session asks for at most `TransferRequest::PATHS_CAP` paths. The user allows only the paths that the window
    // shows.
    let lines = paths.iter().flat_map(|path| lines_of(path, folder));
    let lines = lines.map(|text| Preview { text, ..Preview::default() }).collect();
    let pane = pane.id();
    let answer = |folder| Answer::Transfer { pane, handle: request.handle, folder };
    Confirm::new(question, about)
        .grants(lines)
        .button_without_key("Allow", answer(Some(folder.to_owned())))
        .marked_last("Deny", answer(None))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_shown_as_what_it_is() {
        let lines = |path: &str| lines_of(path, Path::new("/home/u/Downloads"));
        assert_eq!(lines(""), ["everything in /home/u/Downloads"]);
        assert_eq!(lines("a/b.txt"), ["a/b.txt"]);
        assert_eq!(lines("a\u{202e}b\u{200b}\n\t\u{1b}"), ["a\\u{202e}b\\u{200b}\\n\\t\\u{1b}"]);
        let (long, wide) = ("x".repeat(60), "\u{6f22}".repeat(26));
        assert_eq!(lines(&long), ["x".repeat(50), format!("    {}", "x".repeat(10))]);
        assert_eq!(lines(&wide), ["\u{6f22}".repeat(25), "    \u{6f22}".to_owned()]);
        assert_eq!(lines(&"x".repeat(4000)).len(), 3);
    }
}
