//! Opens links and files.

use crate::links;
use crate::window::{
    cx::Cx, errand::ErrandResult, hovered_link::HoveredLink, overlays::hover::shown_lines,
    system::editing::edit_file,
};

/// Opens a link. If the link names a file, opens the file in the editor.
pub(crate) fn open_link(link: &HoveredLink, cx: &mut Cx<'_>) {
    match link.is_file {
        true => edit_file(link.pane, &link.uri, cx),
        false => open_target(&link.uri, cx),
    }
}

/// Opens a link with the desktop's default program, or shows why the link may not be opened.
pub(crate) fn open_target(uri: &str, cx: &mut Cx<'_>) {
    let (uri, schemes) = (uri.to_owned(), cx.prefs.config.links.schemes.clone());
    cx.errand("link", move || match links::open(&uri, &schemes) {
        Ok(()) => ErrandResult::Nothing,
        Err(why) => ErrandResult::Failed("link", shown_lines(&why)),
    });
}
