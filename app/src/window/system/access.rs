//! Reports the content of the window to screen readers and magnifiers through AccessKit: the visible text with cursor
//! and selection, the tabs, and open overlays.
//!
//! Owns the connection to readers. `access/tree.rs` builds the nodes. As long as no reader is connected, no tree is built. AccessKit itself compares successive trees to detect new output.

pub(crate) mod run;
pub(crate) mod tree;

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use accesskit::{
    Action, ActionHandler, ActionRequest, ActivationHandler, DeactivationHandler, TreeUpdate,
};
use accesskit_winit::Adapter;
use unterm_mux::{PaneId, TabId};
use winit::{event::WindowEvent, event_loop::ActiveEventLoop, window::Window};

use crate::window::{
    cx::Cx,
    inbox::Inbox,
    system::access::tree::{SentTree, Target, target},
};

/// The connection to the platform's accessibility API.
#[derive(Default)]
pub(crate) struct Access(Option<Open>);

struct Open {
    adapter: Adapter,
    /// Whether a reader has connected and has not received a tree yet. Set and cleared under the adapter's own lock.
    is_new: Arc<AtomicBool>,
    /// Whether a reader is connected.
    is_connected: Arc<AtomicBool>,
    /// The state that was last sent to the reader.
    sent: SentTree,
}

/// Receives the requests of a reader, on a thread of AccessKit.
struct ReaderRequests {
    inbox: Arc<Inbox>,
    is_new: Arc<AtomicBool>,
    is_connected: Arc<AtomicBool>,
}

impl ActivationHandler for ReaderRequests {
    fn request_initial_tree(&mut self) -> Option<TreeUpdate> {
        self.is_new.store(true, Ordering::Relaxed);
        self.is_connected.store(true, Ordering::Relaxed);
        // The next repaint sends the tree to the reader.
        self.inbox.post(|news| news.system.reader = true);
        None
    }
}

impl ActionHandler for ReaderRequests {
    fn do_action(&mut self, request: ActionRequest) {
        if request.action == Action::Click || request.action == Action::Focus {
            self.inbox.post(|news| news.system.reader_asks = Some(request.target_node.0));
        }
    }
}

impl DeactivationHandler for ReaderRequests {
    fn deactivate_accessibility(&mut self) {
        self.is_connected.store(false, Ordering::Relaxed);
    }
}

impl Access {
    /// Starts the adapter. Must run before the window is shown. Without a session bus no reader can connect, so the
    /// adapter is not started.
    pub(crate) fn start(event_loop: &ActiveEventLoop, window: &Window, inbox: &Arc<Inbox>) -> Self {
        if !has_bus() {
            return Self(None);
        }
        let is_new = Arc::new(AtomicBool::new(false));
        let is_connected = Arc::new(AtomicBool::new(false));
        let ear = || ReaderRequests {
            inbox: Arc::clone(inbox),
            is_new: Arc::clone(&is_new),
            is_connected: Arc::clone(&is_connected),
        };
        let adapter = Adapter::with_direct_handlers(event_loop, window, ear(), ear(), ear());
        Self(Some(Open { adapter, is_new, is_connected, sent: SentTree::default() }))
    }

    /// Sends the current content of the window to connected readers. `build` returns the tree and a record of its
    /// content; its argument is the record of the tree that was sent last.
    pub(crate) fn update(&mut self, build: impl Fn(&SentTree) -> (TreeUpdate, SentTree)) {
        let Some(Open { adapter, is_new, sent, .. }) = &mut self.0 else { return };
        // AccessKit reports all text between the first and the last changed letter as new. After a scroll, that would
        // be the whole screen. Therefore a first update removes the lines that scrolled away, and a second update adds
        // only new lines.
        let mut now = None;
        adapter.update_if_active(|| {
            if is_new.swap(false, Ordering::Relaxed) {
                *sent = SentTree::default();
            }
            let (tree, knows) = build(sent);
            match sent.without_what_left(&tree, &knows) {
                Some(less) => {
                    now = Some((tree, knows));
                    less
                }
                None => {
                    *sent = knows;
                    tree
                }
            }
        });
        if let Some((tree, knows)) = now {
            adapter.update_if_active(|| {
                is_new.store(false, Ordering::Relaxed);
                *sent = knows;
                tree
            });
        }
    }

    /// Whether a screen reader is connected.
    pub(crate) fn has_listener(&self) -> bool {
        self.0.as_ref().is_some_and(|open| open.is_connected.load(Ordering::Relaxed))
    }

    /// Passes a window event to AccessKit, before the window handles the event.
    pub(crate) fn event(&mut self, window: &Window, event: &WindowEvent) {
        if let Some(open) = &mut self.0 {
            open.adapter.process_event(window, event);
        }
    }
}

/// Carries out a reader's request on the tab or pane of a node.
pub(crate) fn choose(node: u64, cx: &mut Cx<'_>) {
    match target(node) {
        Some(Target::Tab(id)) => cx.report(cx.mux.activate_tab(TabId(id))),
        Some(Target::Pane(id)) => cx.report(cx.mux.focus(PaneId(id))),
        None => {}
    }
}

/// Whether a session bus exists, which readers on Linux use to connect. Always true on other systems.
pub(crate) fn has_bus() -> bool {
    if !cfg!(all(unix, not(target_os = "macos"))) {
        return true;
    }
    let socket = |folder: std::ffi::OsString| std::path::Path::new(&folder).join("bus").exists();
    std::env::var_os("DBUS_SESSION_BUS_ADDRESS").is_some()
        || std::env::var_os("XDG_RUNTIME_DIR").is_some_and(socket)
}
