//! `tmux.list`: everything that targets and formats need, read at once.

use std::time::{SystemTime, UNIX_EPOCH};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use unterm_mux::{ExitStatus, PaneState};
use unterm_term::{LineId, Modes, MouseEncoding, MouseTracking, ScreenKind};

use crate::{
    caller::Caller,
    error::Result,
    methods::{Context, Group, Method, params::NoParams},
    services::records::workspace::TabPart,
};

/// `tmux.list`.
pub struct List;

/// The tabs and panes that a caller reaches.
#[derive(Deserialize, Serialize, JsonSchema)]
pub struct Listing {
    /// The instance's id.
    pub instance: String,
    /// The path of the instance's socket. Empty if there is none.
    pub socket: String,
    /// The process id of the instance.
    pub pid: u32,
    /// Whether the instance has a window.
    pub has_window: bool,
    /// The tabs, in their order.
    pub tabs: Vec<Tab>,
    /// The active tab.
    pub active: Option<u64>,
    /// The panes of the tabs.
    pub panes: Vec<Pane>,
}

/// A tab.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Tab {
    /// The tab's id.
    pub id: u64,
    /// The title that the user or a caller set.
    pub title: Option<String>,
    /// The focused pane.
    pub focused: u64,
    /// Whether the focused pane fills the tab.
    pub zoomed: bool,
    /// The panes, and how they are split.
    pub root: TabPart,
}

/// A pane.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct Pane {
    /// The pane's number.
    pub id: u64,
    pub title: String,
    pub cols: u16,
    pub rows: u16,
    pub cell_width: u16,
    pub cell_height: u16,
    pub cursor_x: u16,
    pub cursor_y: u16,
    /// The character below the cursor.
    pub cursor_character: String,
    pub cursor_visible: bool,
    /// The name of the foreground process.
    pub command: String,
    /// The command that the pane was started with. Empty for the default shell.
    pub start_command: String,
    /// The working directory. Empty if unknown.
    pub cwd: String,
    pub pid: Option<i32>,
    pub tty: String,
    pub is_dead: bool,
    /// Whether the pane closes when its program ends.
    pub closes: bool,
    pub exit_code: Option<i32>,
    pub exit_signal: Option<i32>,
    /// When the program last printed, or received input, in seconds since 1970.
    pub activity: i64,
    pub history_size: usize,
    pub history_limit: usize,
    pub is_alternate: bool,
    pub app_cursor: bool,
    pub app_keypad: bool,
    pub insert: bool,
    pub origin: bool,
    pub wrap: bool,
    /// `press`, `click`, `drag`, `motion`, or empty.
    pub mouse: String,
    /// `sgr`, `utf8`, or empty.
    pub mouse_encoding: String,
    /// The first row of the scroll region, from 0.
    pub region_top: u16,
    /// The last row of the scroll region, from 0.
    pub region_bottom: u16,
}

impl Pane {
    fn of(context: &Context, pane: &unterm_mux::Pane) -> Self {
        let mut row = Self {
            id: pane.id().0,
            title: pane.title(),
            cwd: pane.cwd_path().map(|cwd| cwd.display().to_string()).unwrap_or_default(),
            pid: pane.process().pid(),
            tty: pane.process().tty().map(|tty| tty.display().to_string()).unwrap_or_default(),
            history_limit: context.mux.options().term.scrollback,
            ..Self::default()
        };
        row.command = pane.program_name();
        if let Some((program, args)) = pane.command() {
            // A command in one piece was started by `sh -c`.
            row.start_command = match args {
                [flag, script] if flag == "-c" => script.clone(),
                args => std::iter::once(program)
                    .chain(args.iter().map(String::as_str))
                    .collect::<Vec<_>>()
                    .join(" "),
            };
        }
        let status = match pane.state() {
            PaneState::Running => None,
            PaneState::Exited(status) => Some(status),
            PaneState::Removed => pane.process().exit_status(),
        };
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let activity = since.saturating_sub(pane.silence()).as_secs();
        row.activity = i64::try_from(activity).unwrap_or(i64::MAX);
        row.is_dead = pane.state() != PaneState::Running;
        row.closes = pane.closes_on_exit();
        match status {
            Some(ExitStatus::Code(code)) => row.exit_code = Some(code),
            Some(ExitStatus::Signal(signal)) => row.exit_signal = Some(signal),
            Some(ExitStatus::Lost) | None => {}
        }
        let term = pane.term();
        let (size, cursor, modes) = (term.size(), term.cursor(), term.modes());
        (row.cols, row.rows) = (size.cols, size.rows);
        (row.cell_width, row.cell_height) = (size.cell_width, size.cell_height);
        (row.cursor_x, row.cursor_y) = (cursor.col, cursor.row);
        row.cursor_character = " ".to_owned();
        let line = LineId(term.live_top().0 + u64::from(cursor.row));
        term.row_cells(line, |col, text| {
            if col == cursor.col && !text.is_empty() {
                text.clone_into(&mut row.cursor_character);
            }
        });
        row.cursor_visible = cursor.visible;
        row.history_size = term.history_rows();
        row.is_alternate = term.screen() == ScreenKind::Alternate;
        row.app_cursor = modes.contains(Modes::APP_CURSOR);
        row.app_keypad = modes.contains(Modes::APP_KEYPAD);
        row.insert = modes.contains(Modes::INSERT);
        row.origin = modes.contains(Modes::ORIGIN);
        row.wrap = modes.contains(Modes::AUTO_WRAP);
        row.mouse = match term.mouse_tracking() {
            MouseTracking::Off => "",
            MouseTracking::Press => "press",
            MouseTracking::Click => "click",
            MouseTracking::Drag => "drag",
            MouseTracking::Motion => "motion",
        }
        .to_owned();
        row.mouse_encoding = match term.mouse_encoding() {
            MouseEncoding::Sgr | MouseEncoding::SgrPixels => "sgr",
            MouseEncoding::Utf8 => "utf8",
            MouseEncoding::Legacy | MouseEncoding::Urxvt => "",
        }
        .to_owned();
        (row.region_top, row.region_bottom) = term.scroll_region();
        row
    }
}

/// The first pane of a part: at the left or top of each split.
fn first(part: &TabPart) -> u64 {
    match part {
        TabPart::Split { first: part, .. } => first(part),
        TabPart::Session { id } => *id,
    }
}

impl Method for List {
    const NAME: &'static str = "tmux.list";
    const GROUP: Group = Group::Instance;
    const REVEALS: crate::authority::Subjects = crate::authority::Subjects::REACHED;
    const DOC: &'static str = "Lists the tabs and panes, with all values that formats name.";
    const NAMED: &'static [&'static str] = &[];
    type Params<'a> = NoParams;
    type Reply = Listing;

    async fn call<'a>(context: &'a Context, caller: &'a Caller, _: NoParams) -> Result<Listing> {
        let layout = context.mux.layout();
        let tabs = layout.tabs.iter().filter_map(|tab| {
            let root = TabPart::of(&tab.root).of_some(&|id| caller.reaches(id))?;
            let focused = match caller.reaches(tab.focused.0) {
                true => tab.focused.0,
                false => first(&root),
            };
            let (id, title, zoomed) = (tab.id.0, tab.title.clone(), tab.zoomed);
            Some(Tab { id, title, focused, zoomed, root })
        });
        let panes = context.mux.panes();
        let panes = panes.iter().filter(|pane| caller.reaches(pane.id().0));
        let record = context.registration.record();
        Ok(Listing {
            instance: record.id.clone(),
            socket: record.socket.clone().unwrap_or_default(),
            pid: std::process::id(),
            has_window: context.host.has_window(),
            tabs: tabs.collect(),
            active: layout.active_tab().map(|tab| tab.id.0),
            panes: panes.map(|pane| Pane::of(context, pane)).collect(),
        })
    }
}
