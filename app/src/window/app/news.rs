//! Applies the news from other threads.

use std::{collections::HashSet, time::Instant};

use unterm_mux::PaneId;
use winit::event_loop::ActiveEventLoop;

use crate::links;
use crate::window::{
    app::{App, REPAINTING},
    inbox::News,
    input::clipboard::{self, Buffer},
    workspace::{panes, view::View},
};

impl App {
    /// Applies news from other threads.
    pub(crate) fn hear(&mut self, news: News, event_loop: &ActiveEventLoop) {
        if news.stop {
            event_loop.exit();
            return;
        }
        if let Some(title) = news.instance_title {
            self.chrome.instance_title = title;
            self.surface.pacing.ask();
        }
        for pane in &news.removed {
            self.workspace.views.remove(pane);
            self.overlays.hints.take_if(|hints| hints.pane == *pane);
            self.system.notices.forget(*pane);
            if self.overlays.search.as_ref().is_some_and(|search| search.pane == *pane) {
                self.close_search();
            }
        }
        news.exited.into_iter().for_each(|pane| self.tell_end(pane));
        if news.layout || !news.removed.is_empty() {
            self.check_divider_drag();
            self.arrange();
            self.tell_focus();
            self.keep_soon();
            self.surface.pacing.ask();
        }
        for pane in &news.works {
            self.read_work(*pane);
        }
        if news.titles {
            self.workspace.views.values_mut().for_each(View::forget_names);
            self.keep_soon();
            self.surface.pacing.ask();
        }
        if !news.desktop.is_empty() {
            self.desktop_said(news.desktop);
        }
        if let Some(instances) = news.instances {
            self.chrome.instances = instances;
            self.surface.pacing.ask();
        }
        if news.reader || news.agents || news.recordings {
            self.surface.pacing.ask();
        }
        if news.agents {
            self.agents_ask();
        }
        if let Some(node) = news.reader_asks {
            self.reader_asks(node);
        }
        if news.pointer_shape {
            self.pointer_shape_changed();
        }
        if let Some(text) = news.clipboard {
            self.input.clipboard.store(Buffer::Clipboard, text);
        }
        if let Some(text) = news.primary {
            self.input.clipboard.store(Buffer::Primary, text);
        }
        for (panes, text) in news.pastes {
            self.pasted(&panes, text.as_deref());
        }
        if news.has_no_clipboard {
            self.notify("clipboard", clipboard::UNREACHABLE.to_owned());
        }
        for pane in news.bells {
            self.ring(pane);
        }
        if news.settings_unopened {
            self.notify("settings", links::UNOPENED.to_owned());
        }
        if let Some(found) = news.found {
            self.search_found(found);
        }
        if let Some(change) = news.settings {
            self.settings_changed(change);
        }
        if let Some(enabled) = news.proxy {
            self.proxy_changed(enabled);
        }
        news.told.into_iter().for_each(|told| self.told(told));
        news.asked.into_iter().for_each(|request| self.asked_by_host(request));
        news.dropped.iter().for_each(|dropped| self.paste_dropped(dropped));
        news.done.into_iter().for_each(|done| self.errand_done(done));
        self.notice_output(&news.output);
    }

    /// Requests a repaint if a visible pane changed, and marks the tabs of hidden panes that did.
    pub(crate) fn notice_output(&mut self, panes: &HashSet<PaneId>) {
        if panes.is_empty() {
            return;
        }
        let layout = self.mux.layout();
        let visible = layout.active_tab().map_or_else(Vec::new, panes::in_sight);
        for pane in panes {
            if visible.contains(pane) {
                self.notice_text(*pane);
                continue;
            }
            self.search_output(*pane);
            if let Some(view) = self.workspace.views.get_mut(pane) {
                // A repaint that the window caused is not news.
                if view.repainted.is_some_and(|at| at.elapsed() < REPAINTING) {
                    continue;
                }
                // One repaint shows the mark; further output of a hidden tab needs none.
                if !std::mem::replace(&mut view.unseen, true) {
                    self.workspace.names.stale = true;
                    self.surface.pacing.ask();
                }
            }
        }
    }

    /// Notes that a visible pane printed.
    pub(crate) fn notice_text(&mut self, pane: PaneId) {
        self.search_output(pane);
        self.workspace.names.stale = true;
        self.surface.pacing.ask_for_text();
    }

    fn ring(&mut self, pane: PaneId) {
        let Some(view) = self.workspace.views.get_mut(&pane) else { return };
        if self.prefs.config.bell.mark {
            view.bell = Some(Instant::now());
        }
        if self.prefs.config.bell.visual {
            view.flash = Some(Instant::now());
        }
        self.sound_bell();
        self.ask_attention();
        self.surface.pacing.ask();
    }
}
