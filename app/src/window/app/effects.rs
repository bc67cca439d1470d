//! Carries out the window's requests to the system, and handles the results of errands.

use std::{path::Path, process::Stdio};

use unterm_term::ClipboardError;
use winit::event_loop::ActiveEventLoop;

use crate::own_program;
use crate::window::{
    app::App,
    effect::{Effect, SlowWork},
    errand::ErrandResult,
    input::{buffer::Buffer, clipboard::Request},
    redraw::Redraw,
    surface::window_effect::change,
    system::{
        editing::edit_found,
        folder::choose::{ask_for_path, use_folder},
        pager::open_page,
    },
};

impl App {
    /// Requests an effect from the system.
    pub(crate) fn effect(&mut self, effect: Effect) {
        self.effects.push(effect);
    }

    /// Stores text on the clipboard or the primary selection.
    pub(crate) fn store(&mut self, buffer: Buffer, text: String) {
        self.effect(Effect::Clipboard(Request::Store(buffer, text)));
    }

    /// Runs a task on its own thread. Its result arrives through the inbox.
    pub(crate) fn errand(
        &mut self,
        about: &'static str,
        work: impl FnOnce() -> ErrandResult + Send + 'static,
    ) {
        self.effect(Effect::Errand(about, Box::new(work)));
    }

    /// Carries out effects, and all effects that these cause. Requests the frame that is due after that.
    pub(crate) fn carry_out(&mut self, mut effects: Vec<Effect>, event_loop: &ActiveEventLoop) {
        self.overlays.toasts.take_complaint();
        while !effects.is_empty() {
            for effect in effects {
                let redraw = self.carry_out_one(effect, event_loop);
                self.surface.pacing.request(redraw);
            }
            effects = std::mem::take(&mut self.effects);
        }
    }

    /// Carries out an effect. Returns the frame that is due: an effect on the system does not change the window's
    /// content, unless it fails.
    fn carry_out_one(&mut self, effect: Effect, event_loop: &ActiveEventLoop) -> Redraw {
        match effect {
            Effect::Clipboard(request) => return self.use_clipboard(request),
            Effect::Errand(about, work) => return self.start_errand(about, work),
            Effect::NewWindow(cwd) => return self.start_window(&cwd),
            Effect::ReadSurroundings(surveys) => self.start_surveys(surveys),
            Effect::Notify(note) => {
                self.with_parts(|parts, cx| parts.system.notices.show(note, cx));
                return Redraw::Whole;
            }
            Effect::SaveLayout(name, layout) => {
                self.write_layout(&name, &layout);
                return Redraw::Whole;
            }
            Effect::Withdraw(key) => {
                self.system.notices.withdraw(key);
            }
            Effect::KeepSession(session) => session.write(self.prefs.settings.home()),
            Effect::Answer(answer) => answer(self.overlays.toasts.take_complaint()),
            Effect::End => event_loop.exit(),
            effect => {
                if let Some(screen) = &self.surface.screen {
                    change(&screen.window, effect);
                }
            }
        }
        Redraw::No
    }

    fn use_clipboard(&mut self, request: Request) -> Redraw {
        let panes = match &request {
            Request::Paste(_, panes) | Request::PasteTypes(_, panes) => panes.clone(),
            _ => Vec::new(),
        };
        let (read, written) = match request {
            Request::Read { pane, handle, .. } => (Some((pane, handle)), None),
            Request::Write { pane, handle, .. } => (None, Some((pane, handle))),
            _ => (None, None),
        };
        if self.input.clipboard.send(request) {
            return Redraw::No;
        }
        tracing::warn!("the clipboard does not answer: a request was dropped");
        if let Some((pane, handle)) = read {
            self.mux.answer_clipboard_read(pane, handle, Err(ClipboardError::Busy));
        }
        if let Some((pane, handle)) = written
            && let Some(pane) = self.mux.pane(pane)
        {
            pane.answer_clipboard_write(handle, Err(ClipboardError::Busy));
        }
        if !panes.is_empty() {
            // The panes hold their input until the paste is answered.
            self.pasted(&panes, None);
            self.refuse("paste", "Nothing was pasted.\nThe clipboard does not answer.".to_owned());
        }
        Redraw::Whole
    }

    /// Starts a thread for a slow task. The task's result is sent to the inbox. If too many tasks are running, shows an
    /// error instead.
    fn start_errand(&mut self, about: &'static str, work: SlowWork) -> Redraw {
        if !self.system.begin_errand() {
            self.complain(
                about,
                "Too many tasks are running. Try again when one has ended.".to_owned(),
            );
            return Redraw::Whole;
        }
        let inbox = std::sync::Arc::clone(&self.inbox);
        let started = std::thread::Builder::new().name(about.to_owned()).spawn(move || {
            let done = work();
            inbox.post(|news| news.system.done.push(done));
        });
        if let Err(error) = started {
            let why = format!("Can't start a thread for it.\n{error}");
            self.errand_done(ErrandResult::Failed(about, why));
            return Redraw::Whole;
        }
        Redraw::No
    }

    /// Handles the result of an errand.
    pub(crate) fn errand_done(&mut self, done: ErrandResult) {
        self.system.end_errand();
        match done {
            ErrandResult::Nothing => {}
            ErrandResult::Said(about, text) => self.notify(about, text),
            ErrandResult::Failed(about, text) => self.complain(about, text),
            ErrandResult::Copied(about, text, path) => {
                let path = path.display().to_string();
                self.notify(about, format!("{text}\n{path}"));
                self.store(Buffer::Clipboard, path);
            }
            ErrandResult::Screenshot(taken) => {
                self.with_parts(|parts, cx| parts.surface.screenshot_taken(taken, cx));
            }
            ErrandResult::File(pane, cwd, place) => {
                self.with_parts(|_, cx| edit_found(pane, cwd, &place, cx));
            }
            ErrandResult::Folder(purpose, folder) => {
                self.with_parts(|_, cx| use_folder(purpose, &folder, cx));
            }
            ErrandResult::Dropped(dropped) => self.paste_dropped(&dropped),
            ErrandResult::Paged(page) => {
                self.with_parts(|parts, cx| open_page(page, &mut parts.system.paged, cx));
            }
            ErrandResult::NoDialog(purpose) => {
                self.with_parts(|parts, cx| ask_for_path(purpose, parts.overlays, cx));
            }
        }
    }

    /// Starts another instance, which keeps running after this one ends.
    fn start_window(&mut self, cwd: &Path) -> Redraw {
        let start = || {
            let mut command = std::process::Command::new(own_program::path()?);
            command.args(self.prefs.args.another(cwd)).current_dir(cwd);
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            #[cfg(unix)]
            std::os::unix::process::CommandExt::process_group(&mut command, 0);
            let mut child = command.spawn()?;
            // Wait for the child. Otherwise, it would become a zombie when it exits.
            std::thread::Builder::new().name("new window".to_owned()).spawn(move || child.wait())
        };
        if let Err(error) = start() {
            self.complain("window", format!("Can't start another window.\n{error}"));
            return Redraw::Whole;
        }
        Redraw::No
    }
}
