//! `display-popup`: a pane for a command, at a side of the window, until the command ends.
//!
//! tmux draws a box above the panes. Here, a popup is a split that spans the window, at the side that its position
//! names.

use unterm_mux::{ExitStatus, PaneId, PaneState};

use super::{panes, program, target};
use crate::{
    dialect::tmux::{
        arguments::Arguments,
        methods::{Arrange, ArrangeParams, ProgramEnd, Split, SplitParams},
        run::{CommandResult, Failure, Run},
        server::Server,
        target::TargetKind,
        tree,
        world::{Target, World},
    },
    error::Error,
    methods::{
        layout::{Rename, RenameParams},
        params::SessionOnly,
        session::Destroy,
        wait::{Awaited, Watch, WatchParams},
    },
};

/// The status of a popup that was closed: 128 and SIGHUP.
const HANGUP: u8 = 129;
/// The smallest and the largest share of the window that a popup gets, so that each part has room.
const SHARES: (f32, f32) = (0.1, 0.9);

/// The side of the window where a popup is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Left,
    Right,
    Top,
    Bottom,
}

/// The side that a position names: an edge of the window, or else the bottom. `C`: the center.
fn side(x: Option<&str>, y: Option<&str>, area: (u32, u32)) -> Side {
    let number = |text: Option<&str>| text.and_then(|text| text.parse::<u32>().ok());
    match (x, y) {
        (_, Some("0")) => Side::Top,
        (_, Some("S")) => Side::Bottom,
        (Some("0"), _) => Side::Left,
        (Some("R"), _) => Side::Right,
        _ if number(y).is_some_and(|y| y >= area.1) => Side::Bottom,
        _ if number(x).is_some_and(|x| x >= area.0) => Side::Right,
        _ => Side::Bottom,
    }
}

/// The length of a popup, in cells. Half of the window if the flag is not given, as in tmux.
fn length(arguments: &Arguments, flag: char, whole: u32) -> Result<u32, Failure> {
    let what = if flag == 'w' { "width" } else { "height" };
    let Some(text) = arguments.value(flag) else { return Ok(whole / 2) };
    let length = match text.strip_suffix('%') {
        Some(percent) => percent.parse::<u32>().map(|percent| whole * percent.min(100) / 100),
        None => text.parse::<u32>(),
    };
    match length {
        Ok(0) => Err(format!("{what} too small").into()),
        Ok(length) => Ok(length.min(whole)),
        Err(_) => Err(format!("{what} invalid").into()),
    }
}

/// An open popup. When this value is dropped, its pane is no longer a popup.
struct Popup<'a> {
    server: &'a Server,
    pane: u64,
    /// What happens to the pane if no client waits for its program any longer.
    on_exit: ProgramEnd,
}

impl Drop for Popup<'_> {
    fn drop(&mut self) {
        self.server.state.lock().popups.remove(&self.pane);
        if let Some(pane) = self.server.dispatcher.context().mux.pane(PaneId(self.pane)) {
            pane.set_on_exit(self.on_exit.into());
        }
    }
}

/// `display-popup`.
pub async fn display(run: &mut Run<'_>, arguments: Arguments) -> CommandResult {
    let by = run.opener();
    if arguments.has('C') {
        // While a popup is closing, its pane has already been removed.
        let exists = |pane: u64| run.server.dispatcher.context().mux.pane(PaneId(pane)).is_some();
        let open = {
            let state = run.state();
            let mut own = state.popups.iter().filter(|(_, owner)| **owner == by);
            own.find(|(pane, _)| exists(**pane)).map(|(pane, _)| *pane)
        };
        return match open {
            Some(pane) => panes::close(run, vec![pane]).await,
            None => Ok(()),
        };
    }
    let (mut world, at) = target(run, TargetKind::Pane, &arguments).await?;
    let window = world.window(at);
    let (area, focused, zoomed) = (window.area, window.active, window.is_zoomed);
    let is_open = {
        let state = run.state();
        window.panes.iter().any(|pane| state.popups.contains_key(&pane.id))
    };
    if is_open {
        // As in tmux, show only one popup at a time.
        return Ok(());
    }
    let params = split(run, &mut world, at, &arguments, area).await?;
    let title = match arguments.value('T') {
        Some(title) => Some(run.expand(title, &mut world, Some(at)).await?),
        None => None,
    };
    let pane = run.call::<Split>(params.into()).await?.id;
    run.state().popups.insert(pane, by);
    let on_exit = match arguments.count('E') {
        0 => ProgramEnd::Hold,
        1 => ProgramEnd::Close,
        _ => ProgramEnd::HoldFailed,
    };
    let popup = Popup { server: run.server, pane, on_exit };
    if let Some(title) = title {
        let params = RenameParams { title: title.into(), ..RenameParams::of(pane) };
        run.call::<Rename>(params).await?;
    }
    let status = match wait(run, pane).await {
        Ok(status) => status,
        Err(why) => {
            // As in tmux, a popup ends with the client that opened it.
            let _ = run.call::<Destroy>(SessionOnly::of(pane)).await;
            return Err(why);
        }
    };
    drop(popup);
    if run.client.is_none() {
        run.status = status;
    }
    let closes = match on_exit {
        ProgramEnd::Hold => false,
        ProgramEnd::Close => true,
        ProgramEnd::HoldFailed => status == 0,
    };
    if !closes {
        return Ok(());
    }
    // Restore focus and zoom, unless the window has changed meanwhile.
    let _ = run.call::<Destroy>(SessionOnly::of(pane)).await;
    let params = ArrangeParams {
        id: focused,
        focused: Some(focused),
        zoomed: Some(zoomed),
        ..ArrangeParams::default()
    };
    let _ = run.call::<Arrange>(params.into()).await;
    Ok(())
}

/// The split that shows a popup.
async fn split(
    run: &mut Run<'_>,
    world: &mut World,
    at: Target,
    arguments: &Arguments,
    area: (u32, u32),
) -> Result<SplitParams, Failure> {
    let side = side(arguments.value('x'), arguments.value('y'), area);
    let horizontal = matches!(side, Side::Left | Side::Right);
    let (width, height) = (length(arguments, 'w', area.0)?, length(arguments, 'h', area.1)?);
    let share = match horizontal {
        true => tree::ratio(width, area.0),
        false => tree::ratio(height, area.1),
    };
    let folder = arguments.value('d');
    let mut program = program::program_in(run, world, Some(at), arguments, folder).await?;
    // A program can end at any moment. The pane must still exist when its status is read, so `display` closes it.
    program.on_exit = ProgramEnd::Hold;
    Ok(SplitParams {
        id: world.pane(at).id,
        program,
        horizontal,
        before: matches!(side, Side::Left | Side::Top),
        full: true,
        share: Some(share.clamp(SHARES.0, SHARES.1)),
        focus: true,
        zoom: false,
    })
}

/// Waits until the program of a pane has ended, and returns its exit status.
async fn wait(run: &mut Run<'_>, pane: u64) -> Result<u8, Failure> {
    let (server, caller) = (run.server, run.caller().clone());
    let held = server.dispatcher.context().mux.pane(PaneId(pane));
    let Some(held) = held else { return Ok(HANGUP) };
    let params = WatchParams {
        any: vec![Awaited::Exit(true)].into(),
        timeout_ms: u64::MAX.into(),
        ..WatchParams::of(pane)
    };
    let params = serde_json::to_string(&params).map_err(Error::Params)?;
    // The call fails if the pane was closed before.
    let _ = run.wait(server.call::<Watch>(&caller, &params)).await?;
    let status = match held.state() {
        PaneState::Exited(status) => Some(status),
        PaneState::Running | PaneState::Removed => held.process().exit_status(),
    };
    Ok(match status {
        Some(ExitStatus::Code(code)) => u8::try_from(code).unwrap_or(u8::MAX),
        Some(ExitStatus::Signal(signal)) => u8::try_from(128 + signal).unwrap_or(u8::MAX),
        Some(ExitStatus::Lost) | None => HANGUP,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_names_a_side() {
        for (x, y, expected) in [
            (Some("C"), Some("0"), Side::Top),
            (Some("C"), Some("9999"), Side::Bottom),
            (Some("0"), Some("C"), Side::Left),
            (Some("R"), Some("C"), Side::Right),
            (Some("C"), Some("C"), Side::Bottom),
            (None, None, Side::Bottom),
            (Some("500"), None, Side::Right),
        ] {
            assert_eq!(side(x, y, (80, 24)), expected, "{x:?} {y:?}");
        }
    }
}
