//! What screen readers and magnifiers are told (AccessKit): the text in sight with its cursor and selection, the tabs, and
//! whatever lies over them.
//!
//! Owns when it is told; what is told is `access/tree.rs`. Nothing is built while nobody listens; what changed between two
//! trees, and so what is new output, AccessKit finds out.

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

/// The way to the platform's accessibility.
#[derive(Default)]
pub(super) struct Access(Option<Open>);

struct Open {
    adapter: Adapter,
    /// A reader came that knows nothing yet. Set and taken under the adapter's own lock.
    is_new: Arc<AtomicBool>,
    /// What the reader knows.
    told: Told,
}

/// Hears of a reader on a thread of AccessKit's.
struct Ear {
    inbox: Arc<Inbox>,
    is_new: Arc<AtomicBool>,
}

impl ActivationHandler for Ear {
    fn request_initial_tree(&mut self) -> Option<accesskit::TreeUpdate> {
        self.is_new.store(true, Ordering::Relaxed);
        // Told with the next picture.
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
    /// For a window that is not shown yet. Where there is no bus that a reader could be on, there is nothing to it.
    pub(super) fn start(event_loop: &ActiveEventLoop, window: &Window, inbox: &Arc<Inbox>) -> Self {
        if !has_bus() {
            return Self(None);
        }
        let is_new = Arc::new(AtomicBool::new(false));
        let ear = || Ear { inbox: Arc::clone(inbox), is_new: Arc::clone(&is_new) };
        let adapter = Adapter::with_direct_handlers(event_loop, window, ear(), ear(), ear());
        Self(Some(Open { adapter, is_new, told: Told::default() }))
    }

    /// An event of the window, before it is handled.
    pub(super) fn event(&mut self, window: &Window, event: &WindowEvent) {
        if let Some(open) = &mut self.0 {
            open.adapter.process_event(window, event);
        }
    }
}

/// Whether there is a session bus, which readers on Linux are reached by; elsewhere the system is asked.
pub(super) fn has_bus() -> bool {
    if !cfg!(all(unix, not(target_os = "macos"))) {
        return true;
    }
    let socket = |folder: std::ffi::OsString| std::path::Path::new(&folder).join("bus").exists();
    std::env::var_os("DBUS_SESSION_BUS_ADDRESS").is_some()
        || std::env::var_os("XDG_RUNTIME_DIR").is_some_and(socket)
}

impl App {
    /// Tells readers, if there are any, what is shown now.
    pub(super) fn tell_readers(&mut self, layout: &Layout, placed: &[(PaneId, Rect)]) {
        let Some(mut open) = self.access.0.take() else { return };
        let Open { adapter, is_new, told } = &mut open;
        // AccessKit takes for new whatever lies between the first and the last letter that differ: of a screen that
        // scrolled, everything. So what left it goes first, and what came is then all that is new.
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

    /// A reader wants something done to what a node stands for.
    pub(super) fn reader_asks(&mut self, node: u64) {
        match target(node) {
            Some(Target::Tab(id)) => self.report(self.mux.activate_tab(TabId(id))),
            Some(Target::Pane(id)) => self.report(self.mux.focus(PaneId(id))),
            None => {}
        }
    }
}
