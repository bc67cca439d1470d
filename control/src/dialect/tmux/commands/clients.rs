//! Commands about clients: the window of the instance is the only client that shows sessions.

use super::{print_each, target};
use crate::{
    dialect::tmux::{
        arguments::Arguments,
        run::{Done, Failure, Run},
        target::TargetKind,
        world::{Target, World},
    },
    methods::{layout::WindowFocus, params::NoParams},
};

const LIST: &str = "#{client_tty}: #{session_name} [#{client_width}x#{client_height} #{client_termname}] #{?client_utf8,(UTF-8) ,}";

/// Fails if there is no window to show a session in, or if the client runs in tmux already. tmux's messages.
pub fn check_terminal(run: &Run<'_>, world: &World) -> Result<(), Failure> {
    if run.hello.is_nested {
        return Err("sessions should be nested with care, unset $TMUX to force".into());
    }
    match world.listing.has_window {
        true => Ok(()),
        false => Err("open terminal failed: not a terminal".into()),
    }
}

/// Shows a session in the window.
pub async fn show(run: &mut Run<'_>, world: &World, at: Target) -> Done {
    let at = world.of_session(at.session);
    if world.listing.active != Some(world.window(at).id) {
        let params = crate::dialect::tmux::methods::RelocateParams {
            id: run.own_pane(world, at),
            activate: true,
            ..Default::default()
        };
        run.call::<crate::dialect::tmux::methods::Relocate>(params.into()).await?;
    }
    if world.listing.has_window && run.hello.pane.is_none() {
        run.call::<WindowFocus>(NoParams {}).await?;
    }
    Ok(())
}

/// `attach-session`.
pub async fn attach(run: &mut Run<'_>, arguments: Arguments) -> Done {
    let (world, at) = target(run, TargetKind::Session, &arguments).await?;
    check_terminal(run, &world)?;
    if let Some(folder) = arguments.value('c') {
        let id = world.session(at).id;
        if let Some(session) = run.state().session(id) {
            folder.clone_into(&mut session.cwd);
        }
    }
    show(run, &world, at).await
}

/// `switch-client`.
pub async fn switch(run: &mut Run<'_>, arguments: Arguments) -> Done {
    let kind = match arguments.value('t') {
        Some(text) if text.contains([':', '.', '%']) => TargetKind::Pane,
        _ => TargetKind::Session,
    };
    let (world, mut at) = target(run, kind, &arguments).await?;
    if !world.listing.has_window {
        return Err("no current client".into());
    }
    if arguments.has('n') || arguments.has('p') {
        let count = world.sessions.len();
        let step = if arguments.has('n') { 1 } else { count - 1 };
        at = world.of_session((at.session + step) % count);
    }
    if kind == TargetKind::Pane {
        super::panes::focus(run, &world, at, arguments.has('Z')).await?;
        let id = world.session(at).id;
        if let Some(session) = run.state().session(id) {
            session.select(world.window(at).id);
        }
        let world = run.world().await?;
        let found = world.sessions.iter().position(|session| session.id == id);
        return match found {
            Some(session) => show(run, &world, world.of_session(session)).await,
            None => Ok(()),
        };
    }
    show(run, &world, at).await
}

/// `detach-client`. Programs can't hide the user's window, so there is no client to detach.
pub async fn detach(run: &mut Run<'_>, _: Arguments) -> Done {
    run.here().await?;
    Err("no current client".into())
}

/// `list-clients`.
pub async fn list(run: &mut Run<'_>, arguments: Arguments) -> Done {
    let (world, at) = target(run, TargetKind::Session, &arguments).await?;
    let is_named = arguments.value('t').is_some();
    let sessions = world
        .sessions
        .iter()
        .enumerate()
        .filter(|(index, session)| session.is_attached && (!is_named || *index == at.session));
    let targets = sessions.map(|(session, _)| world.of_session(session)).collect();
    print_each(run, &world, targets, &arguments, LIST).await
}
