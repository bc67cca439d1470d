//! Exports the text and history of a pane to a file, on its own thread, and copies the file's path.

use std::{
    io::{BufWriter, Write},
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use unterm_mux::private;
use unterm_term::{LineId, Lines};

use crate::local_time;
use crate::window::{cx::Cx, errand::ErrandResult};

/// The folder for exports in Unterm's home directory.
const FOLDER: &str = "exports";

/// Writes the focused pane's text to a file and copies the file's path.
pub(crate) fn export_session(cx: &mut Cx<'_>) {
    let Some(pane) = cx.focused_pane() else { return };
    let lines = pane.term().lines();
    let folder = cx.prefs.settings.home().join(FOLDER);
    let name = format!("session_{}_{}.txt", pane.id().0, local_time::stamp());
    cx.errand("export", move || match write(&folder, &name, lines) {
        Ok(path) => ErrandResult::Copied("export", "Session exported. The path is copied.", path),
        Err(error) => {
            ErrandResult::Failed("export", format!("Can't export the session.\n{error:#}"))
        }
    });
}

/// Writes lines to a new file. If writing fails, removes the file.
fn write(folder: &Path, name: &str, lines: Lines) -> Result<PathBuf> {
    private::create_folder(folder).with_context(|| folder.display().to_string())?;
    let path = folder.join(name);
    let file = private::create_file(&path).with_context(|| path.display().to_string())?;
    if let Err(error) = print(&mut BufWriter::new(file), lines) {
        let _ = std::fs::remove_file(&path);
        return Err(error).with_context(|| path.display().to_string());
    }
    Ok(path)
}

/// Writes lines in a readable form: joins wrapped rows, and omits blank lines at the end.
fn print(out: &mut impl Write, mut lines: Lines) -> std::io::Result<()> {
    let (mut text, mut blank) = (String::new(), 0);
    for line in lines.oldest().0..lines.end().0 {
        text.clear();
        lines.row_text(LineId(line), &mut text);
        let goes_on = lines.is_wrapped(LineId(line));
        if text.is_empty() && !goes_on {
            blank += 1;
            continue;
        }
        for _ in 0..std::mem::take(&mut blank) {
            out.write_all(b"\n")?;
        }
        out.write_all(text.as_bytes())?;
        if !goes_on {
            out.write_all(b"\n")?;
        }
    }
    out.flush()
}

#[cfg(test)]
mod tests {
    use unterm_term::{Options, Parser, Size, Term};

    use super::*;

    #[test]
    fn an_export_joins_wrapped_rows_and_includes_the_history() {
        let mut term = Term::new(Size::cells(10, 3), Options::default());
        let mut parser = Parser::new();
        for line in 0..20 {
            parser.advance(&mut term, format!("line {line}\r\n").as_bytes());
        }
        parser.advance(&mut term, b"\r\na line that is wrapped\r\n\r\n");
        let folder = tempfile::tempdir().unwrap();
        let path = write(&folder.path().join("x"), "a.txt", term.lines()).unwrap();
        let text = std::fs::read_to_string(path).unwrap();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!((lines[0], lines[19], lines[20]), ("line 0", "line 19", ""));
        assert_eq!(&lines[21..], ["a line that is wrapped"]);
        assert!(
            write(&folder.path().join("x"), "a.txt", term.lines()).is_err(),
            "nothing is overwritten"
        );
    }
}
