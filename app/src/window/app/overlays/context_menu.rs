//! The rows of the menu that a right click in a pane opens. `menu.rs` implements menus in general.

use unterm_renderer::PixelRect;

use crate::action::Action;
use crate::window::{
    app::App,
    input::pointer::Target,
    overlays::menu::{Choice, Item, Row},
    workspace::blocks::{about::possible, action::BlockAction},
};

impl App {
    /// Opens the menu at the pointer. Its items act on the selection and the pane; and on the link and the command at
    /// the pointer, if there are any.
    pub(crate) fn open_context_menu(&mut self, target: &Target) {
        let Some((x, y)) = self.input.pointer.position else { return };
        // The press may arrive before a frame has shown new output, so the view may be outdated.
        let Some(pane) = self.mux.pane(target.id) else { return };
        self.fresh_view(&pane);
        let link = self.link_under(target.id, target.x, target.y, true);
        let has_selection = self.workspace.has_selection(target.id);
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
            self.menu_item(Action::Copy).enabled(has_selection).into(),
            self.menu_item(Action::Paste).into(),
            self.menu_item(Action::SelectAll).into(),
            self.menu_item(Action::Search).titled("Find…").into(),
        ]);
        if let Some((command, possible)) = self.command_under(target) {
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
            self.menu_item(Action::SplitRight).into(),
            self.menu_item(Action::SplitDown).into(),
            self.menu_item(Action::ClosePane).into(),
        ]);
        let anchor = PixelRect { x: x as i32, y: y as i32, width: 0, height: 0 };
        self.open_menu(anchor, rows, None);
    }

    /// The id of the command whose prompt or output is at a point, and the actions that are possible on it. Only
    /// commands that are running or finished.
    fn command_under(&self, target: &Target) -> Option<(u64, Vec<BlockAction>)> {
        let view = self.workspace.views.get(&target.id)?;
        let line = view.spot(target.x, target.y, self.surface.cell())?.cell.line;
        let pane = self.mux.pane(target.id)?;
        let term = pane.term();
        let command = term.command_at(line).filter(|_| !view.is_alternate())?;
        (command.output_seq != 0).then(|| (command.id, possible(&term, command)))
    }
}
