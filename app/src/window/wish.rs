//! The requests of a part of the window to the app, as values.
//!
//! A part changes its own state. If a request concerns other parts, the part returns a [`Wish`] through its
//! [`Cx`](crate::window::cx::Cx). `app/wishes.rs` carries wishes out, after the part has finished.

use std::sync::Arc;

use unterm_mux::{MuxError, PaneId, TabId, input::Modifiers};
use unterm_term::{Palette, Point};

use crate::action::Action;
use crate::desktop::{Key, Note};
use crate::window::{
    hovered_link::HoveredLink,
    overlays::{answer::Answer, inbox_panel::message::InboxRequest},
    ui::geometry::SidebarSize,
    workspace::{blocks::action::BlockAction, closing::Closing},
};

/// A request of a part of the window to the app.
#[derive(Debug)]
pub(crate) enum Wish {
    /// Run an action that the user chose. If it applies to tabs, it applies to the given tab, or to the active tab.
    Act(Option<TabId>, Action),
    /// Run the action that a key is bound to.
    ActByKey(Action, Modifiers),
    /// Carry out the answer of a button of a question.
    Answer(Answer),
    /// Show a notification, with the tab of its pane.
    Announce(Box<Note>),
    /// Answer the agents' question of this number. `None` declines to answer.
    AnswerAgent(u64, Option<String>),
    /// Run an action on a command of a pane, given by the command's id.
    Command(PaneId, u64, BlockAction),
    /// Show an error: its topic and its text.
    Complain(&'static str, String),
    /// Open a file beside a pane in the editor. The text is a name, which a line and a column may follow.
    Edit(PaneId, String),
    /// Close panes, tabs or the window. Ask the user first if programs run in them.
    Close(Closing),
    /// Send bytes to a pane's program, after showing the pane's live screen. The bytes count as the user's input.
    Enter(PaneId, Vec<u8>),
    /// Close panes, tabs or the window without a question.
    CloseNow(Closing),
    /// Close the search, if it belongs to copy mode.
    EndCopySearch,
    /// Show the configured theme again.
    EndThemePreview,
    /// Carry out a request of the inbox panel.
    Inbox(InboxRequest),
    /// Move the cursor of copy mode from `at` by `count` matches. If no search is open, search for the last pattern.
    NextMatch { pane: PaneId, at: Point, forward: bool, count: u32 },
    /// Show a message that expires: its topic and its text.
    Notify(&'static str, String),
    /// Write the size of the sidebar to the configuration.
    KeepSidebarSize,
    /// Open a link or a file.
    OpenLink(HoveredLink),
    /// Open the main menu.
    OpenMainMenu,
    /// Open a tab that runs this program in the focused pane's directory.
    OpenShell(String),
    /// Open a tab with a shell in the focused pane's directory.
    OpenTab,
    /// Open the menu of a tab, at a point of the tab bar or below the tab.
    OpenTabMenu(TabId, Option<(f64, f64)>),
    /// Open a link with the desktop's default program.
    OpenTarget(String),
    /// Paste a text into a pane.
    Paste(PaneId, String),
    /// Show the colors of a theme in all panes, without changing the configuration.
    PreviewTheme(Arc<Palette>),
    /// Record that an entry of the palette was used. Of two entries that match equally well, the palette lists the more
    /// recently used entry first.
    RecordEntry(String),
    /// Show why an action is not possible now: the topic and the reason. A caller that requested the action receives
    /// the reason.
    Refuse(&'static str, String),
    /// Show an error that the mux returned.
    Report(MuxError),
    /// Open a search of a pane. `origin` is the position of copy mode's cursor.
    SearchFrom { pane: PaneId, origin: Point, forward: bool },
    /// Write the name of a theme to the configuration.
    SetTheme(String),
    /// Show the answers to the agents' question in the message.
    ShowAnswers,
    /// Show a notification in the window.
    ShowNotification(Key, String),
    /// Show a page of the manual.
    ShowManual(&'static str),
    /// Show a pane: its tab, and the window.
    ShowPane(PaneId),
    /// Give the sidebar this size, without changing the configuration.
    SizeSidebar(SidebarSize),
    /// Type bytes into a pane.
    Type(PaneId, Vec<u8>),
    /// Type a character that the user picked from a list.
    TypeCharacter(String),
}
