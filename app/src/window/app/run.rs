//! The functions of the actions. The table in `crate::action` describes each action.

use unterm_mux::{Axis, Direction, Layout, Pane, Tab, TabId};

use crate::action::Action;
use crate::window::{
    app::App,
    chrome::tabs::switch_tab,
    input::buffer::Buffer,
    overlays::{
        about, agent_answers::toggle_agents, copy_mode, inbox_panel::requests::next_attention, tour,
    },
    surface::moving,
    system::{
        editing::open_config,
        emoji_font,
        export::export_session,
        folder::{
            Purpose,
            choose::{choose, use_folder},
        },
        pager::{show_history, show_output},
        recording::toggle_recording,
        screenshot::Shot,
    },
    workspace::{
        blocks::{action::BlockAction, actions},
        closing::Closing,
        copy::{Form, copy_as, copy_selection},
        panes::{self, Broadcast},
        selecting,
    },
};

/// The distance that one key press moves a divider, as a share of the split.
const RESIZE_STEP: f32 = 0.04;

/// The tab that an action applies to.
pub(crate) struct Target<'a> {
    pub(crate) layout: &'a Layout,
    pub(crate) index: usize,
    pub(crate) tab: &'a Tab,
}

impl Target<'_> {
    /// The tab of this number, counted from 1. If there is no such tab, the last tab.
    fn numbered(&self, number: i32) -> TabId {
        let index = usize::try_from(number - 1).unwrap_or_default();
        self.layout.tabs[index.min(self.layout.tabs.len() - 1)].id
    }
}

/// Runs an action. Returns false if the action had no effect. An action whose function returns nothing always has an
/// effect.
pub(crate) fn run(app: &mut App, at: &Target<'_>, action: Action) -> bool {
    match action {
        Action::NewTab(profile) => {
            app.bring_forward(at);
            app.open_tab(profile.as_deref())
        }
        Action::DuplicateTab => {
            app.bring_forward(at);
            app.duplicate_tab(at.tab)
        }
        Action::RenameTab => {
            app.with_parts(|parts, cx| parts.chrome.tabs.ask_title(at.tab.id, parts.overlays, cx))
        }
        Action::SetTabTitle(title) => app.report(app.mux.rename_tab(at.tab.id, &title)),
        Action::TabMenu => app.open_tab_menu(at.tab.id, None),
        Action::CloseTab => {
            return app.with_parts(|parts, cx| parts.overlays.close(Closing::Tab(at.tab.id), cx));
        }
        Action::CloseOtherTabs => {
            return app
                .with_parts(|parts, cx| parts.overlays.close(Closing::OtherTabs(at.tab.id), cx));
        }
        Action::NextTab => {
            app.with_parts(|_, cx| switch_tab(1, cx));
            return at.layout.tabs.len() > 1;
        }
        Action::PreviousTab => {
            app.with_parts(|_, cx| switch_tab(-1, cx));
            return at.layout.tabs.len() > 1;
        }
        Action::ActivateTab(number) => app.report(app.mux.activate_tab(at.numbered(number))),
        Action::MoveTabLeft => return app.move_tab(at, -1),
        Action::MoveTabRight => return app.move_tab(at, 1),
        Action::ToggleSidebar => app.toggle_sidebar(),
        Action::FocusSidebar => return app.focus_sidebar(),
        Action::FoldSidebar => return app.fold_sidebar(),
        Action::SplitDown => {
            app.bring_forward(at);
            app.split(at.tab.focused, Axis::Vertical)
        }
        Action::SplitRight => {
            app.bring_forward(at);
            app.split(at.tab.focused, Axis::Horizontal)
        }
        Action::ClosePane => {
            return app
                .with_parts(|parts, cx| parts.overlays.close(Closing::Pane(at.tab.focused), cx));
        }
        Action::UndoClose => return app.mux.undo_close(),
        Action::ReopenLastWindow => return app.reopen_last(),
        Action::CloseWindow => {
            return app.with_parts(|parts, cx| parts.overlays.close(Closing::Window, cx));
        }
        Action::Detach => return app.with_parts(|parts, cx| parts.overlays.detach(cx)),
        Action::Restart => return app.with_parts(|parts, cx| parts.overlays.restart(cx)),
        Action::ZoomPane => return app.with_parts(|_, cx| panes::zoom(at.tab, cx)),
        Action::SwapPaneLeft => return app.mux.swap_direction(Direction::Left),
        Action::SwapPaneRight => return app.mux.swap_direction(Direction::Right),
        Action::SwapPaneUp => return app.mux.swap_direction(Direction::Up),
        Action::SwapPaneDown => return app.mux.swap_direction(Direction::Down),
        Action::RotatePanes => return app.with_parts(|_, cx| panes::rotate(at.tab, true, cx)),
        Action::RotatePanesBack => return app.with_parts(|_, cx| panes::rotate(at.tab, false, cx)),
        Action::EqualizePanes => return app.with_parts(|_, cx| panes::equalize(at.tab, cx)),
        Action::PaneToNewTab => return app.with_parts(|_, cx| panes::move_to_new_tab(at.tab, cx)),
        Action::PaneToTab(number) => {
            return app.with_parts(|_, cx| panes::move_to_tab(at.tab, at.numbered(number), cx));
        }
        Action::TabToNewWindow => {
            return app.with_parts(|_, cx| moving::tab_to_new_window(at.tab, cx));
        }
        Action::TabToWindow(name) => {
            app.with_parts(|parts, cx| moving::tab_to_window(at.tab, name, parts.overlays, cx));
        }
        Action::PaneToNewWindow => {
            return app.with_parts(|_, cx| moving::pane_to_new_window(at.tab, cx));
        }
        Action::PaneToWindow(name) => {
            app.with_parts(|parts, cx| moving::pane_to_window(at.tab, name, parts.overlays, cx));
        }
        Action::GatherTabs => app.with_parts(|_, cx| moving::gather_tabs(cx)),
        Action::BroadcastTab => app.workspace.broadcast.toggle(Broadcast::Tab(at.tab.id)),
        Action::BroadcastAll => app.workspace.broadcast.toggle(Broadcast::All),
        Action::FocusLeft => return app.mux.focus_direction(Direction::Left),
        Action::FocusRight => return app.mux.focus_direction(Direction::Right),
        Action::FocusUp => return app.mux.focus_direction(Direction::Up),
        Action::FocusDown => return app.mux.focus_direction(Direction::Down),
        Action::NextPane => return app.with_parts(|_, cx| panes::cycle(at.tab, 1, cx)),
        Action::PreviousPane => return app.with_parts(|_, cx| panes::cycle(at.tab, -1, cx)),
        Action::ResizeLeft => {
            return app.mux.resize_split(at.tab.focused, Direction::Left, RESIZE_STEP);
        }
        Action::ResizeRight => {
            return app.mux.resize_split(at.tab.focused, Direction::Right, RESIZE_STEP);
        }
        Action::ResizeUp => {
            return app.mux.resize_split(at.tab.focused, Direction::Up, RESIZE_STEP);
        }
        Action::ResizeDown => {
            return app.mux.resize_split(at.tab.focused, Direction::Down, RESIZE_STEP);
        }
        Action::SelectAll => app.with_parts(|_, cx| selecting::select_all(cx)),
        Action::Copy => return app.with_parts(|_, cx| copy_selection(cx)),
        Action::CopyAsHtml => return app.with_parts(|_, cx| copy_as(Form::Html, cx)),
        Action::CopyAsAnsi => return app.with_parts(|_, cx| copy_as(Form::Ansi, cx)),
        Action::Paste => app.paste_to_all(Buffer::Clipboard, at.tab.focused),
        Action::PastePrimary => app.paste_to_all(Buffer::Primary, at.tab.focused),
        Action::SendText(text) => return app.type_text(&text),
        Action::LargerFont => return app.set_font_size(app.prefs.fonts.size + 1.0),
        Action::SmallerFont => return app.set_font_size(app.prefs.fonts.size - 1.0),
        Action::ResetFont => drop(app.set_font_size(app.prefs.configured_font_size())),
        Action::ScrollPageUp => return app.scroll_view(|view, page| view.scroll(-page)),
        Action::ScrollPageDown => return app.scroll_view(|view, page| view.scroll(page)),
        Action::ScrollLines(lines) => {
            return app.scroll_view(|view, _| view.scroll(i64::from(lines)));
        }
        Action::ScrollToTop => return app.scroll_view(|view, _| view.scroll_to_oldest()),
        Action::ScrollToBottom => {
            return app.scroll_view(|view, _| {
                view.scroll_to_live();
            });
        }
        Action::ShowHistory => app.with_parts(|_, cx| show_history(cx)),
        Action::ShowOutput => app.with_parts(|_, cx| show_output(cx)),
        Action::ClearHistory => app.with_focused(Pane::clear_history),
        Action::ClearScreen => app.with_focused(Pane::clear_screen),
        Action::ResetTerminal => app.with_focused(Pane::reset),
        Action::Search => app.with_parts(|parts, cx| parts.overlays.search.open(cx)),
        Action::SearchSelection => {
            app.with_parts(|parts, cx| parts.overlays.search.open_for_selection(cx))
        }
        Action::PreviousPrompt => {
            return app.with_parts(|_, cx| actions::jump_to_prompt(false, cx));
        }
        Action::NextPrompt => return app.with_parts(|_, cx| actions::jump_to_prompt(true, cx)),
        Action::SelectOutput => app.with_parts(|_, cx| actions::select_output(cx)),
        Action::CopyOutput => {
            app.with_parts(|_, cx| actions::with_command(BlockAction::CopyOutput, cx))
        }
        Action::CopyCommand => {
            app.with_parts(|_, cx| actions::with_command(BlockAction::CopyCommand, cx))
        }
        Action::RerunCommand => {
            app.with_parts(|_, cx| actions::with_command(BlockAction::Rerun, cx))
        }
        Action::FoldOutput => app.with_parts(|_, cx| actions::with_command(BlockAction::Fold, cx)),
        Action::FoldAll => app.with_parts(|_, cx| actions::fold_all(true, cx)),
        Action::UnfoldAll => app.with_parts(|_, cx| actions::fold_all(false, cx)),
        Action::QuickSelect => app.with_parts(|parts, cx| parts.overlays.show_hints(true, cx)),
        Action::OpenHint => app.with_parts(|parts, cx| parts.overlays.show_hints(false, cx)),
        Action::CopyMode => {
            app.with_parts(|parts, cx| copy_mode::toggle(&mut parts.overlays.search, cx));
        }
        Action::CommandPalette => app.with_parts(|parts, cx| parts.overlays.pick_command(cx)),
        Action::ChooseTheme => {
            let is_light = app.is_light();
            app.with_parts(|parts, cx| parts.overlays.pick_theme(is_light, cx));
        }
        Action::NextTheme => app.next_theme(),
        Action::ToggleProxy => app.toggle_proxy(),
        Action::ChooseTab => app.with_parts(|parts, cx| {
            parts.overlays.pick_tab(parts.chrome.tabs.items(cx.mux), cx);
        }),
        Action::Launcher => app.with_parts(|parts, cx| {
            parts.overlays.pick_anything(parts.chrome.tabs.items(cx.mux), cx);
        }),
        Action::ChooseShell => app.with_parts(|parts, cx| parts.overlays.pick_shell(cx)),
        Action::MainMenu => app.open_main_menu(),
        Action::ChangeDirectory => {
            app.with_parts(|_, cx| choose(Purpose::Change(at.tab.focused), cx));
        }
        Action::ChangeDirectoryTo(path) => {
            let purpose = Purpose::Change(at.tab.focused);
            app.with_parts(|_, cx| use_folder(purpose, path.as_ref(), cx));
        }
        Action::OpenFolder => app.with_parts(|_, cx| choose(Purpose::Tab, cx)),
        Action::NewTabIn(path) => {
            app.with_parts(|_, cx| use_folder(Purpose::Tab, path.as_ref(), cx));
        }
        Action::ExportSession => app.with_parts(|_, cx| export_session(cx)),
        Action::ToggleRecording => app.with_parts(|_, cx| toggle_recording(cx)),
        Action::ChooseEmoji => app.with_parts(|parts, cx| {
            parts.overlays.pick_emoji(cx);
            emoji_font::warn_if_missing(cx);
        }),
        Action::CaptureRegionExclude => app.with_parts(|parts, cx| {
            parts.surface.take_screenshot(Shot::Region { hidden: true }, cx)
        }),
        Action::CaptureRegionInclude => app.with_parts(|parts, cx| {
            parts.surface.take_screenshot(Shot::Region { hidden: false }, cx)
        }),
        Action::CaptureWindow => {
            app.with_parts(|parts, cx| parts.surface.take_screenshot(Shot::Window, cx))
        }
        Action::CaptureScreen => {
            app.with_parts(|parts, cx| parts.surface.take_screenshot(Shot::Screen, cx))
        }
        Action::PauseAgents => return app.with_parts(|_, cx| toggle_agents(cx)),
        Action::AnswerAgent => {
            return app.with_parts(|parts, cx| parts.overlays.answer_agent(None, cx));
        }
        Action::Inbox => return app.with_parts(|parts, cx| parts.overlays.toggle_inbox(cx)),
        Action::NextAttention => return app.with_parts(|_, cx| next_attention(cx)),
        Action::DismissMessages => app.overlays.toasts.dismiss_all(),
        Action::DebugOverlay => app.overlays.toggle_debug(),
        Action::ToggleQuake => return app.toggle_quake(),
        Action::SaveLayout(name) => app.save_layout(&name),
        Action::OpenLayout(name) => return app.open_layout(name.as_deref()),
        Action::Settings => app.open_settings(),
        Action::OpenConfig => app.with_parts(|_, cx| open_config(cx)),
        Action::Tour => return app.with_parts(|parts, cx| tour::show(0, parts.overlays, cx)),
        Action::About => app.with_parts(|parts, cx| {
            let screen = parts.surface.screen.as_ref();
            let painter = screen.map(|screen| screen.painter.adapter());
            parts.overlays.ask(about::about(painter, &cx.prefs.config), cx);
        }),
        Action::NewWindow => app.new_window(),
        Action::Fullscreen => app.toggle_fullscreen(),
    }
    true
}
