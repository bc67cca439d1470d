//! Exports a pane's commands or text as a page, without a recording.

use std::path::{Path, PathBuf};

use unterm_mux::{Pane, private};

use super::{
    files,
    markdown::{self, Block},
    project::describe,
    record::MessageResult,
    settings::Settings,
};
use crate::services::shell::kind::{Runs, as_given};

/// Writes a page with a pane's commands or, if there are none, its text. Returns the page's id, path, length and number
/// of blocks.
pub fn export(
    home: &Path,
    pane: &Pane,
    path: Option<PathBuf>,
) -> MessageResult<(String, PathBuf, usize, usize)> {
    let settings = Settings::read(home)?;
    let mut record = describe(pane)?;
    record.ended_at = Some(record.started_at.clone());
    record.exit_reason = Some("export".to_owned());
    let content = contents(pane);
    record.bytes_raw = match &content {
        Ok(blocks) => blocks.iter().map(|block| block.output.len() as u64).sum(),
        Err(text) => text.len() as u64,
    };
    let page = markdown::page(&record, &content, &mut settings.redaction()?);
    let path = match path {
        Some(path) => {
            let written = private::write(&path, page.as_bytes());
            written.map_err(|error| format!("{}: {error}", path.display()))?;
            path
        }
        None => files::write_export(home, &record, page.as_bytes())
            .map_err(|error| error.to_string())?,
    };
    let blocks = content.map_or(0, |blocks| blocks.len());
    Ok((record.unterm_session_id, path, page.len(), blocks))
}

/// The commands that a pane keeps, with their output. If there are none, the `Err` value is the pane's text.
fn contents(pane: &Pane) -> Result<Vec<Block>, String> {
    let ids: Vec<u64> = {
        let term = pane.term();
        let ran = term.commands().filter(|command| command.output_seq != 0);
        ran.map(|command| command.id).collect()
    };
    let block = |id: u64| {
        // The terminal is locked for each command separately, so that the program can write output in between.
        let (command, output, is_cut, exit_code) = {
            let term = pane.term();
            let command = term.command(id)?;
            let output = term.output_range(id).map(|range| term.text(range)).unwrap_or_default();
            let line = command.shown().unwrap_or_default().trim().to_owned();
            (line, output, term.is_cut(command), command.exit_code)
        };
        Some(Block {
            command: as_given(&command, &[], Runs::Shown).into_owned(),
            output: as_given(&output, &[], Runs::Shown).into_owned(),
            is_cut,
            exit_code,
            start: None,
            end: None,
        })
    };
    if !ids.is_empty() {
        return Ok(ids.into_iter().filter_map(block).collect());
    }
    let mut lines = pane.term().lines();
    let mut text = String::new();
    for line in lines.oldest().0..lines.end().0 {
        let line = unterm_term::LineId(line);
        lines.row_text(line, &mut text);
        if !lines.is_wrapped(line) {
            text.push('\n');
        }
    }
    Err(as_given(text.trim_end(), &[], Runs::Shown).into_owned())
}
