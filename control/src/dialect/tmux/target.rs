//! Targets: `-t session:window.pane`, ids, and names such as `{last}`.
//! <https://man.openbsd.org/tmux#COMMANDS>

use unterm_mux::Direction;

use super::{
    formats::glob,
    state::LARGEST_INDEX,
    world::{PlacedPane, Target, Window, World},
};

/// The kind of object that a command acts on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetKind {
    /// A session.
    Session,
    /// A window.
    Window,
    /// A pane.
    Pane,
}

/// Finds a target. `current`: the target that supplies the parts that are not given.
///
/// # Errors
/// There is no such session, window or pane. tmux's message.
pub fn find(
    world: &World,
    kind: TargetKind,
    text: Option<&str>,
    current: Target,
) -> Result<Target, String> {
    resolve(world, kind, text, current).map_err(|missing| missing.message)
}

/// Like [`find`], for commands that don't need the target. If the window or the pane does not exist, uses the current
/// window of the session, or the current pane of the window. `None` if the session does not exist either.
pub fn find_part(
    world: &World,
    kind: TargetKind,
    text: Option<&str>,
    current: Target,
) -> Option<Target> {
    resolve(world, kind, text, current).map_or_else(|missing| missing.part, Some)
}

/// Why there is no target.
struct Missing {
    /// tmux's message.
    message: String,
    /// The target without the part that does not exist.
    part: Option<Target>,
}

impl From<&str> for Missing {
    fn from(message: &str) -> Self {
        Self { message: message.to_owned(), part: None }
    }
}

fn resolve(
    world: &World,
    kind: TargetKind,
    text: Option<&str>,
    current: Target,
) -> Result<Target, Missing> {
    let text = text.unwrap_or_default();
    match text {
        "" => return Ok(current),
        "=" | "{mouse}" => return Err("no mouse target".into()),
        "~" | "{marked}" => {
            let marked = world.marked.and_then(|marked| world.of_pane(marked));
            return marked.ok_or_else(|| "no marked target".into());
        }
        _ => {}
    }
    let (mut session, mut window, mut pane) = (None, None, None);
    // Whether the text between `:` and `.` can only be a window.
    let is_window_only = text.contains(':');
    match text.split_once(':') {
        Some((first, rest)) => {
            session = Some(first);
            match rest.split_once('.') {
                Some((middle, last)) => (window, pane) = (Some(middle), Some(last)),
                None => window = Some(rest),
            }
        }
        None => match text.split_once('.') {
            Some((first, last)) => (window, pane) = (Some(first), Some(last)),
            None if text.starts_with('$') => session = Some(text),
            None if text.starts_with('@') => window = Some(text),
            None if text.starts_with('%') => pane = Some(text),
            None => match kind {
                TargetKind::Session => session = Some(text),
                TargetKind::Window => window = Some(text),
                TargetKind::Pane => pane = Some(text),
            },
        },
    }
    let session = session.filter(|text| !text.is_empty());
    let window = window.filter(|text| !text.is_empty());
    let pane = pane.filter(|text| !text.is_empty());

    let up_to = |part| move |message| Missing { message, part };
    let base = match session {
        Some(session) => world.of_session(find_session(world, session).map_err(up_to(None))?),
        None => current,
    };
    let base = match window {
        None => base,
        Some(window) => {
            let may_be_session = session.is_none() && !is_window_only;
            let part = Some(base).filter(|_| !may_be_session);
            find_window(world, base, window, may_be_session).map_err(up_to(part))?
        }
    };
    match pane {
        None => Ok(base),
        Some(pane) => {
            // With a session or a window, the pane is one of the window's panes.
            let is_alone = session.is_none() && window.is_none();
            let part = Some(base).filter(|_| !is_alone);
            find_pane(world, base, pane, is_alone).map_err(up_to(part))
        }
    }
}

fn find_session(world: &World, text: &str) -> Result<usize, String> {
    let missing = || format!("can't find session: {}", text.trim_start_matches('='));
    if let Some(id) = text.strip_prefix('$') {
        let id: u64 = id.parse().map_err(|_| missing())?;
        return world.sessions.iter().position(|session| session.id == id).ok_or_else(missing);
    }
    let exact = text.strip_prefix('=');
    let name = exact.unwrap_or(text);
    let by_name = world.sessions.iter().position(|session| session.name == name);
    if by_name.is_some() || exact.is_some() {
        return by_name.ok_or_else(missing);
    }
    let names = || world.sessions.iter().map(|session| session.name.as_str());
    let by_beginning = only(names().map(|known| known.starts_with(name)));
    by_beginning.or_else(|| only(names().map(|known| glob(name, known)))).ok_or_else(missing)
}

/// The index of the only true value.
fn only(values: impl Iterator<Item = bool>) -> Option<usize> {
    let mut found = values.enumerate().filter(|(_, value)| *value).map(|(index, _)| index);
    let first = found.next();
    first.filter(|_| found.next().is_none())
}

fn find_window(
    world: &World,
    base: Target,
    text: &str,
    may_be_session: bool,
) -> Result<Target, String> {
    let missing = || format!("can't find window: {}", text.trim_start_matches('='));
    if let Some(id) = text.strip_prefix('@') {
        let id: u64 = id.parse().map_err(|_| missing())?;
        let found = world.nearest(Some(base), |target| world.window(target).id == id);
        let found = found.ok_or_else(missing)?;
        return Ok(world.of_window(found.session, found.window));
    }
    if let Some(window) = window_of(world, base, text) {
        return Ok(world.of_window(base.session, window));
    }
    if may_be_session
        && !text.starts_with('=')
        && let Ok(session) = find_session(world, text)
    {
        return Ok(world.of_session(session));
    }
    Err(missing())
}

/// The index of the window that a text names in a session.
fn window_of(world: &World, base: Target, text: &str) -> Option<usize> {
    let session = world.session(base);
    let count = session.windows.len();
    let exact = text.strip_prefix('=');
    let name = exact.unwrap_or(text);
    match name {
        "!" | "{last}" => return session.last(),
        "^" | "{start}" => return Some(0),
        "$" | "{end}" => return Some(count - 1),
        _ => {}
    }
    if exact.is_none()
        && let Some(offset) = offset(name)
    {
        let now = session.current as i64;
        return usize::try_from((now + offset).rem_euclid(count as i64)).ok();
    }
    if let Ok(index) = name.parse::<u64>()
        && let Some(found) = session.windows.iter().position(|window| window.index == index)
    {
        return Some(found);
    }
    let names = || session.windows.iter().map(|window| window.name.as_str());
    let by_name = only(names().map(|known| known == name));
    if by_name.is_some() || exact.is_some() {
        return by_name;
    }
    let by_beginning = only(names().map(|known| known.starts_with(name)));
    by_beginning.or_else(|| only(names().map(|known| glob(name, known))))
}

/// The number after `+` or `-`, or 1 without a number. Also `{next}` and `{previous}`.
fn offset(text: &str) -> Option<i64> {
    let (sign, number) = match text {
        "{next}" => (1, ""),
        "{previous}" => (-1, ""),
        text => {
            let sign = if text.starts_with('+') { 1 } else { -1 };
            (sign, text.strip_prefix(['+', '-'])?)
        }
    };
    let number: i64 = if number.is_empty() { 1 } else { number.parse().ok()? };
    (0..=1_000_000).contains(&number).then_some(sign * number)
}

fn find_pane(world: &World, base: Target, text: &str, is_alone: bool) -> Result<Target, String> {
    let missing = || format!("can't find pane: {text}");
    if let Some(id) = text.strip_prefix('%') {
        let id: u64 = id.parse().map_err(|_| missing())?;
        let found = world.nearest(Some(base), |target| world.place(target).id == id);
        return found.ok_or_else(missing);
    }
    let window = world.window(base);
    if let Some(pane) = pane_of(window, base.pane, text) {
        return Ok(Target { pane, ..base });
    }
    if is_alone && let Ok(found) = find_window(world, base, text, true) {
        return Ok(found);
    }
    Err(missing())
}

/// The index of the pane that a text names in a window. `now`: the index of the pane that offsets count from.
fn pane_of(window: &Window, now: usize, text: &str) -> Option<usize> {
    let panes = &window.panes;
    let position = |id: u64| panes.iter().position(|pane| pane.id == id);
    let beside = |direction| {
        let active = panes.iter().find(|pane| pane.id == window.active)?;
        position(window.neighbor(active, direction)?.id)
    };
    let (right, bottom) = (window.area.0.saturating_sub(1), window.area.1.saturating_sub(1));
    let (center, middle) = (window.area.0 / 2, window.area.1 / 2);
    // A cell between two panes belongs to the one at the left or above.
    let at = |x: u32, y: u32| {
        panes.iter().position(|PlacedPane { rect, .. }| {
            (rect.x..=rect.x + rect.width).contains(&x)
                && (rect.y..=rect.y + rect.height).contains(&y)
        })
    };
    match text {
        "!" | "{last}" => return position(window.last?),
        "{up-of}" => return beside(Direction::Up),
        "{down-of}" => return beside(Direction::Down),
        "{left-of}" => return beside(Direction::Left),
        "{right-of}" => return beside(Direction::Right),
        "{top}" | "top" => return at(center, 0),
        "{bottom}" | "bottom" => return at(center, bottom),
        "{left}" | "left" => return at(0, middle),
        "{right}" | "right" => return at(right, middle),
        "{top-left}" | "top-left" => return at(0, 0),
        "{top-right}" | "top-right" => return at(right, 0),
        "{bottom-left}" | "bottom-left" => return at(0, bottom),
        "{bottom-right}" | "bottom-right" => return at(right, bottom),
        "{active}" | "@" => return position(window.active),
        _ => {}
    }
    if let Some(offset) = offset(text) {
        let count = panes.len() as i64;
        return usize::try_from((now as i64 + offset).rem_euclid(count)).ok();
    }
    let index: u64 = text.parse().ok()?;
    panes.iter().position(|pane| pane.index == index)
}

/// The session of a new window, and the requested index. `None`: the first free index.
///
/// # Errors
/// There is no such session, or the text after `:` names no window. tmux's message.
pub fn find_index(
    world: &World,
    text: Option<&str>,
    current: Target,
) -> Result<(usize, Option<u64>), String> {
    let Some(text) = text.filter(|text| !text.is_empty()) else {
        return Ok((current.session, None));
    };
    if text.split_once(':').is_some_and(|(_, window)| window.contains('.')) {
        return Err("can't specify pane here".to_owned());
    }
    let (session, window) = match text.split_once(':') {
        Some(("", window)) => (current.session, window),
        Some((session, window)) => (find_session(world, session)?, window),
        None => {
            if text.starts_with('%') {
                return Err("can't specify pane here".to_owned());
            }
            if text.starts_with('@') {
                let found = find(world, TargetKind::Window, Some(text), current)?;
                return Ok((found.session, Some(world.window(found).index)));
            }
            if offset(text).is_none()
                && let Some(window) = window_of(world, current, text)
            {
                return Ok((current.session, Some(world.session(current).windows[window].index)));
            }
            if text.parse::<u64>().is_ok() || offset(text).is_some() {
                (current.session, text)
            } else {
                (find_session(world, text).map_err(|_| format!("can't find window: {text}"))?, "")
            }
        }
    };
    if window.is_empty() {
        return Ok((session, None));
    }
    let base = world.of_session(session);
    if let Some(offset) = offset(window) {
        // An offset counts all numbers, also numbers without a window.
        let now = world.window(base).index;
        return match now.checked_add_signed(offset).filter(|index| *index <= LARGEST_INDEX) {
            Some(index) => Ok((session, Some(index))),
            None => Err(format!("can't find window: {window}")),
        };
    }
    if let Some(found) = window_of(world, base, window) {
        return Ok((session, Some(world.sessions[session].windows[found].index)));
    }
    match window.parse() {
        Ok(index) if index <= LARGEST_INDEX => Ok((session, Some(index))),
        _ => Err(format!("can't find window: {window}")),
    }
}

#[cfg(test)]
mod tests;
