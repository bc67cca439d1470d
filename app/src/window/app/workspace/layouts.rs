//! Saves and opens named layouts.

use unterm_control::workspace::LAST;

use crate::{
    layout_file::LayoutFile,
    window::{
        app::App,
        effect::Effect,
        overlays::{choice::Choice, panel::item::Item},
        ui::wrap::first_of,
    },
};

/// The topic of messages about layouts.
const ABOUT: &str = "layout";
/// The maximum number of errors that a message lists.
const FAULTS: usize = 3;

impl App {
    /// Opens the tabs of a layout in this window. Without a name, lists the saved layouts. Returns false if there are
    /// none to list.
    pub(crate) fn open_layout(&mut self, name: Option<&str>) -> bool {
        let home = self.prefs.settings.home().to_owned();
        let Some(name) = name else {
            let names = LayoutFile::names(&home);
            let items: Vec<_> =
                names.iter().map(|name| Item::new(name, Choice::Layout(name.clone()))).collect();
            if items.is_empty() {
                return false;
            }
            self.with_parts(|parts, cx| parts.overlays.pick("Open a layout", items, 0, cx));
            return true;
        };
        if name == LAST {
            if !self.reopen_last() {
                self.refuse(ABOUT, "The last window left no tabs that could be opened.".to_owned());
            }
            return true;
        }
        let layout = match LayoutFile::read(&home, name) {
            Ok(layout) => layout,
            Err(error) => {
                self.complain(ABOUT, format!("Can't open the layout.\n{error:#}"));
                return true;
            }
        };
        let faults = layout.open(&self.mux);
        if !faults.is_empty() {
            let shown = first_of(&faults, FAULTS).join("\n");
            self.complain(ABOUT, format!("The layout can't be opened exactly as saved.\n{shown}"));
        }
        true
    }

    /// Saves the open tabs as a named layout.
    pub(crate) fn save_layout(&mut self, name: &str) {
        let layout = Box::new(LayoutFile::of(&self.mux, true));
        self.effect(Effect::SaveLayout(name.to_owned(), layout));
    }

    /// Writes the file of a named layout.
    pub(crate) fn write_layout(&mut self, name: &str, layout: &LayoutFile) {
        match layout.write(self.prefs.settings.home(), name) {
            Ok(file) => self.notify("layout", format!("Layout saved.\n{}", file.display())),
            Err(error) => {
                self.complain("layout", format!("Can't save the layout.\n{error:#}"));
            }
        }
    }
}
