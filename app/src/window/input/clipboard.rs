//! The system's clipboard and primary selection. They are used on their own thread, because another program may
//! respond slowly.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    thread::JoinHandle,
};

use unterm_mux::PaneId;
use unterm_term::{ClipboardData, ClipboardError};

use crate::window::{
    inbox::{Inbox, PasteEvent, bytes_of},
    input::{
        buffer::{self, Buffer},
        picture::Picture,
        typed_clipboard::{self, Content},
    },
};

/// The maximum number of bytes from programs that wait for the thread.
const WAITING_CAP: usize = 128 << 20;

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
    /// Lists the types for panes whose programs handle pastes themselves (mode 5522).
    PasteTypes(Buffer, Vec<PaneId>),
    /// Reads data for a program (OSC 5522).
    Read { pane: PaneId, handle: u64, from: Buffer, types: Vec<String> },
    /// Stores data of a program (OSC 5522).
    Write { pane: PaneId, handle: u64, to: Buffer, data: ClipboardData },
}

impl Request {
    /// The number of bytes from a program.
    fn bytes(&self) -> usize {
        match self {
            Self::Write { data, .. } => bytes_of(data),
            _ => 0,
        }
    }
}

/// A handle to the clipboard's thread.
pub(crate) struct Clipboard {
    requests: Option<mpsc::SyncSender<Request>>,
    /// The bytes from programs that wait for the thread.
    waiting: Arc<AtomicUsize>,
    thread: Option<JoinHandle<()>>,
}

impl Clipboard {
    /// Starts the thread. Pasted text is sent to `inbox`.
    pub(crate) fn start(inbox: Arc<Inbox>) -> Self {
        let (requests, received) = mpsc::sync_channel(64);
        let waiting = Arc::<AtomicUsize>::default();
        let served = Arc::clone(&waiting);
        let thread = std::thread::Builder::new()
            .name("clipboard".to_owned())
            .spawn(move || serve(&received, &inbox, &served))
            .map_err(|error| tracing::error!("no clipboard: its thread can't be started: {error}"))
            .ok();
        Self { requests: Some(requests), waiting, thread }
    }

    /// Queues a request. Returns false if the queue is full or the thread has ended.
    #[must_use]
    pub(crate) fn send(&self, request: Request) -> bool {
        let bytes = request.bytes();
        if self.waiting.fetch_add(bytes, Ordering::AcqRel) + bytes <= WAITING_CAP
            && self.requests.as_ref().is_some_and(|requests| requests.try_send(request).is_ok())
        {
            return true;
        }
        self.waiting.fetch_sub(bytes, Ordering::AcqRel);
        false
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

fn serve(requests: &mpsc::Receiver<Request>, inbox: &Inbox, waiting: &AtomicUsize) {
    // Created on first use, because it connects to the display, and startup must not wait for the connection.
    let mut system: Option<arboard::Clipboard> = None;
    while let Ok(request) = requests.recv() {
        let bytes = request.bytes();
        // Selected text is stored without a request from the user, so a failure needs no message. Programs receive an
        // error.
        let is_asked_for = !matches!(
            request,
            Request::Store(Buffer::Primary, _) | Request::Read { .. } | Request::Write { .. }
        );
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
            Request::PasteTypes(buffer, panes) => {
                let list = |clipboard| typed_clipboard::list(clipboard, buffer);
                let types = clipboard.ok_or(ClipboardError::Unavailable).and_then(list).ok();
                let event = PasteEvent { panes, buffer, types };
                inbox.post(|news| news.clipboard.paste_events.push(event));
            }
            Request::Read { pane, handle, from, types } => {
                let read = |clipboard| typed_clipboard::read(clipboard, from, &types);
                let data = clipboard.ok_or(ClipboardError::Unavailable).and_then(read);
                inbox.post(|news| news.clipboard.reads_done.push((pane, handle, data)));
            }
            Request::Write { pane, handle, to, data } => {
                let write = |clipboard| {
                    let content = Content::of(&data)?;
                    typed_clipboard::write(clipboard, to, content)
                };
                let outcome = clipboard.ok_or(ClipboardError::Unavailable).and_then(write);
                inbox.post(|news| news.clipboard.writes_done.push((pane, handle, outcome)));
            }
        }
        waiting.fetch_sub(bytes, Ordering::AcqRel);
    }
}

#[cfg(all(unix, not(target_os = "macos")))]
fn write(
    clipboard: &mut arboard::Clipboard,
    buffer: Buffer,
    text: String,
) -> Result<(), arboard::Error> {
    use arboard::SetExtLinux;
    clipboard.set().clipboard(buffer::kind(buffer)).text(text)
}

#[cfg(all(unix, not(target_os = "macos")))]
fn read(clipboard: &mut arboard::Clipboard, buffer: Buffer) -> Result<String, arboard::Error> {
    use arboard::GetExtLinux;
    clipboard.get().clipboard(buffer::kind(buffer)).text()
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
