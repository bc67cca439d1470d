//! The values of a client's subscriptions.

use std::collections::BTreeMap;

use crate::dialect::tmux::{
    formats::{self, Clock},
    state::State,
    subscriptions::{Subject, Subscription, ValueScope},
    variables::{ClientValues, Scope},
    world::{Target, World},
};

/// The notifications about values that have changed. `session`: the index of the client's session in the world.
pub fn changes(
    subscriptions: &mut [Subscription],
    world: &World,
    state: &State,
    (client, variables): (&ClientValues, &BTreeMap<&'static str, String>),
    session: usize,
    clock: &Clock,
) -> Vec<String> {
    let mut lines = Vec::new();
    for subscription in subscriptions {
        let values =
            targets(subscription.subject, world, session).into_iter().map(|(place, at)| {
                let scope =
                    Scope { world, state, client, target: Some(at), more: variables.clone() };
                (place, formats::expand(&subscription.format, &scope, clock))
            });
        let values = values.collect();
        for (place, value) in subscription.changes(values) {
            lines.push(line(&subscription.name, world, session, place, &value));
        }
    }
    lines
}

/// The targets that a subscription of a session is evaluated for. `session`: the index of the session in the world.
pub fn targets(subject: Subject, world: &World, session: usize) -> Vec<(ValueScope, Target)> {
    let windows = &world.sessions[session].windows;
    let panes = || {
        windows.iter().enumerate().flat_map(|(window, of)| {
            of.panes.iter().enumerate().map(move |(pane, placed)| {
                let place = (Some(of.id), Some(placed.id));
                (place, Target { session, window, pane })
            })
        })
    };
    let of_windows = || {
        windows
            .iter()
            .enumerate()
            .map(|(window, of)| ((Some(of.id), None), world.of_window(session, window)))
    };
    match subject {
        Subject::Session => vec![((None, None), world.of_session(session))],
        Subject::Pane(id) => panes().filter(|((_, pane), _)| *pane == Some(id)).collect(),
        Subject::AllPanes => panes().collect(),
        Subject::Window(id) => of_windows().filter(|((of, _), _)| *of == Some(id)).collect(),
        Subject::AllWindows => of_windows().collect(),
    }
}

fn line(name: &str, world: &World, session: usize, place: ValueScope, value: &str) -> String {
    let session = &world.sessions[session];
    let (window, pane) = place;
    let index = |id: u64| session.windows.iter().find(|window| window.id == id);
    let index = window.and_then(index).map(|window| window.index);
    let or_dash = |sign: char, number: Option<u64>| {
        number.map_or_else(|| "-".to_owned(), |number| format!("{sign}{number}"))
    };
    let (window, pane) = (or_dash('@', window), or_dash('%', pane));
    let index = index.map_or_else(|| "-".to_owned(), |index| index.to_string());
    format!("%subscription-changed {name} ${} {window} {index} {pane} : {value}", session.id)
}
