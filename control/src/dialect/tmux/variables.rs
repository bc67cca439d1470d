//! The variables of formats.

use std::collections::BTreeMap;

use super::{
    formats::{Each, Values},
    options::Owner,
    state::State,
    world::{Session, Target, World},
};

/// The version of tmux whose behavior this dialect has.
const VERSION: &str = "3.3a";

/// The output of `tmux -V`, without the line end.
pub fn program_version() -> String {
    format!("tmux {VERSION}")
}

/// The names of all variables, sorted.
#[rustfmt::skip]
pub static VARIABLES: &[&str] = &[
    "active_window_index", "alternate_on", "alternate_saved_x", "alternate_saved_y", "client_activity",
    "client_cell_height", "client_cell_width", "client_control_mode", "client_created", "client_flags",
    "client_height", "client_key_table", "client_last_session", "client_name", "client_pid", "client_prefix",
    "client_readonly", "client_session", "client_termname", "client_termtype", "client_tty", "client_uid",
    "client_user", "client_utf8", "client_width", "config_files", "current_file", "cursor_character", "cursor_flag",
    "cursor_x", "cursor_y", "history_bytes", "history_limit", "history_size", "host", "host_short", "insert_flag",
    "keypad_cursor_flag", "keypad_flag", "last_window_index", "mouse_all_flag", "mouse_any_flag",
    "mouse_button_flag", "mouse_sgr_flag", "mouse_standard_flag", "mouse_utf8_flag", "next_session_id",
    "origin_flag", "pane_active", "pane_at_bottom", "pane_at_left", "pane_at_right", "pane_at_top", "pane_bg",
    "pane_bottom", "pane_current_command", "pane_current_path", "pane_dead", "pane_dead_signal",
    "pane_dead_status", "pane_fg", "pane_format", "pane_height", "pane_id", "pane_in_mode", "pane_index",
    "pane_input_off", "pane_last", "pane_left", "pane_marked", "pane_marked_set", "pane_mode", "pane_path",
    "pane_pid", "pane_pipe", "pane_right", "pane_search_string", "pane_start_command", "pane_start_path",
    "pane_synchronized", "pane_tabs", "pane_title", "pane_top", "pane_tty", "pane_width", "pid",
    "rectangle_toggle", "scroll_position", "scroll_region_lower", "scroll_region_upper", "selection_present",
    "server_sessions", "session_activity", "session_alerts", "session_attached", "session_attached_list",
    "session_created", "session_format", "session_group", "session_group_attached",
    "session_group_attached_list", "session_group_list", "session_group_many_attached", "session_group_size",
    "session_grouped", "session_id", "session_last_attached", "session_many_attached", "session_marked",
    "session_name", "session_path", "session_stack", "session_windows", "socket_path", "start_time", "uid",
    "user", "version", "window_active", "window_active_clients", "window_active_clients_list",
    "window_active_sessions", "window_active_sessions_list", "window_activity", "window_activity_flag",
    "window_bell_flag", "window_bigger", "window_cell_height", "window_cell_width", "window_end_flag",
    "window_flags", "window_format", "window_height", "window_id", "window_index", "window_last_flag",
    "window_layout", "window_linked", "window_linked_sessions", "window_linked_sessions_list",
    "window_marked_flag", "window_name", "window_offset_x", "window_offset_y", "window_panes",
    "window_raw_flags", "window_silence_flag", "window_stack_index", "window_start_flag",
    "window_visible_layout", "window_width", "window_zoomed_flag", "wrap_flag",
];

/// The client whose command is executed.
#[derive(Clone, Debug, Default)]
pub struct ClientValues {
    /// The process id.
    pub pid: u32,
    /// The terminal. Empty if there is none.
    pub tty: String,
    /// The value of `TERM`.
    pub term: String,
    /// The user id.
    pub uid: u32,
    /// The user name.
    pub user: String,
    /// The host name.
    pub host: String,
    /// The path of the server's socket.
    pub socket: String,
}

/// The values of a pane, its window and its session.
pub struct Scope<'a> {
    /// The sessions.
    pub world: &'a World,
    /// The options.
    pub state: &'a State,
    /// The client.
    pub client: &'a ClientValues,
    /// The pane. `None` if there is no session.
    pub target: Option<Target>,
    /// Values that override all others, such as those of a buffer.
    pub more: BTreeMap<&'static str, String>,
}

fn flag(value: bool) -> String {
    if value { "1" } else { "0" }.to_owned()
}

/// The names of sessions, with commas between them.
fn names<'s>(sessions: impl Iterator<Item = &'s Session>) -> String {
    sessions.map(|session| session.name.as_str()).collect::<Vec<_>>().join(",")
}

impl Scope<'_> {
    /// The owners of options, the nearest first.
    fn owners(&self) -> Vec<Owner> {
        let of_target = self.target.map(|target| {
            let pane = Owner::Pane(self.world.place(target).id);
            let window = Owner::Window(self.world.window(target).id);
            [pane, window, Owner::Session(self.world.session(target).id)]
        });
        let all = [Owner::Windows, Owner::Sessions, Owner::Server];
        of_target.into_iter().flatten().chain(all).collect()
    }

    fn at(&self, target: Target) -> Scope<'_> {
        Scope { target: Some(target), more: BTreeMap::new(), ..*self }
    }

    fn of_server(&self, name: &str) -> Option<String> {
        let client = self.client;
        Some(match name {
            "version" => VERSION.to_owned(),
            "host" => client.host.clone(),
            "host_short" => client.host.split('.').next().unwrap_or_default().to_owned(),
            "pid" => self.world.listing.pid.to_string(),
            "socket_path" => client.socket.clone(),
            "start_time" => self.world.started.to_string(),
            "uid" => client.uid.to_string(),
            "user" => client.user.clone(),
            "server_sessions" => self.world.sessions.len().to_string(),
            "next_session_id" => format!("${}", self.world.next_session),
            "config_files" | "current_file" => String::new(),
            _ => return None,
        })
    }

    fn of_client(&self, name: &str) -> Option<String> {
        let client = self.client;
        let session = self.target.map(|target| self.world.session(target));
        Some(match name {
            "client_name" | "client_tty" => client.tty.clone(),
            "client_pid" => client.pid.to_string(),
            "client_uid" => client.uid.to_string(),
            "client_user" => client.user.clone(),
            "client_termname" => client.term.clone(),
            "client_termtype" => "Unterm".to_owned(),
            "client_session" => session?.name.clone(),
            "client_flags" => "attached,focused,UTF-8".to_owned(),
            "client_utf8" => flag(true),
            "client_key_table" => "root".to_owned(),
            "client_control_mode" | "client_prefix" | "client_readonly" => flag(false),
            "client_created" | "client_activity" => self.world.started.to_string(),
            "client_width" => self.world.window(self.target?).area.0.to_string(),
            "client_height" => self.world.window(self.target?).area.1.to_string(),
            "client_cell_width" => self.world.pane(self.target?).cell_width.to_string(),
            "client_cell_height" => self.world.pane(self.target?).cell_height.to_string(),
            "client_last_session" => String::new(),
            _ => return None,
        })
    }

    fn of_session(&self, target: Target, name: &str) -> Option<String> {
        let session = self.world.session(target);
        let current = &session.windows[session.current];
        Some(match name {
            "session_id" => format!("${}", session.id),
            "session_name" => session.name.clone(),
            "session_windows" => session.windows.len().to_string(),
            "session_created" => session.created.to_string(),
            "session_activity" => {
                let windows = (0..session.windows.len()).map(|window| Target { window, ..target });
                let last = windows.map(|window| self.activity(window)).max();
                last.unwrap_or_default().to_string()
            }
            "session_attached" => (usize::from(session.is_attached) + session.clients).to_string(),
            "session_last_attached" if session.is_attached || session.clients > 0 => {
                self.world.started.to_string()
            }
            "session_path" => match session.cwd.is_empty() {
                true => self.world.pane(self.world.of_session(target.session)).cwd.clone(),
                false => session.cwd.clone(),
            },
            "session_many_attached" => flag(usize::from(session.is_attached) + session.clients > 1),
            "session_grouped" => flag(session.group.is_some()),
            "session_group" => session.group.clone()?,
            name if name.starts_with("session_group_") => {
                session.group.as_ref()?;
                let of: Vec<_> = self.world.group(target.session).collect();
                let attached = || of.iter().filter(|it| it.is_attached || it.clients > 0);
                let count: usize =
                    of.iter().map(|it| usize::from(it.is_attached) + it.clients).sum();
                match name {
                    "session_group_size" => of.len().to_string(),
                    "session_group_list" => names(of.iter().copied()),
                    "session_group_attached" => count.to_string(),
                    "session_group_many_attached" => flag(count > 1),
                    "session_group_attached_list" => names(attached().copied()),
                    _ => return None,
                }
            }
            "session_format" => flag(false),
            "session_marked" => {
                let marked = self.world.marked.and_then(|marked| self.world.of_pane(marked));
                flag(marked.is_some_and(|marked| marked.session == target.session))
            }
            "session_alerts" | "session_attached_list" => String::new(),
            "session_stack" => {
                let stack = std::iter::once(session.current).chain(session.stack.iter().copied());
                let stack: Vec<_> = stack.map(|at| session.windows[at].index.to_string()).collect();
                stack.join(",")
            }
            "active_window_index" => current.index.to_string(),
            "last_window_index" => session.windows.last()?.index.to_string(),
            _ => return None,
        })
    }

    /// When a pane of a window was last active, in seconds since 1970.
    fn activity(&self, target: Target) -> i64 {
        let panes = self.world.window(target).panes.iter();
        panes.map(|pane| self.world.listing.panes[pane.row].activity).max().unwrap_or_default()
    }

    /// The sessions whose current window this is.
    fn active_in(&self, window: u64) -> impl Iterator<Item = &Session> {
        let links = self.world.links(window);
        links.filter(|(session, at)| session.current == *at).map(|(session, _)| session)
    }

    fn of_window(&self, target: Target, name: &str) -> Option<String> {
        let (session, window) = (self.world.session(target), self.world.window(target));
        let is_current = session.current == target.window;
        let is_last = session.last() == Some(target.window);
        let marked = self.world.marked;
        let is_marked = marked.is_some_and(|marked| window.panes.iter().any(|p| p.id == marked));
        Some(match name {
            "window_id" => format!("@{}", window.id),
            "window_index" => window.index.to_string(),
            "window_name" => window.name.clone(),
            "window_panes" => window.panes.len().to_string(),
            "window_width" => window.area.0.to_string(),
            "window_height" => window.area.1.to_string(),
            "window_cell_width" => self.world.pane(target).cell_width.to_string(),
            "window_cell_height" => self.world.pane(target).cell_height.to_string(),
            "window_layout" => window.layout(false),
            "window_visible_layout" => window.layout(true),
            "window_active" => flag(is_current),
            "window_last_flag" => flag(is_last),
            "window_zoomed_flag" => flag(window.is_zoomed),
            "window_start_flag" => flag(target.window == 0),
            "window_end_flag" => flag(target.window + 1 == session.windows.len()),
            "window_marked_flag" => flag(is_marked),
            "window_flags" | "window_raw_flags" => {
                let all = [(is_current, '*'), (is_last && !is_current, '-'), (is_marked, 'M')];
                let zoomed = [(window.is_zoomed, 'Z')];
                let set = all.into_iter().chain(zoomed).filter(|(is_set, _)| *is_set);
                set.map(|(_, flag)| flag).collect()
            }
            "window_activity" => self.activity(target).to_string(),
            "window_activity_flag"
            | "window_bell_flag"
            | "window_silence_flag"
            | "window_bigger"
            | "window_format" => flag(false),
            "window_linked" => flag(self.world.is_linked(target)),
            "window_linked_sessions" => self.world.links(window.id).count().to_string(),
            "window_linked_sessions_list" => {
                names(self.world.links(window.id).map(|(session, _)| session))
            }
            "window_active_sessions" => self.active_in(window.id).count().to_string(),
            "window_active_sessions_list" => names(self.active_in(window.id)),
            "window_active_clients" => u8::from(is_current && session.is_attached).to_string(),
            "window_active_clients_list" | "window_offset_x" | "window_offset_y" => String::new(),
            "window_stack_index" => {
                let place = session.stack.iter().position(|at| *at == target.window);
                place.map_or(0, |place| place + 1).to_string()
            }
            _ => return None,
        })
    }

    fn of_pane(&self, target: Target, name: &str) -> Option<String> {
        let window = self.world.window(target);
        let (place, pane) = (self.world.place(target), self.world.pane(target));
        let (rect, area) = (place.rect, window.area);
        let mouse = pane.mouse.as_str();
        Some(match name {
            "pane_id" => format!("%{}", pane.id),
            "pane_index" => place.index.to_string(),
            "pane_title" => pane.title.clone(),
            "pane_current_path" | "pane_path" => pane.cwd.clone(),
            "pane_start_path" => pane.cwd.clone(),
            "pane_current_command" => pane.command.clone(),
            "pane_start_command" => pane.start_command.clone(),
            "pane_pid" => pane.pid.map(|pid| pid.to_string()).unwrap_or_default(),
            "pane_tty" => pane.tty.clone(),
            "pane_width" => rect.width.to_string(),
            "pane_height" => rect.height.to_string(),
            "pane_left" => rect.x.to_string(),
            "pane_top" => rect.y.to_string(),
            "pane_right" => (rect.x + rect.width).saturating_sub(1).to_string(),
            "pane_bottom" => (rect.y + rect.height).saturating_sub(1).to_string(),
            "pane_at_left" => flag(rect.x == 0),
            "pane_at_top" => flag(rect.y == 0),
            "pane_at_right" => flag(rect.x + rect.width == area.0),
            "pane_at_bottom" => flag(rect.y + rect.height == area.1),
            "pane_active" => flag(pane.id == window.active),
            "pane_last" => flag(Some(pane.id) == window.last),
            "pane_marked" => flag(Some(pane.id) == self.world.marked),
            "pane_marked_set" => flag(self.world.marked.is_some()),
            "pane_dead" => flag(pane.is_dead),
            "pane_dead_status" => pane.exit_code.map(|code| code.to_string()).unwrap_or_default(),
            "pane_dead_signal" => pane.exit_signal.map(|it| it.to_string()).unwrap_or_default(),
            "pane_pipe" => flag(self.state.pipes.has(pane.id)),
            "pane_input_off" => flag(self.state.input_off.contains(&pane.id)),
            "pane_in_mode" | "pane_synchronized" | "selection_present" | "rectangle_toggle"
            | "alternate_saved_x" | "alternate_saved_y" => flag(false),
            "pane_mode" | "pane_search_string" | "pane_tabs" | "scroll_position" => String::new(),
            "pane_format" => flag(true),
            "pane_fg" | "pane_bg" => "default".to_owned(),
            "cursor_character" => pane.cursor_character.clone(),
            "cursor_x" => pane.cursor_x.to_string(),
            "cursor_y" => pane.cursor_y.to_string(),
            "cursor_flag" => flag(pane.cursor_visible),
            "history_size" => pane.history_size.to_string(),
            "history_limit" => pane.history_limit.to_string(),
            "history_bytes" => (pane.history_size * usize::from(pane.cols) * 8).to_string(),
            "alternate_on" => flag(pane.is_alternate),
            "insert_flag" => flag(pane.insert),
            "origin_flag" => flag(pane.origin),
            "wrap_flag" => flag(pane.wrap),
            "keypad_cursor_flag" => flag(pane.app_cursor),
            "keypad_flag" => flag(pane.app_keypad),
            "mouse_any_flag" => flag(!mouse.is_empty()),
            "mouse_standard_flag" => flag(mouse == "click" || mouse == "press"),
            "mouse_button_flag" => flag(mouse == "drag"),
            "mouse_all_flag" => flag(mouse == "motion"),
            "mouse_sgr_flag" => flag(pane.mouse_encoding == "sgr"),
            "mouse_utf8_flag" => flag(pane.mouse_encoding == "utf8"),
            "scroll_region_upper" => pane.region_top.to_string(),
            "scroll_region_lower" => pane.region_bottom.to_string(),
            _ => return None,
        })
    }
}

impl Values for Scope<'_> {
    fn value(&self, name: &str) -> Option<String> {
        if let Some(value) = self.more.get(name) {
            return Some(value.clone());
        }
        let is_option = name.starts_with('@') || name.contains('-') || name == "status";
        if is_option && let Some(value) = self.state.options.value(&self.owners(), name) {
            return Some(value);
        }
        let of_target = self.target.and_then(|target| {
            let pane = || self.of_pane(target, name);
            let window = || self.of_window(target, name);
            pane().or_else(window).or_else(|| self.of_session(target, name))
        });
        let known = of_target.or_else(|| self.of_server(name)).or_else(|| self.of_client(name));
        known.or_else(|| {
            let owners = self.owners();
            self.state
                .options
                .value(&owners, name)
                .or_else(|| self.state.env.get(name).and_then(|variable| variable.value.clone()))
        })
    }

    fn each(&self, kind: Each) -> Vec<(bool, Box<dyn Values + '_>)> {
        let Some(now) = self.target else { return Vec::new() };
        let world = self.world;
        let targets: Vec<(bool, Target)> = match kind {
            Each::Session => (0..world.sessions.len())
                .map(|session| (session == now.session, world.of_session(session)))
                .collect(),
            Each::Window => (0..world.session(now).windows.len())
                .map(|window| {
                    let is_current = world.session(now).current == window;
                    (is_current, world.of_window(now.session, window))
                })
                .collect(),
            Each::Pane => (0..world.window(now).panes.len())
                .map(|pane| {
                    let target = Target { pane, ..now };
                    (world.place(target).id == world.window(now).active, target)
                })
                .collect(),
        };
        let scopes = targets.into_iter().map(|(is_current, target)| {
            (is_current, Box::new(self.at(target)) as Box<dyn Values + '_>)
        });
        scopes.collect()
    }

    fn has_name(&self, kind: Each, name: &str) -> bool {
        match (kind, self.target) {
            (Each::Session, _) => self.world.sessions.iter().any(|session| session.name == name),
            (_, Some(target)) => {
                self.world.session(target).windows.iter().any(|window| window.name == name)
            }
            (_, None) => false,
        }
    }

    fn rows(&self) -> Vec<String> {
        self.world.rows.clone()
    }
}
