//! Reports the window to screen readers and magnifiers through AccessKit: the visible text with cursor and selection,
//! the tabs, and any overlays.
//!
//! Owns when updates are sent; `access/tree.rs` builds them. Without a reader, no tree is built. AccessKit itself
//! compares successive trees to detect new output.

mod run;
mod tree;

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use accesskit::{Action, ActionHandler, ActionRequest, ActivationHandler, DeactivationHandler};
use accesskit_winit::Adapter;
use unterm_mux::{Layout, PaneId, Rect, TabId};
use winit::{event::WindowEvent, event_loop::ActiveEventLoop, window::Window};

use super::{App, inbox::Inbox};
use tree::{Target, Told, target};

/// The connection to the platform's accessibility API.
#[derive(Default)]
pub(super) struct Access(Option<Open>);

struct Open {
    adapter: Adapter,
    /// A reader has connected and has no tree yet. Set and cleared under the adapter's own lock.
    is_new: Arc<AtomicBool>,
    /// What the reader was last sent.
    told: Told,
}

/// Receives a reader's requests on one of AccessKit's threads.
struct Ear {
    inbox: Arc<Inbox>,
    is_new: Arc<AtomicBool>,
}

impl ActivationHandler for Ear {
    fn request_initial_tree(&mut self) -> Option<accesskit::TreeUpdate> {
        self.is_new.store(true, Ordering::Relaxed);
        // The next repaint sends the tree.
        self.inbox.post(|news| news.reader = true);
        None
    }
}

impl ActionHandler for Ear {
    fn do_action(&mut self, request: ActionRequest) {
        if request.action == Action::Click || request.action == Action::Focus {
            self.inbox.post(|news| news.reader_asks = Some(request.target_node.0));
        }
    }
}

impl DeactivationHandler for Ear {
    fn deactivate_accessibility(&mut self) {}
}

impl Access {
    /// Must run before the window is shown. Without a session bus, no reader can connect, and this does nothing.
    pub(super) fn start(event_loop: &ActiveEventLoop, window: &Window, inbox: &Arc<Inbox>) -> Self {
        if !has_bus() {
            return Self(None);
        }
        let is_new = Arc::new(AtomicBool::new(false));
        let ear = || Ear { inbox: Arc::clone(inbox), is_new: Arc::clone(&is_new) };
        let adapter = Adapter::with_direct_handlers(event_loop, window, ear(), ear(), ear());
        Self(Some(Open { adapter, is_new, told: Told::default() }))
    }

    /// Passes on a window event, before it is handled.
    pub(super) fn event(&mut self, window: &Window, event: &WindowEvent) {
        if let Some(open) = &mut self.0 {
            open.adapter.process_event(window, event);
        }
    }
}

/// Whether a session bus exists, which readers on Linux connect through. Always true on other systems.
pub(super) fn has_bus() -> bool {
    if !cfg!(all(unix, not(target_os = "macos"))) {
        return true;
    }
    let socket = |folder: std::ffi::OsString| std::path::Path::new(&folder).join("bus").exists();
    std::env::var_os("DBUS_SESSION_BUS_ADDRESS").is_some()
        || std::env::var_os("XDG_RUNTIME_DIR").is_some_and(socket)
}

impl App {
    /// Sends connected readers the current contents of the window.
    pub(super) fn tell_readers(&mut self, layout: &Layout, placed: &[(PaneId, Rect)]) {
        let Some(mut open) = self.access.0.take() else { return };
        let Open { adapter, is_new, told } = &mut open;
        // AccessKit reports everything between the first and last differing letter as new: after a scroll, the whole
        // screen. A first update therefore removes the lines that scrolled away; the second adds only new ones.
        let mut now = None;
        adapter.update_if_active(|| {
            if is_new.swap(false, Ordering::Relaxed) {
                *told = Told::default();
            }
            let (tree, knows) = self.tree(layout, placed, told);
            match told.without_what_left(&tree, &knows) {
                Some(less) => {
                    now = Some((tree, knows));
                    less
                }
                None => {
                    *told = knows;
                    tree
                }
            }
        });
        if let Some((tree, knows)) = now {
            adapter.update_if_active(|| {
                is_new.store(false, Ordering::Relaxed);
                *told = knows;
                tree
            });
        }
        self.access.0 = Some(open);
    }

    /// Performs a reader's request on the tab or pane of a node.
    pub(super) fn reader_asks(&mut self, node: u64) {
        match target(node) {
            Some(Target::Tab(id)) => self.report(self.mux.activate_tab(TabId(id))),
            Some(Target::Pane(id)) => self.report(self.mux.focus(PaneId(id))),
            None => {}
        }
    }
}
