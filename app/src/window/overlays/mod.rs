//! The overlays over the panes: search, hint labels, panel, menu, questions, messages, the link under the pointer, and
//! the debug overlay.
//!
//! Owns the content of the overlays. `surface/stack.rs` owns their order.
//! Never acts on panes: a choice is a value, which the app carries out.

pub(crate) mod about;
pub(crate) mod agent_answers;
pub(crate) mod agent_questions;
pub(crate) mod answer;
pub(crate) mod canvas;
pub(crate) mod choice;
pub(crate) mod clipboard_requests;
pub(crate) mod close;
pub(crate) mod confirm;
pub(crate) mod context_menu;
pub(crate) mod copy_mode;
pub(crate) mod debug;
pub(crate) mod emoji;
pub(crate) mod hints;
pub(crate) mod hover;
pub(crate) mod hovering;
pub(crate) mod inbox_panel;
pub(crate) mod lists;
pub(crate) mod menu;
pub(crate) mod overlay;
pub(crate) mod palette;
pub(crate) mod panel;
pub(crate) mod paste_question;
pub(crate) mod pasting;
pub(crate) mod picker;
pub(crate) mod receiver;
pub(crate) mod search;
pub(crate) mod searching;
pub(crate) mod sequence;
pub(crate) mod shells;
pub(crate) mod targets;
pub(crate) mod text_target;
pub(crate) mod toast;
pub(crate) mod tour;
pub(crate) mod transfer_question;

use unterm_mux::TabId;
use unterm_renderer::{PixelRect, Renderer};

use crate::window::cx::Cx;
use crate::window::hovered_link::HoveredLink;
use crate::window::overlays::{
    agent_questions::ShownQuestions,
    confirm::{Confirm, Questions},
    debug::Debug,
    hints::Hints,
    inbox_panel::InboxPanel,
    menu::{Menu, Row},
    picker::Picker,
    searching::Searching,
    toast::Toasts,
};
use crate::window::workspace::blocks::mouse::HoveredBlock;

#[derive(Default)]
pub(crate) struct Overlays {
    pub(crate) search: Searching,
    /// The hint labels, if they are shown.
    pub(crate) hints: Option<Hints>,
    /// The link under the pointer.
    pub(crate) hovered: Option<HoveredLink>,
    pub(crate) block_hover: HoveredBlock,
    /// The inbox panel, if it is open.
    pub(crate) inbox: Option<InboxPanel>,
    /// The panel, if it is open.
    pub(crate) picker: Option<Picker>,
    /// The ids of entries that were chosen in the command palette, the latest last.
    used_entries: Vec<String>,
    pub(crate) questions: Questions,
    /// The state of the agents' questions that were shown.
    pub(crate) asked: ShownQuestions,
    /// The menu, if it is open.
    pub(crate) menu: Option<Menu>,
    pub(crate) toasts: Toasts,
    /// The debug overlay, if it is open.
    pub(crate) debug: Option<Debug>,
}

impl Overlays {
    /// The questions, if one is open and not hidden for the moment. A question that lets keys run actions is hidden
    /// while a panel, a search, hint labels or a menu is open, which such a key opened.
    pub(crate) fn open_questions(&self) -> Option<&Questions> {
        let is_tried = self.picker.is_some()
            || self.search.is_open()
            || self.hints.is_some()
            || self.menu.is_some();
        let waits = is_tried && self.questions.lets_keys_act();
        Some(&self.questions).filter(|questions| questions.is_open() && !waits)
    }

    /// Shows labels over the visible targets of the focused pane. A chosen target is copied if `copies` is set, and
    /// otherwise opened.
    pub(crate) fn show_hints(&mut self, copies: bool, cx: &mut Cx<'_>) {
        self.hints = Hints::over_targets(copies, cx).or(self.hints.take());
    }

    /// Queues a question for the user. If too many questions are open, rejects it with a message.
    pub(crate) fn ask(&mut self, confirm: Confirm, cx: &mut Cx<'_>) {
        if let Err(question) = self.questions.ask(confirm) {
            let why = "Not done. Answer the open questions first.";
            cx.refuse("questions", format!("{question}\n{why}"));
        }
    }

    /// Opens a menu next to a rectangle, which may be a point of size 0. The menu's actions apply to the tab `target`, or
    /// to the active tab if that is `None`.
    pub(crate) fn open_menu(
        &mut self,
        (anchor, rows): (PixelRect, Vec<Row>),
        target: Option<TabId>,
        renderer: &mut Renderer,
        cx: &Cx<'_>,
    ) {
        if let Some(geometry) = &cx.geometry {
            let pointer = cx.pointer.position;
            self.menu = Some(Menu::new(rows, anchor, target, pointer, geometry, renderer));
        }
    }

    /// Opens or closes the debug overlay.
    pub(crate) fn toggle_debug(&mut self) {
        self.debug = self.debug.is_none().then(Debug::default);
    }
}
