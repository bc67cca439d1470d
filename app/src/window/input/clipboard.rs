//! The system's clipboard and primary selection. They are used on their own thread, because another program may
//! respond slowly.

use std::{
    sync::{Arc, mpsc},
    thread::JoinHandle,
};

use unterm_mux::PaneId;

use crate::window::{inbox::Inbox, input::picture::Picture};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Buffer {
    Clipboard,
    /// The primary selection of X11 and Wayland. On other systems, the clipboard.
    Primary,
}

/// The message for a system without a clipboard.
pub(crate) const UNREACHABLE: &str = "The clipboard can't be reached.\nOn Wayland that takes a compositor with \
     ext-data-control or wlr-data-control, or Xwayland and DISPLAY.";

/// A request to the clipboard's thread.
#[derive(Debug)]
pub(crate) enum Request {
    /// Stores text.
    Store(Buffer, String),
    /// Stores HTML on the clipboard, and its plain text for programs that do not accept HTML.
    StoreHtml(String, String),
    /// Stores a picture on the clipboard.
    StorePicture(Picture),
    /// Reads text to paste into panes.
    Paste(Buffer, Vec<PaneId>),
}

/// A handle to the clipboard's thread.
pub(crate) struct Clipboard {
    requests: Option<mpsc::SyncSender<Request>>,
    thread: Option<JoinHandle<()>>,
}

impl Clipboard {
    /// Starts the thread. Pasted text is sent to `inbox`.
    pub(crate) fn start(inbox: Arc<Inbox>) -> Self {
        let (requests, received) = mpsc::sync_channel(64);
        let thread = std::thread::Builder::new()
            .name("clipboard".to_owned())
            .spawn(move || serve(&received, &inbox))
            .map_err(|error| tracing::error!("no clipboard: its thread can't be started: {error}"))
            .ok();
        Self { requests: Some(requests), thread }
    }

    /// Queues a request. Returns false if the queue is full or the thread has ended.
    #[must_use]
    pub(crate) fn send(&self, request: Request) -> bool {
        self.requests.as_ref().is_some_and(|requests| requests.try_send(request).is_ok())
    }
}

impl Drop for Clipboard {
    /// Waits until the thread ends. The thread hands the clipboard's text to a clipboard manager, if one runs.
    fn drop(&mut self) {
        self.requests = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn serve(requests: &mpsc::Receiver<Request>, inbox: &Inbox) {
    // Created on first use, because it connects to the display, and startup must not wait for the connection.
    let mut system: Option<arboard::Clipboard> = None;
    while let Ok(request) = requests.recv() {
        // Selected text is stored without a request from the user, so a failure needs no message.
        let is_asked_for = !matches!(request, Request::Store(Buffer::Primary, _));
        let clipboard = match &mut system {
            Some(clipboard) => Some(clipboard),
            none => match arboard::Clipboard::new() {
                Ok(clipboard) => Some(none.insert(clipboard)),
                Err(error) => {
                    tracing::warn!("the clipboard can't be reached: {error}");
                    if is_asked_for {
                        inbox.post(|news| news.clipboard.is_missing = true);
                    }
                    None
                }
            },
        };
        match request {
            Request::Store(buffer, text) => {
                let Some(clipboard) = clipboard else { continue };
                if let Err(error) = write(clipboard, buffer, text) {
                    tracing::warn!("text can't be put on the {buffer:?}: {error}");
                }
            }
            Request::StoreHtml(html, text) => {
                let Some(clipboard) = clipboard else { continue };
                if let Err(error) = clipboard.set().html(html, Some(text)) {
                    tracing::warn!("HTML can't be put on the clipboard: {error}");
                }
            }
            Request::StorePicture(Picture { width, height, rgba }) => {
                let Some(clipboard) = clipboard else { continue };
                let image = arboard::ImageData { width, height, bytes: rgba.into() };
                if let Err(error) = clipboard.set_image(image) {
                    tracing::warn!("a picture can't be put on the clipboard: {error}");
                }
            }
            Request::Paste(buffer, panes) => {
                let text = clipboard.and_then(|clipboard| {
                    // If the clipboard is empty or contains an image, there is no text to paste.
                    let none = |error| tracing::debug!("no text on the {buffer:?}: {error}");
                    read(clipboard, buffer).map_err(none).ok()
                });
                inbox.post(|news| news.clipboard.pastes.push((panes, text)));
            }
        }
    }
}

#[cfg(all(unix, not(target_os = "macos")))]
fn write(
    clipboard: &mut arboard::Clipboard,
    buffer: Buffer,
    text: String,
) -> Result<(), arboard::Error> {
    use arboard::SetExtLinux;
    clipboard.set().clipboard(kind(buffer)).text(text)
}

#[cfg(all(unix, not(target_os = "macos")))]
fn read(clipboard: &mut arboard::Clipboard, buffer: Buffer) -> Result<String, arboard::Error> {
    use arboard::GetExtLinux;
    clipboard.get().clipboard(kind(buffer)).text()
}

#[cfg(all(unix, not(target_os = "macos")))]
fn kind(buffer: Buffer) -> arboard::LinuxClipboardKind {
    match buffer {
        Buffer::Clipboard => arboard::LinuxClipboardKind::Clipboard,
        Buffer::Primary => arboard::LinuxClipboardKind::Primary,
    }
}

#[cfg(not(all(unix, not(target_os = "macos"))))]
fn write(
    clipboard: &mut arboard::Clipboard,
    _: Buffer,
    text: String,
) -> Result<(), arboard::Error> {
    clipboard.set_text(text)
}

#[cfg(not(all(unix, not(target_os = "macos"))))]
fn read(clipboard: &mut arboard::Clipboard, _: Buffer) -> Result<String, arboard::Error> {
    clipboard.get_text()
}
