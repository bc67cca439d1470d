//! The rows of the menu that a right click in a pane opens.

use crate::action::Action;
use crate::window::{
    cx::Cx,
    hovered_link::HoveredLink,
    input::pointer::Target,
    overlays::menu::{Choice, Item, Row},
    workspace::blocks::{about::possible, action::BlockAction},
};

/// The rows of the menu at a point of a pane. Its items act on the selection and the pane; and on `link` and the command
/// at the point, if there are any.
pub(crate) fn rows(target: &Target, link: Option<HoveredLink>, cx: &Cx<'_>) -> Vec<Row> {
    let item = |action| Item::new(action, &cx.prefs.keymap);
    let has_selection = cx.views.get(&target.id).is_some_and(|view| view.has_selection());
    let mut rows: Vec<Row> = Vec::new();
    if let Some(link) = link {
        let (open, copy) = match link.is_file {
            true => ("Open file", "Copy file name"),
            false => ("Open link", "Copy link"),
        };
        let uri = link.uri.clone();
        rows.push(Item::of(open, Choice::Open(link)).into());
        rows.push(Item::of(copy, Choice::Copy(uri)).into());
        rows.push(Row::Line);
    }
    rows.extend([
        item(Action::Copy).enabled(has_selection).into(),
        item(Action::Paste).into(),
        item(Action::SelectAll).into(),
        item(Action::Search).titled("Find…").into(),
    ]);
    if let Some((command, possible)) = command_under(target, cx) {
        let parts = [
            (BlockAction::CopyCommand, "Copy command"),
            (BlockAction::CopyOutput, "Copy output"),
            (BlockAction::Rerun, "Run command again"),
            (BlockAction::Fold, "Fold or unfold output"),
        ];
        rows.push(Row::Line);
        let parts = parts.into_iter().filter(|(action, _)| possible.contains(action));
        rows.extend(parts.map(|(action, title)| {
            Item::of(title, Choice::Command(target.id, command, action)).into()
        }));
    }
    rows.extend([
        Row::Line,
        item(Action::SplitRight).into(),
        item(Action::SplitDown).into(),
        item(Action::ClosePane).into(),
    ]);
    rows
}

/// The id of the command whose prompt or output is at a point, and the actions that are possible on it. Only commands
/// that are running or finished.
fn command_under(target: &Target, cx: &Cx<'_>) -> Option<(u64, Vec<BlockAction>)> {
    let view = cx.views.get(&target.id)?;
    let line = view.spot(target.x, target.y, cx.cell())?.cell.line;
    let pane = cx.mux.pane(target.id)?;
    let term = pane.term();
    let command = term.command_at(line).filter(|_| !view.is_alternate())?;
    (command.output_seq != 0).then(|| (command.id, possible(&term, command)))
}
