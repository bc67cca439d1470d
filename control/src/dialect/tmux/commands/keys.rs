//! Commands about keys. Bindings are stored and shown, but never run, because the keys of the window belong to the
//! user.

use super::{hooks::canonical, target};
use crate::{
    dialect::tmux::{
        arguments::Arguments,
        bindings::Binding,
        keys,
        language::{self, of_arguments},
        run::{CommandResult, Failure, Run},
        target::TargetKind,
    },
    methods::input::{Keys, KeysParams},
};

/// The separator of a binding's commands. Without the backslash, the second command would not belong to the binding.
const SEPARATOR: &str = " \\; ";

/// The table of keys that `-T` and `-n` name.
fn table(arguments: &Arguments) -> &str {
    let default = if arguments.has('n') { "root" } else { "prefix" };
    arguments.value('T').unwrap_or(default)
}

fn key(text: &str) -> Result<String, Failure> {
    keys::canonical(text).ok_or_else(|| format!("unknown key: {text}").into())
}

/// `bind-key`.
pub async fn bind(run: &mut Run<'_>, arguments: Arguments) -> CommandResult {
    let key = key(&arguments.words[0])?;
    let command = match &arguments.words[1..] {
        [] => String::new(),
        [only] => canonical(run, only, SEPARATOR).await?,
        several => canonical(run, &language::print(&of_arguments(several)), SEPARATOR).await?,
    };
    let note = arguments.value('N').unwrap_or_default().to_owned();
    let binding = Binding { command, repeats: arguments.has('r'), note };
    Ok(run.state().bindings.bind(table(&arguments), &key, binding)?)
}

/// `unbind-key`.
pub async fn unbind(run: &mut Run<'_>, arguments: Arguments) -> CommandResult {
    let done = unbind_checked(run, &arguments);
    if arguments.has('q') { Ok(()) } else { done }
}

fn unbind_checked(run: &Run<'_>, arguments: &Arguments) -> CommandResult {
    let table = table(arguments);
    if arguments.value('T').is_some() && !run.state().bindings.has_table(table) {
        return Err(format!("table {table} doesn't exist").into());
    }
    let key = match (arguments.has('a'), arguments.word(0)) {
        (true, Some(_)) => return Err("key given with -a".into()),
        (true, None) => None,
        (false, Some(text)) => Some(key(text)?),
        (false, None) => return Err("missing key".into()),
    };
    run.state().bindings.unbind(table, key.as_deref());
    Ok(())
}

/// `list-keys`.
pub async fn list(run: &mut Run<'_>, arguments: Arguments) -> CommandResult {
    let only = match arguments.word(0) {
        Some(text) => {
            let key = keys::canonical(text);
            Some(key.ok_or_else(|| format!("invalid key: {text}"))?)
        }
        None => None,
    };
    let lines = {
        let state = run.state();
        if let Some(table) = arguments.value('T').filter(|table| !state.bindings.has_table(table)) {
            return Err(format!("table {table} doesn't exist").into());
        }
        let in_table = |table: &str| match arguments.value('T') {
            Some(only) => only == table,
            // Notes are listed for the keys that a user can press at once.
            None => !arguments.has('N') || matches!(table, "root" | "prefix"),
        };
        let shown = |key: &str| only.as_ref().is_none_or(|only| only == key);
        let all: Vec<_> =
            state.bindings.all().filter(|(table, key, _)| in_table(table) && shown(key)).collect();
        match arguments.has('N') {
            true => notes(&all, arguments.value('P').unwrap_or_default()),
            false => bindings(&all),
        }
    };
    if let Some(only) = only.filter(|_| lines.is_empty()) {
        return Err(format!("unknown key: {only}").into());
    }
    let count = if arguments.has('1') { 1 } else { lines.len() };
    run.print_lines(lines.into_iter().take(count).collect()).await
}

fn longest<'t>(texts: impl Iterator<Item = &'t str>) -> usize {
    texts.map(|text| text.chars().count()).max().unwrap_or_default()
}

fn bindings(all: &[(&str, &str, &Binding)]) -> Vec<String> {
    let tables = longest(all.iter().map(|(table, ..)| *table));
    let escapes: Vec<String> = all.iter().map(|(_, key, _)| escaped(key)).collect();
    let names = longest(escapes.iter().map(String::as_str));
    let any_repeats = all.iter().any(|(.., binding)| binding.repeats);
    let lines = all.iter().zip(&escapes).map(|((table, _, binding), key)| {
        let repeats = match (binding.repeats, any_repeats) {
            (true, _) => "-r ",
            (false, true) => "   ",
            (false, false) => "",
        };
        let line = format!("bind-key {repeats}-T {table:tables$} {key:names$} {}", binding.command);
        line.trim_end().to_owned()
    });
    lines.collect()
}

fn escaped(key: &str) -> String {
    match key {
        ";" | "'" | "\"" | "#" | "$" | "%" | "{" | "}" | "~" | "\\" => format!("\\{key}"),
        key => key.to_owned(),
    }
}

fn notes(all: &[(&str, &str, &Binding)], prefix: &str) -> Vec<String> {
    let width = longest(all.iter().map(|(_, key, _)| *key));
    let noted = all.iter().filter(|(.., binding)| !binding.note.is_empty());
    noted.map(|(_, key, binding)| format!("{prefix}{key:width$} {}", binding.note)).collect()
}

/// `send-prefix`: types the key of the option `prefix`, or of `prefix2` with `-2`.
pub async fn send_prefix(run: &mut Run<'_>, arguments: Arguments) -> CommandResult {
    let (world, at) = target(run, TargetKind::Pane, &arguments).await?;
    let id = world.pane(at).id;
    let name = if arguments.has('2') { "prefix2" } else { "prefix" };
    let key = run.option(&world, at, name);
    if key == "None" || run.state().input_off.contains(&id) {
        return Ok(());
    }
    let key = keys::method_name(&key).unwrap_or(key);
    let params = KeysParams { keys: vec![key].into(), ..KeysParams::of(id) };
    run.call::<Keys>(params).await?;
    Ok(())
}
