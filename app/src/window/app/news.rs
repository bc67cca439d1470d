//! Applies the news from other threads.

use std::collections::HashSet;

use unterm_mux::PaneId;

use crate::links;
use crate::window::{
    app::App,
    effect::Effect,
    inbox::{ClipboardNews, News},
    input::{buffer::Buffer, clipboard},
    overlays::clipboard_requests,
    redraw::Redraw,
    system::access,
    workspace::{panes, view::View},
};

impl App {
    /// Applies news from other threads. Returns the frame that is due.
    pub(crate) fn handle_news(&mut self, news: News) -> Redraw {
        self.workspace.kept.ends_programs |= news.ends_programs;
        if news.stop {
            self.effect(Effect::End);
            return Redraw::No;
        }
        let mut redraw = news.redraw();
        if let Some(title) = news.control.instance_title {
            self.chrome.instance_title = title;
        }
        for pane in &news.panes.removed {
            self.workspace.views.remove(pane);
            self.overlays.hints.take_if(|hints| hints.pane == *pane);
            self.system.notices.forget(*pane);
            self.system.paged.remove(pane);
            self.overlays.questions.forget_requests(*pane);
            self.input.clipboard_access.remove(pane);
            self.input.transfers_denied.remove(pane);
            self.overlays.search.forget(*pane);
        }
        news.panes.exited.into_iter().for_each(|pane| self.report_end(pane));
        if news.layout || !news.panes.removed.is_empty() {
            self.with_parts(|parts, cx| parts.dividers.check_drag(cx));
            self.arrange();
            self.report_focus();
            self.keep_soon();
        }
        for pane in &news.panes.works {
            redraw = redraw.max(self.read_work(*pane));
        }
        if news.control.agents || news.control.program_states {
            redraw = redraw.max(self.read_all_work());
        }
        if news.titles {
            self.workspace.views.values_mut().for_each(View::forget_names);
            self.keep_soon();
        }
        // A hidden tab whose output is already marked reports no further output.
        self.workspace.names.stale |= !news.panes.commands.is_empty();
        self.commands_changed(news.panes.commands);
        if let Some(read) = news.system.surroundings {
            redraw = redraw.max(self.surroundings_read(read));
        }
        if !news.system.desktop.is_empty() {
            self.desktop_reported(news.system.desktop);
        }
        if let Some(instances) = news.control.instances {
            self.chrome.instances = instances;
        }
        if news.control.agents {
            let is_new = self.with_parts(|parts, cx| parts.overlays.agents_ask(cx));
            if is_new {
                self.with_parts(|parts, cx| parts.system.notices.ask_attention(cx));
            }
        }
        if let Some(node) = news.system.reader_asks {
            self.with_parts(|_, cx| access::choose(node, cx));
        }
        if news.pointer_shape {
            self.pointer_shape_changed();
        }
        self.clipboard_news(news.clipboard);
        for (pane, request) in news.transfers {
            self.transfer_asked(pane, &request);
        }
        for pane in news.panes.bells {
            self.ring(pane);
        }
        if news.control.settings_unopened {
            self.notify("settings", links::UNOPENED.to_owned());
        }
        if let Some(found) = news.found {
            self.with_parts(|parts, cx| parts.overlays.search.found(found, cx));
        }
        if let Some(change) = news.control.settings {
            self.settings_changed(change);
        }
        if let Some(enabled) = news.control.proxy {
            self.proxy_changed(enabled);
        }
        for news in news.control.inboxes {
            self.with_parts(|parts, cx| parts.overlays.inbox_changed(news, cx));
        }
        for event in news.system.notices {
            let due = self.with_parts(|parts, cx| {
                let screen = parts.surface.screen.as_ref();
                let is_shown = screen.is_some_and(|screen| !screen.is_covered());
                parts.system.notices.handle(event, is_shown, cx)
            });
            due.into_iter().for_each(|time| self.surface.wake_at(time));
        }
        news.control.asked.into_iter().for_each(|request| self.asked_by_host(request));
        news.system.dropped.iter().for_each(|dropped| self.paste_dropped(dropped));
        news.system.done.into_iter().for_each(|done| self.errand_done(done));
        redraw.max(self.notice_output(&news.panes.output))
    }

    /// Applies news from the clipboard's thread, and programs' requests to the clipboards.
    fn clipboard_news(&mut self, news: ClipboardNews) {
        if let Some(text) = news.text {
            self.store(Buffer::Clipboard, text);
        }
        if let Some(text) = news.primary {
            self.store(Buffer::Primary, text);
        }
        for (panes, text) in news.pastes {
            self.pasted(&panes, text.as_deref());
        }
        for event in news.paste_events {
            self.paste_types_found(event);
        }
        for (pane, write) in news.writes {
            self.with_parts(|_, cx| clipboard_requests::write(pane, write, cx));
        }
        for (pane, read) in news.reads {
            let asks = self.with_parts(|parts, cx| {
                let is_in_sight = parts.surface.has_in_sight(pane, &cx.mux.layout());
                let allowed = &mut *parts.clipboard_access;
                parts.overlays.clipboard_read_asked(pane, read, allowed, is_in_sight, cx)
            });
            if asks {
                self.with_parts(|parts, cx| parts.system.notices.ask_attention(cx));
            }
        }
        for (pane, handle, data) in news.reads_done {
            let data = data.as_ref().map_err(|error| *error);
            self.mux.answer_clipboard_read(pane, handle, data);
        }
        for (pane, handle, outcome) in news.writes_done {
            if let Some(pane) = self.mux.pane(pane) {
                pane.answer_clipboard_write(handle, outcome);
            }
        }
        if news.is_missing {
            self.notify("clipboard", clipboard::UNREACHABLE.to_owned());
        }
    }

    /// Handles new output in panes, and marks the tabs of changed hidden panes. Returns the frame that is due.
    pub(crate) fn notice_output(&mut self, panes: &HashSet<PaneId>) -> Redraw {
        if panes.is_empty() {
            return Redraw::No;
        }
        let mut redraw = Redraw::No;
        let layout = self.mux.layout();
        let visible = layout.active_tab().map_or_else(Vec::new, panes::in_sight);
        for pane in panes {
            if visible.contains(pane) {
                redraw = redraw.max(self.notice_text(*pane));
                continue;
            }
            self.overlays.search.search_output(*pane, self.now);
            if let Some(view) = self.workspace.views.get_mut(pane) {
                // One frame shows the mark. Further output of the hidden tab needs no frame.
                if !view.is_marked(self.now) {
                    view.signals.unseen = true;
                    self.workspace.names.stale = true;
                    redraw = Redraw::Whole;
                }
            }
        }
        redraw
    }

    /// Handles new output in a visible pane. Returns the frame that is due.
    pub(crate) fn notice_text(&mut self, pane: PaneId) -> Redraw {
        self.overlays.search.search_output(pane, self.now);
        self.workspace.names.stale = true;
        Redraw::Text
    }

    fn ring(&mut self, pane: PaneId) {
        let Some(view) = self.workspace.views.get_mut(&pane) else { return };
        if self.prefs.config.bell.mark {
            view.signals.bell = Some(self.now);
        }
        if self.prefs.config.bell.visual {
            view.signals.flash = Some(self.now);
        }
        self.with_parts(|parts, cx| parts.system.notices.sound_bell(cx));
        self.with_parts(|parts, cx| parts.system.notices.ask_attention(cx));
    }
}
