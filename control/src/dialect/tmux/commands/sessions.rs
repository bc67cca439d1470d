//! Commands about sessions, which are groups of tabs, and about the server.

use super::{destination::relocate, panes, print_each, print_target, program, target};
use crate::dialect::tmux::{
    arguments::Arguments,
    methods::{Open, OpenParams, Relocate, RelocateParams},
    run::{CommandResult, Failure, Run},
    target::{TargetKind, find},
    world::{Session, Target, World},
};

const LIST: &str = "#{session_name}: #{session_windows} windows (created #{t:session_created})#{?session_grouped, (group ,}#{session_group}#{?session_grouped,),}#{?session_attached, (attached),}";
const NEW: &str = "#{session_name}:";

/// `list-sessions`.
pub async fn list(run: &mut Run<'_>, arguments: Arguments) -> CommandResult {
    let (world, _) = run.here().await?;
    let targets = (0..world.sessions.len()).map(|session| world.of_session(session)).collect();
    print_each(run, &world, targets, &arguments, LIST).await
}

/// `has-session`.
pub async fn has(run: &mut Run<'_>, arguments: Arguments) -> CommandResult {
    target(run, TargetKind::Session, &arguments).await.map(drop)
}

/// `start-server`. The instance is running, so there is nothing to do.
pub async fn start_server(run: &mut Run<'_>, _: Arguments) -> CommandResult {
    run.world().await.map(drop)
}

/// A session name as tmux stores it: `:` and `.` have a meaning in targets.
fn stored(name: &str) -> String {
    name.replace([':', '.'], "_")
}

/// The group that a new session joins.
struct Group {
    name: String,
    /// The number of a session of the group. `None`: the group is new.
    member: Option<u64>,
}

impl Group {
    /// The group of the session that `-t` names, or else the group with this name.
    fn find(world: &World, text: &str, current: Option<Target>) -> Result<Self, Failure> {
        let named = current.and_then(|current| {
            find(world, TargetKind::Session, Some(text), current).ok().map(|at| at.session)
        });
        let of_group = || world.sessions.iter().position(|it| it.group.as_deref() == Some(text));
        if let Some(member) = named.or_else(of_group) {
            let member = &world.sessions[member];
            let name = member.group.clone().unwrap_or_else(|| member.name.clone());
            return Ok(Self { name, member: Some(member.id) });
        }
        match stored(text) {
            name if name.is_empty() => Err(format!("invalid session group: {text}").into()),
            name => Ok(Self { name, member: None }),
        }
    }
}

/// The size that `-x` and `-y` ask for, in cells.
fn size(arguments: &Arguments) -> Result<Option<(u16, u16)>, Failure> {
    let side = |flag: char, what: &str| match arguments.value(flag) {
        None | Some("-") => Ok(None),
        Some(text) => match text.parse::<u16>() {
            Ok(size) if (1..=10_000).contains(&size) => Ok(Some(size)),
            _ => Err(format!("{what} invalid")),
        },
    };
    Ok(match (side('x', "width")?, side('y', "height")?) {
        (None, None) => None,
        (width, height) => Some((width.unwrap_or(80), height.unwrap_or(24))),
    })
}

/// `new-session`.
pub async fn new(run: &mut Run<'_>, arguments: Arguments) -> CommandResult {
    let mut world = run.world().await?;
    let current = run.current(&world);
    if arguments.value('t').is_some() && (!arguments.words.is_empty() || arguments.has('n')) {
        return Err("command or window name given with target".into());
    }
    let name = match arguments.value('s') {
        Some(name) => {
            let name = stored(&run.expand(name, &mut world, current).await?);
            if name.is_empty() {
                return Err(format!("invalid session: {name}").into());
            }
            if let Some(there) = world.sessions.iter().position(|session| session.name == name) {
                if !arguments.has('A') {
                    return Err(format!("duplicate session: {name}").into());
                }
                if arguments.has('d') {
                    return Ok(());
                }
                return super::clients::show(run, &world, world.of_session(there)).await;
            }
            Some(name)
        }
        None => None,
    };
    let is_attached = !arguments.has('d') && !run.is_starting;
    if is_attached {
        super::clients::check_terminal(run, &world)?;
        super::clients::set_flags(run, &arguments, run.client)?;
    }
    let size = size(&arguments)?;
    let group = match arguments.value('t') {
        Some(text) => Some(Group::find(&world, text, current)?),
        None => None,
    };
    let program = program::program(run, &mut world, None, &arguments).await?;
    let cwd = program.cwd.clone().unwrap_or_default();
    let environment: Vec<(String, String)> = arguments
        .values('e')
        .filter_map(|it| it.split_once('='))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    // A client in control mode sees the session without the window.
    let is_shown = is_attached && run.client.is_none();
    let size = size.or_else(|| run.state().clients.get(run.client?).map(|client| client.size));
    let unfinished = run.server.begin_window();
    // A session of a group has the group's windows.
    let opened = match group.as_ref().and_then(|group| group.member) {
        Some(_) => None,
        None => {
            let params = OpenParams { program, size, activate: is_shown };
            Some(run.call::<Open>(params.into()).await?)
        }
    };
    let id = {
        let (now, server) = (run.now(), run.name.clone());
        let mut state = run.state();
        let next = state.next_session();
        let name = name.unwrap_or_else(|| match &group {
            Some(group) => format!("{}-{next}", group.name),
            None => next.to_string(),
        });
        let id = state.add_session(name, server, now);
        if let Some(session) = state.session(id) {
            session.group = group.as_ref().map(|group| group.name.clone());
            session.cwd = cwd;
            session.size = size;
            session.env.extend(environment.into_iter().map(|(name, value)| {
                let value = Some(value);
                (name, crate::dialect::tmux::state::Variable { value, is_hidden: false })
            }));
        }
        match (opened, group.as_ref().and_then(|group| group.member)) {
            (Some(opened), _) => drop(state.assign(opened.tab, id, None)?),
            (None, Some(member)) => state.join_group(id, member),
            (None, None) => {}
        }
        id
    };
    if let (Some(name), Some(opened)) = (arguments.value('n'), opened) {
        let params = RelocateParams {
            id: opened.id,
            title: Some(name.to_owned()),
            activate: is_shown,
            ..RelocateParams::default()
        };
        run.call::<Relocate>(params.into()).await?;
    }
    drop(unfinished);
    let world = run.world().await?;
    let at = world.sessions.iter().position(|session| session.id == id);
    let at = at.map(|session| world.of_session(session));
    print_target(run, &arguments, world, at, NEW).await?;
    if is_attached {
        let world = run.world().await?;
        if let Some(session) = world.sessions.iter().position(|session| session.id == id) {
            return super::clients::show(run, &world, world.of_session(session)).await;
        }
    }
    Ok(())
}

/// `kill-session`.
pub async fn kill(run: &mut Run<'_>, arguments: Arguments) -> CommandResult {
    let (world, at) = target(run, TargetKind::Session, &arguments).await?;
    if arguments.has('C') {
        // `-C` clears alerts, but there are none.
        return Ok(());
    }
    let sessions = world.sessions.iter().enumerate();
    let killed = sessions.filter(|(session, _)| (*session == at.session) != arguments.has('a'));
    let killed: Vec<(usize, &Session)> = killed.collect();
    let is_killed = |session: &Session| killed.iter().any(|(_, it)| it.id == session.id);
    let mut panes = Vec::new();
    for (index, session) in &killed {
        for (number, window) in session.windows.iter().enumerate() {
            if world.links(window.id).all(|(session, _)| is_killed(session)) {
                panes.extend(window.panes.iter().map(|pane| pane.id));
            } else {
                // The window stays in another session. The call checks whether the program may unlink it.
                relocate(run, &world, world.of_window(*index, number), |_| ()).await?;
            }
        }
    }
    panes::close(run, panes).await?;
    let mut state = run.state();
    killed.iter().for_each(|(_, session)| state.remove_session(session.id));
    Ok(())
}

/// `kill-server`. Closes the panes of the server's sessions. The instance itself ends with its last pane, as usual.
pub async fn kill_server(run: &mut Run<'_>, _: Arguments) -> CommandResult {
    let (world, _) = run.here().await?;
    let killed = world.targets().map(|target| world.pane(target).id).collect();
    panes::close(run, killed).await
}

/// `rename-session`.
pub async fn rename(run: &mut Run<'_>, arguments: Arguments) -> CommandResult {
    let (mut world, at) = target(run, TargetKind::Session, &arguments).await?;
    let name = stored(&run.expand(&arguments.words[0], &mut world, Some(at)).await?);
    if name.is_empty() {
        return Err(format!("invalid session: {name}").into());
    }
    let own = world.session(at).id;
    if world.sessions.iter().any(|session| session.name == name && session.id != own) {
        return Err(format!("duplicate session: {name}").into());
    }
    if let Some(session) = run.state().session(own) {
        session.name = name;
    }
    Ok(())
}
