//! The rows of the menus that open from the tab bar: the main menu, and the menu of a tab.

use unterm_mux::TabId;
use unterm_renderer::PixelRect;

use crate::action::Action;
use crate::window::{
    chrome::{tabs::Tabs, tabs_layout::TabsLayout},
    cx::Cx,
    overlays::menu::{Item, Row},
    system::recording::is_recording,
    workspace::panes::Broadcast,
};

/// The rectangle below which a menu opens, and the rows of the menu.
type Opening = (PixelRect, Vec<Row>);

/// The main menu, below its button. If there is no tab bar, the menu opens in the window's top right corner.
/// `can_reopen` is set if the last window left tabs.
pub(crate) fn main(tabs: &Tabs, can_reopen: bool, cx: &Cx<'_>) -> Option<Opening> {
    let geometry = cx.geometry?;
    let corner = PixelRect { x: geometry.width as i32, ..PixelRect::default() };
    let button = tabs.drawn_layout(cx).and_then(|layout| layout.menu_button());
    let focused = cx.focused_pane();
    let has_selection = focused
        .as_ref()
        .is_some_and(|pane| cx.views.get(&pane.id()).is_some_and(|view| view.has_selection()));
    let recording = if is_recording(cx) { "Stop recording" } else { "Start recording" };
    let item = |action| Item::new(action, &cx.prefs.keymap);
    let rows: Vec<Row> = vec![
        item(Action::NewTab(None)).into(),
        item(Action::NewWindow).into(),
        item(Action::SplitRight).into(),
        item(Action::SplitDown).into(),
        item(Action::UndoClose).enabled(cx.mux.has_closed()).into(),
        item(Action::ReopenLastWindow).enabled(can_reopen).into(),
        item(Action::OpenLayout(None)).titled("Open layout…").into(),
        Row::Line,
        item(Action::Copy).enabled(has_selection).into(),
        item(Action::Paste).into(),
        item(Action::Search).titled("Find…").into(),
        Row::Line,
        item(Action::ChangeDirectory).titled("Change working directory…").into(),
        item(Action::OpenFolder).titled("Open folder in new tab…").into(),
        item(Action::ToggleRecording).titled(recording).into(),
        item(Action::ExportSession).into(),
        Row::Line,
        item(Action::Inbox).enabled(cx.server.is_some()).into(),
        item(Action::CommandPalette).into(),
        item(Action::Settings).into(),
        item(Action::OpenConfig).into(),
        item(Action::About).into(),
        Row::Line,
        item(Action::CloseWindow).titled("Quit").into(),
    ];
    Some((button.unwrap_or(corner), rows))
}

/// The menu of a tab, at a point of the tab bar or below the tab.
pub(crate) fn of_tab(
    tabs: &Tabs,
    tab: TabId,
    at: Option<(f64, f64)>,
    broadcast: Broadcast,
    cx: &Cx<'_>,
) -> Option<Opening> {
    let layout = cx.mux.layout();
    let index = layout.tabs.iter().position(|one| one.id == tab)?;
    let drawn = tabs.drawn_layout(cx)?;
    let place = drawn.place_of(tab);
    // The menu opens below the bar, or below the row of the sidebar.
    let below = match drawn {
        TabsLayout::Bar(bar) => bar.rect(),
        TabsLayout::Side(side) => place.unwrap_or(side.list),
    };
    let x = at.map(|(x, _)| x as i32).or(place.map(|place| place.x));
    let anchor = PixelRect { x: x.unwrap_or_default(), width: 0, ..below };
    let last = layout.tabs.len() - 1;
    let item = |action| Item::new(action, &cx.prefs.keymap);
    let rows: Vec<Row> = vec![
        item(Action::NewTab(None)).into(),
        item(Action::DuplicateTab).into(),
        Row::Line,
        item(Action::SplitRight).into(),
        item(Action::SplitDown).into(),
        item(Action::BroadcastTab)
            .titled("Broadcast input in this tab")
            .enabled(layout.tabs[index].panes().len() > 1)
            .checked(broadcast.covers(tab))
            .into(),
        Row::Line,
        item(Action::MoveTabLeft).enabled(index > 0).into(),
        item(Action::MoveTabRight).enabled(index < last).into(),
        item(Action::RenameTab).titled("Rename tab…").into(),
        item(Action::TabToNewWindow).enabled(last > 0).into(),
        item(Action::TabToWindow(None)).titled("Move tab to another window…").into(),
        Row::Line,
        item(Action::CloseTab).into(),
        item(Action::CloseOtherTabs).enabled(last > 0).into(),
        item(Action::UndoClose).enabled(cx.mux.has_closed()).into(),
    ];
    Some((anchor, rows))
}
