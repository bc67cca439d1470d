//! The layout that a new window starts with.

use anyhow::Result;
use unterm_control::workspace::LAST;
use unterm_mux::Mux;

use crate::window::ui::wrap::first_of;
use crate::{args::Args, config::Settings, last_session::LastSession, layout_file::LayoutFile};

/// The maximum number of errors of a layout that a message lists.
const FAULTS: usize = 3;

/// Opens the layout that a new window starts with. Returns the errors as a message.
pub(crate) fn open_layout(
    mux: &Mux,
    args: &Args,
    settings: &Settings,
    last: Option<&LastSession>,
) -> Option<String> {
    let faults = match first_layout(args, settings, last)? {
        Ok(layout) => layout.open(mux),
        Err(error) => return Some(format!("Can't open the layout.\n{error:#}")),
    };
    let shown = first_of(&faults, FAULTS).join("\n");
    (!faults.is_empty()).then(|| format!("The layout can't be opened exactly as saved.\n{shown}"))
}

/// The layout that a new window starts with. `None` if it starts with a single tab.
pub(crate) fn first_layout(
    args: &Args,
    settings: &Settings,
    last: Option<&LastSession>,
) -> Option<Result<LayoutFile>> {
    let config = settings.get();
    if let Some(name) = &args.layout {
        return named_layout(name, settings, last);
    }
    // A command or a directory on the command line replaces the layout.
    if !args.execute.is_empty() || args.cwd.is_some() {
        return None;
    }
    named_layout(&config.startup.layout, settings, last)
}

/// The layout of this name. `None` if the name is empty, or if the last layout is requested but there was no last
/// window.
fn named_layout(
    name: &str,
    settings: &Settings,
    last: Option<&LastSession>,
) -> Option<Result<LayoutFile>> {
    match name {
        "" => None,
        LAST => last.map(|last| Ok(last.layout.clone())),
        name => Some(LayoutFile::read(settings.home(), name)),
    }
}
