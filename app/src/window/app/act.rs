//! Performs the window's actions.

use std::process::Stdio;

use unterm_control::Server;
use unterm_mux::{OnExit, Pane, Spawn, Tab, TabId};
use unterm_term::{LineId, Point, TextRange};
use winit::window::Fullscreen;

use crate::window::{
    app::App,
    input::clipboard::Buffer,
    system::{errand::Done, folder::Purpose},
    workspace::{blocks::place::Part, closing::Closing, selection::Selection},
};
use crate::{action::Action, args::FONT_SIZES, links};

/// How far one press moves a divider, as a share of the split.
const RESIZE_STEP: f32 = 0.04;

impl App {
    /// Performs an action. Returns false if the action has no target.
    pub(crate) fn act(&mut self, action: Action) -> bool {
        self.act_in(None, action)
    }

    /// Performs an action on a tab, if the action concerns tabs. `None` means the active tab.
    pub(crate) fn act_in(&mut self, tab: Option<TabId>, action: Action) -> bool {
        let layout = self.mux.layout();
        let index = match tab {
            None => Some(layout.active),
            Some(id) => layout.tabs.iter().position(|tab| tab.id == id),
        };
        let Some((index, tab)) = index.and_then(|at| Some((at, layout.tabs.get(at)?))) else {
            return false;
        };
        let focused = tab.focused;
        let opens = matches!(action, Action::NewTab | Action::DuplicateTab | Action::Split(_));
        if opens && index != layout.active {
            // The new tab or pane opens next to or in this tab, and takes the focus.
            self.report(self.mux.activate_tab(tab.id));
        }
        match action {
            Action::NewTab => self.open_tab(),
            Action::DuplicateTab => self.duplicate_tab(tab),
            Action::RenameTab => self.ask_tab_title(tab),
            Action::SetTabTitle(title) => self.report(self.mux.rename_tab(tab.id, &title)),
            Action::TabMenu => self.open_tab_menu(tab.id, None),
            Action::CloseTab => self.close(Closing::Tab(tab.id)),
            Action::ClosePane => self.close(Closing::Pane(focused)),
            Action::CloseWindow => self.close(Closing::Window),
            Action::Split(axis) => self.split(focused, axis),
            Action::Focus(direction) => return self.mux.focus_direction(direction),
            Action::CyclePanes(by) => return self.cycle_panes(tab, by),
            Action::Resize(direction) => {
                return self.mux.resize_split(focused, direction, RESIZE_STEP);
            }
            Action::Zoom if tab.panes().len() < 2 => return false,
            Action::Zoom => self.mux.toggle_zoom(),
            Action::SwapPane(_)
            | Action::RotatePanes(_)
            | Action::EqualizePanes
            | Action::PaneToNewTab
            | Action::PaneToTab(_)
            | Action::BroadcastTab
            | Action::BroadcastAll => return self.arrange_panes(&action, tab),
            Action::Launcher => self.pick_anything(),
            Action::NextTab | Action::PreviousTab if layout.tabs.len() < 2 => return false,
            Action::NextTab => self.switch_tab(1),
            Action::PreviousTab => self.switch_tab(-1),
            Action::MoveTab(by) => {
                let last = layout.tabs.len().saturating_sub(1);
                let place = index.saturating_add_signed(by).min(last);
                self.report(self.mux.move_tab(tab.id, place));
                return place != index;
            }
            Action::SelectAll => self.select_all(),
            Action::Copy => {
                // Without a selection, Ctrl+C goes to the program; Ctrl+Shift+C never does.
                return self.copy_selection();
            }
            Action::CopyAs(form) => return self.copy_as(form),
            Action::ActivateTab(number) => {
                let index = (number - 1).min(layout.tabs.len() - 1);
                self.report(self.mux.activate_tab(layout.tabs[index].id));
            }
            Action::SendText(text) => {
                let Some(pane) = self.focused_pane() else { return false };
                for pane in self.listeners(pane.id()).into_iter().chain([pane]) {
                    self.type_bytes(&pane, text.as_bytes());
                }
            }
            Action::Paste => self.paste_to_all(Buffer::Clipboard, focused),
            Action::PastePrimary => self.paste_to_all(Buffer::Primary, focused),
            Action::FontSize(points) => return self.set_font_size(self.prefs.fonts.size + points),
            Action::ResetFontSize => drop(self.set_font_size(self.prefs.configured_font_size())),
            Action::Fullscreen => self.toggle_fullscreen(),
            Action::Search => self.open_search(),
            Action::SearchSelection => self.search_selection(),
            Action::JumpToPrompt(forward) => return self.jump_to_prompt(forward),
            Action::SelectOutput => self.select_output(),
            Action::CopyOutput => self.with_command(Part::CopyOutput),
            Action::CopyCommand => self.with_command(Part::CopyCommand),
            Action::Rerun => self.with_command(Part::Rerun),
            Action::ChooseEmoji => self.pick_emoji(),
            Action::Fold => self.with_command(Part::Fold),
            Action::FoldAll(fold) => self.fold_all(fold),
            Action::QuickSelect => self.show_hints(true),
            Action::OpenHint => self.show_hints(false),
            Action::ClearHistory => self.with_focused(Pane::clear_history),
            Action::ResetTerminal => self.with_focused(Pane::reset),
            Action::CopyMode => self.toggle_copy_mode(),
            Action::CommandPalette => self.pick_command(),
            Action::ChooseTheme => self.pick_theme(),
            Action::NextTheme => self.next_theme(),
            Action::ToggleProxy => self.toggle_proxy(),
            Action::ChooseTab => self.pick_tab(),
            Action::ChooseShell => self.pick_shell(),
            Action::MainMenu => self.open_main_menu(),
            Action::ChangeDirectory => self.choose_folder(Purpose::Change(focused)),
            Action::OpenFolder => self.choose_folder(Purpose::Tab),
            Action::ChangeDirectoryTo(path) => {
                self.use_folder(Purpose::Change(focused), path.as_ref());
            }
            Action::NewTabIn(path) => self.use_folder(Purpose::Tab, path.as_ref()),
            Action::ExportSession => self.export_session(),
            Action::ToggleRecording => self.toggle_recording(),
            Action::Screenshot(shot) => self.screenshot(shot),
            Action::ToggleDebug => self.toggle_debug(),
            Action::PauseAgents => return self.toggle_agents(),
            Action::AnswerAgent => return self.answer_agent(),
            Action::DismissMessages => self.dismiss_toasts(),
            Action::ToggleQuake => return self.toggle_quake(),
            Action::SaveLayout(name) => self.save_layout(&name),
            Action::Settings => self.open_settings(),
            Action::OpenConfig => self.open_config(),
            Action::NewWindow => self.new_window(),
            Action::ScrollPages(_)
            | Action::ScrollLines(_)
            | Action::ScrollToTop
            | Action::ScrollToBottom => {
                return self.scroll_view(&action);
            }
        }
        true
    }

    /// Opens a tab in the focused pane's directory.
    pub(crate) fn open_tab(&mut self) {
        let spawn = self.spawn_beside();
        self.report(self.mux.open_tab(spawn, None, OnExit::Close));
    }

    /// A shell in the focused pane's directory, if that directory exists.
    pub(crate) fn spawn_beside(&self) -> Spawn {
        let cwd = self.focused_pane().and_then(|pane| pane.cwd_path()).filter(|cwd| cwd.is_dir());
        Spawn { cwd, ..Spawn::default() }
    }

    /// Activates the tab `by` places further, wrapping around.
    pub(crate) fn switch_tab(&mut self, by: isize) {
        let layout = self.mux.layout();
        let count = layout.tabs.len() as isize;
        if count > 0 {
            let index = (layout.active as isize + by).rem_euclid(count) as usize;
            self.report(self.mux.activate_tab(layout.tabs[index].id));
        }
    }

    /// Focuses the pane `by` places further in its tab, wrapping around. Returns false if it is the only pane.
    fn cycle_panes(&mut self, tab: &Tab, by: isize) -> bool {
        let panes = tab.panes();
        let at = panes.iter().position(|pane| *pane == tab.focused).unwrap_or(0) as isize;
        let next = panes[(at + by).rem_euclid(panes.len() as isize) as usize];
        if next != tab.focused {
            self.report(self.mux.focus(next));
        }
        next != tab.focused
    }

    fn with_focused(&self, act: impl FnOnce(&Pane)) {
        if let Some(pane) = self.focused_pane() {
            act(&pane);
        }
    }

    /// Selects the focused pane's whole history and screen, up to the last line with text.
    fn select_all(&mut self) {
        let Some(pane) = self.focused_pane() else { return };
        let Some(view) = self.workspace.views.get_mut(&pane.id()) else { return };
        let term = pane.term();
        let size = term.size();
        let (oldest, end) = (term.oldest(), term.live_top().0 + u64::from(size.rows));
        let mut text = String::new();
        let has_text = |line: &u64| {
            text.clear();
            term.row_text(LineId(*line), &mut text) && !text.trim_end().is_empty()
        };
        let last = (oldest.0..end).rev().find(has_text);
        let range = last.map(|line| TextRange {
            start: Point { line: oldest, col: 0 },
            end: Point { line: LineId(line), col: size.cols.saturating_sub(1) },
            block: false,
        });
        view.selection = range.map(|range| Selection::of(range, term.seq()));
        self.surface.pacing.ask();
    }

    /// Copies the focused pane's selection to the clipboard and clears it. Returns false without a selection.
    pub(crate) fn copy_selection(&mut self) -> bool {
        let Some(pane) = self.focused_pane() else { return false };
        let Some(text) = self.selected_text(&pane) else { return false };
        self.input.clipboard.store(Buffer::Clipboard, text);
        self.end_selection(&pane);
        true
    }

    /// Sets the font size, clamped to its limits. Returns false if the size does not change.
    fn set_font_size(&mut self, size: f32) -> bool {
        let size = size.clamp(*FONT_SIZES.start(), *FONT_SIZES.end());
        let changes = size != self.prefs.fonts.size;
        if changes {
            self.prefs.fonts.size = size;
            self.apply_fonts();
        }
        changes
    }

    /// Opens the settings page in the desktop's browser.
    fn open_settings(&mut self) {
        let Some(links) = self.server.as_ref().map(Server::settings_links) else {
            return self.complain("settings", "The control server is not running.".to_owned());
        };
        self.errand("settings", move || {
            match links.redirect().and_then(|file| links::open_settings(&file)) {
                Ok(()) => Done::Nothing,
                Err(error) => Done::Failed("settings", error),
            }
        });
    }

    /// Starts another instance, which outlives this one.
    fn new_window(&mut self) {
        let cwd = self.spawn_beside().cwd.or_else(std::env::home_dir).unwrap_or_else(|| "/".into());
        let start = || {
            let mut command = std::process::Command::new(std::env::current_exe()?);
            command.args(self.prefs.args.another(&cwd)).current_dir(&cwd);
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            #[cfg(unix)]
            std::os::unix::process::CommandExt::process_group(&mut command, 0);
            let mut child = command.spawn()?;
            // Without a wait, the exited child stays as a zombie.
            std::thread::Builder::new().name("new window".to_owned()).spawn(move || child.wait())
        };
        if let Err(error) = start() {
            self.complain("window", format!("Can't start another window.\n{error}"));
        }
    }

    fn toggle_fullscreen(&mut self) {
        let Some(screen) = &self.surface.screen else { return };
        if screen.window.fullscreen().is_some() {
            screen.window.set_fullscreen(None);
        } else {
            // Remember the state from before fullscreen.
            self.workspace.last = self.session().or(self.workspace.last.take());
            screen.window.set_fullscreen(Some(Fullscreen::Borderless(None)));
        }
    }

    /// Scrolls the focused pane. Returns false on the alternate screen, which has no history.
    fn scroll_view(&mut self, action: &Action) -> bool {
        let Some(pane) = self.focused_pane() else { return false };
        let Some(view) = self.fresh_view(&pane) else { return false };
        if view.is_alternate() {
            return false;
        }
        let page = i64::from(view.snapshot.size.rows).max(2) - 1;
        match action {
            Action::ScrollPages(pages) => view.scroll(i64::from(*pages) * page),
            Action::ScrollLines(lines) => view.scroll(i64::from(*lines)),
            Action::ScrollToTop => view.scroll_to_oldest(),
            _ => drop(view.scroll_to_live()),
        }
        self.surface.pacing.ask();
        true
    }
}
