//! Commands about options.

use super::program::program_end;
use crate::dialect::tmux::{
    arguments::Arguments,
    language::quoted,
    methods::{Keep, KeepParams},
    options::{OPTIONS, Owner, Scope, ValueKind, find},
    run::{CommandResult, Failure, Run},
    target::{TargetKind, find_part},
    world::{Target, World},
};

/// The owner of options and hooks of this scope that the flags select.
pub fn owner(arguments: &Arguments, scope: Scope, world: Option<(&World, Target)>) -> Owner {
    let is_global = arguments.has('g');
    if scope == Scope::Server || arguments.has('s') && !is_global {
        return Owner::Server;
    }
    let is_window = arguments.has('w') || matches!(scope, Scope::Window | Scope::Pane);
    match (world, is_window) {
        (Some((world, at)), true) if arguments.has('p') => Owner::Pane(world.pane(at).id),
        (Some((world, at)), true) if !is_global => Owner::Window(world.window(at).id),
        (Some((world, at)), false) if arguments.has('p') => Owner::Pane(world.pane(at).id),
        (Some((world, at)), false) if !is_global => Owner::Session(world.session(at).id),
        (_, true) => Owner::Windows,
        (_, false) => Owner::Sessions,
    }
}

/// The owners that an owner inherits values from, beginning with itself.
fn chain(owner: Owner, world: Option<(&World, Target)>) -> Vec<Owner> {
    match owner {
        Owner::Pane(_) => match world {
            Some((world, at)) => vec![owner, Owner::Window(world.window(at).id), Owner::Windows],
            None => vec![owner, Owner::Windows],
        },
        Owner::Window(_) => vec![owner, Owner::Windows],
        Owner::Session(_) => vec![owner, Owner::Sessions],
        owner => vec![owner],
    }
}

/// The scope of an option. User options (`@name`) belong to sessions, unless a flag names another scope.
fn scope_of(name: &str, arguments: &Arguments) -> Result<Scope, String> {
    if !name.starts_with('@') {
        return Ok(find(name)?.scope);
    }
    Ok(if arguments.has('s') {
        Scope::Server
    } else if arguments.has('w') || arguments.has('p') {
        Scope::Pane
    } else {
        Scope::Session
    })
}

/// The full name of an option, with its index.
fn full_name(name: &str) -> Result<String, String> {
    if name.starts_with('@') {
        return Ok(name.to_owned());
    }
    let row = find(name)?;
    let base = row.name.split('[').next().unwrap_or(row.name);
    let index = name.find('[').map_or("", |at| &name[at..]);
    Ok(format!("{base}{index}"))
}

/// The target of the option or hook, if there is a session.
pub async fn place(
    run: &mut Run<'_>,
    arguments: &Arguments,
) -> Result<Option<(World, Target)>, Failure> {
    if let Some(text) = arguments.value('t') {
        let (world, current) = run.here().await?;
        let part = find_part(&world, TargetKind::Pane, Some(text), current);
        return match part {
            Some(at) => Ok(Some((world, at))),
            None => Err(format!("no such session: {text}").into()),
        };
    }
    let world = run.world().await?;
    Ok(run.current(&world).map(|at| (world, at)))
}

/// `set-option`.
pub async fn set(run: &mut Run<'_>, arguments: Arguments) -> CommandResult {
    match Setting::find(run, &arguments).await {
        // `-q` suppresses errors about an unknown option or owner, but not about a wrong value.
        Err(Failure::Message(_)) if arguments.has('q') => Ok(()),
        setting => change(run, &arguments, setting?).await,
    }
}

/// `set-window-option`.
pub async fn set_window(run: &mut Run<'_>, arguments: Arguments) -> CommandResult {
    set(run, arguments).await
}

/// An option of an owner, and the new value.
struct Setting {
    place: Option<(World, Target)>,
    name: String,
    owner: Owner,
    value: Option<String>,
}

impl Setting {
    async fn find(run: &mut Run<'_>, arguments: &Arguments) -> Result<Self, Failure> {
        let mut place = place(run, arguments).await?;
        let name = match &mut place {
            Some((world, at)) if arguments.has('F') || arguments.words[0].contains("#{") => {
                let at = *at;
                run.expand(&arguments.words[0], world, Some(at)).await?
            }
            _ => arguments.words[0].clone(),
        };
        let value = match (&mut place, arguments.word(1)) {
            (Some((world, at)), Some(value)) if arguments.has('F') => {
                let at = *at;
                Some(run.expand(value, world, Some(at)).await?)
            }
            (_, value) => value.map(str::to_owned),
        };
        let scope = scope_of(&name, arguments)?;
        let name = full_name(&name)?;
        let at = place.as_ref().map(|(world, at)| (world, *at));
        if at.is_none() && !arguments.has('g') && scope != Scope::Server {
            run.here().await?;
        }
        let owner = owner(arguments, scope, at);
        Ok(Self { place, name, owner, value })
    }
}

async fn change(run: &mut Run<'_>, arguments: &Arguments, setting: Setting) -> CommandResult {
    let Setting { place, name, owner, value } = setting;
    let at = place.as_ref().map(|(world, at)| (world, *at));
    let before = {
        let mut state = run.state();
        let before = state.options.own(owner, &name).map(str::to_owned);
        if arguments.has('u') || arguments.has('U') {
            state.options.unset(owner, &name);
        } else {
            if arguments.has('o') && before.is_some() {
                return match arguments.has('q') {
                    true => Ok(()),
                    false => Err(format!("already set: {name}").into()),
                };
            }
            let now = state.options.value(&chain(owner, at), &name).unwrap_or_default();
            let is_user = name.starts_with('@');
            let joins = |kind| matches!(kind, ValueKind::Text | ValueKind::Style);
            let appends =
                arguments.has('a') && (is_user || find(&name).is_ok_and(|row| joins(row.kind)));
            let value = match (appends, value) {
                (true, Some(value)) => {
                    let before = state.options.own(owner, &name).unwrap_or_default();
                    // The parts of a style have commas between them.
                    let is_style = find(&name).is_ok_and(|row| row.kind == ValueKind::Style);
                    let comma = if is_style && !before.is_empty() && !is_user { "," } else { "" };
                    Some(format!("{before}{comma}{value}"))
                }
                (_, value) => value,
            };
            let value = match is_user {
                true => value.unwrap_or_default(),
                false => find(&name)?.checked(value.as_deref(), &now)?,
            };
            state.options.set(owner, &name, value)?;
        }
        before
    };
    if name != "remain-on-exit" {
        return Ok(());
    }
    let done = apply_remain(run, owner, at).await;
    if done.is_err() {
        let mut state = run.state();
        match before {
            Some(before) => state.options.set(owner, &name, before)?,
            None => state.options.unset(owner, &name),
        }
    }
    done
}

/// Applies `remain-on-exit` to the panes for which it was set. Panes that are opened later read the option.
async fn apply_remain(
    run: &mut Run<'_>,
    owner: Owner,
    at: Option<(&World, Target)>,
) -> CommandResult {
    let Some((world, _)) = at else { return Ok(()) };
    let targets: Vec<Target> = world
        .targets()
        .filter(|target| match owner {
            Owner::Pane(id) => world.pane(*target).id == id,
            Owner::Window(id) => world.window(*target).id == id,
            _ => false,
        })
        .collect();
    for target in targets {
        let on_exit = program_end(&run.option(world, target, "remain-on-exit"));
        let params = KeepParams { id: world.pane(target).id, on_exit };
        run.call::<Keep>(params.into()).await?;
    }
    Ok(())
}

/// `show-options`.
pub async fn show(run: &mut Run<'_>, arguments: Arguments) -> CommandResult {
    let is_window = arguments.has('w') || arguments.has('p');
    show_in(run, arguments, is_window).await
}

/// `show-window-options`.
pub async fn show_window(run: &mut Run<'_>, arguments: Arguments) -> CommandResult {
    show_in(run, arguments, true).await
}

async fn show_in(run: &mut Run<'_>, arguments: Arguments, is_window: bool) -> CommandResult {
    let place = place(run, &arguments).await?;
    let at = place.as_ref().map(|(world, at)| (world, *at));
    let line = |name: &str, value: &str, is_inherited: bool| {
        if arguments.has('v') {
            return value.to_owned();
        }
        let mark = if is_inherited { "*" } else { "" };
        match value {
            "" if name.contains('[') || name.starts_with('@') => format!("{name}{mark}"),
            value => format!("{name}{mark} {}", quoted(value)),
        }
    };
    let lines = if let Some(name) = arguments.word(0) {
        let found = scope_of(name, &arguments).and_then(|scope| Ok((scope, full_name(name)?)));
        let (scope, name) = match found {
            Err(_) if arguments.has('q') => return Ok(()),
            Err(why) => return Err(why.into()),
            Ok(found) => found,
        };
        let scope = if is_window && name.starts_with('@') { Scope::Window } else { scope };
        let owner = owner(&arguments, scope, at);
        let state = run.state();
        let array = format!("{name}[");
        let own = state.options.own(owner, &name).map(str::to_owned);
        let defaults = || OPTIONS.iter().filter(|row| row.name.starts_with(&array));
        let is_global = matches!(owner, Owner::Server | Owner::Sessions | Owner::Windows);
        if let Some(value) = own {
            vec![line(&name, &value, false)]
        } else if defaults().next().is_some() {
            // An array contains the values that were set, and the defaults at all other indices.
            let set: Vec<_> =
                state.options.of(owner).filter(|(key, _)| key.starts_with(&array)).collect();
            let preset = defaults().filter(|row| set.iter().all(|(key, _)| *key != row.name));
            let mut all: Vec<(String, String)> =
                set.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
            if is_global || arguments.has('A') {
                all.extend(preset.map(|row| (row.name.to_owned(), row.default.to_owned())));
            }
            all.sort();
            all.iter().map(|(key, value)| line(key, value, false)).collect()
        } else {
            let value = state.options.value(&chain(owner, at), &name);
            match value {
                Some(value) if is_global => vec![line(&name, &value, false)],
                Some(value) if arguments.has('A') => vec![line(&name, &value, true)],
                Some(_) => Vec::new(),
                None if name.starts_with('@') && arguments.has('q') => Vec::new(),
                None if name.starts_with('@') => {
                    return Err(format!("invalid option: {name}").into());
                }
                None => Vec::new(),
            }
        }
    } else {
        let scope = match (arguments.has('s'), is_window) {
            (true, _) => Scope::Server,
            (false, true) => Scope::Window,
            (false, false) => Scope::Session,
        };
        let owner = owner(&arguments, scope, at);
        let state = run.state();
        let is_global = matches!(owner, Owner::Server | Owner::Sessions | Owner::Windows);
        let is_in = |row: Scope| match scope {
            Scope::Window => matches!(row, Scope::Window | Scope::Pane),
            scope => row == scope,
        };
        let mut all: Vec<(String, String, bool)> = state
            .options
            .of(owner)
            .map(|(name, value)| (name.to_owned(), value.to_owned(), false))
            .collect();
        if is_global || arguments.has('A') {
            let rows = OPTIONS.iter().filter(|row| is_in(row.scope));
            for row in rows {
                if all.iter().all(|(name, ..)| name != row.name) {
                    let value = state.options.value(&chain(owner, at), row.name);
                    all.push((row.name.to_owned(), value.unwrap_or_default(), !is_global));
                }
            }
        }
        all.sort();
        all.iter().map(|(name, value, is_inherited)| line(name, value, *is_inherited)).collect()
    };
    run.print_lines(lines).await
}
