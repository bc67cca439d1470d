//! Lists the sessions of every live instance, and finds a session by id, device or name.

use std::sync::Arc;

use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use super::{
    json::{error, text},
    keys::listed,
};
use crate::{
    backend::Backend,
    client::{Endpoint, Remote},
    dialect::mcp::{tool::Ask, tool_result::ToolResult},
    methods::{
        Method,
        layout::{TabList, TabState},
        params::NoParams,
        session::List,
    },
    registry::{self, Record},
    untrusted::escaped,
};

/// The minimum similarity of a name that matches.
pub const LEAST: f64 = 0.5;
/// The bonus for a name that contains the given text.
const PART: f64 = 0.4;

/// A session of an instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terminal {
    /// The session's id: window, tab and position, and after a colon, the instance and the pane.
    pub id: String,
    /// The session's title as shown to users.
    pub name: String,
    /// The session's terminal device.
    pub tty: String,
    /// The instance's process id.
    pub window: u32,
    /// The index of the session's tab, from 0.
    pub tab: u64,
    /// The number of the session's pane in its instance.
    pub pane: u64,
    /// The endpoint of the session's instance. `None` for this instance.
    endpoint: Option<Endpoint>,
}

/// The instance at an endpoint. `None` stands for this instance. A connection to another instance stays open for the
/// client's next call.
fn instance(ask: &Ask<'_>, endpoint: Option<&Endpoint>) -> Arc<dyn Backend> {
    let Some(endpoint) = endpoint else { return ask.server.dispatcher.clone() };
    let mut memory = ask.server.iterm.0.lock();
    let remotes = &mut memory.entry(ask.caller.connection).or_default().remotes;
    // Another instance may have bound the port of an instance that has ended.
    match remotes.get(&endpoint.port) {
        Some(remote) if remote.endpoint() == endpoint => remote.clone(),
        _ => {
            let client = ask.caller.client.as_deref();
            let remote = Arc::new(Remote::for_agent(endpoint.clone(), client));
            remotes.insert(endpoint.port, remote.clone());
            remote
        }
    }
}

impl Terminal {
    /// The endpoint of the session's instance. `None` if it is this instance.
    pub fn elsewhere(&self) -> Option<&Endpoint> {
        self.endpoint.as_ref()
    }

    /// The part of the id that stays the same when the session moves.
    pub fn own(&self) -> &str {
        self.id.rsplit_once(':').map_or("", |(_, own)| own)
    }

    /// Calls a method of the session's instance.
    pub async fn call<M: Method>(
        &self,
        ask: &Ask<'_>,
        params: M::Params<'_>,
    ) -> ToolResult<M::Reply>
    where
        for<'p> M::Params<'p>: Serialize,
        M::Reply: DeserializeOwned,
    {
        ask.call_at::<M>(&*instance(ask, self.endpoint.as_ref()), params).await
    }
}

/// The default window, which is this instance's window.
pub fn own_window(ask: &Ask<'_>) -> Terminal {
    let record = ask.server.dispatcher.context().registration.record();
    Terminal {
        id: String::new(),
        name: String::new(),
        tty: String::new(),
        window: record.pid,
        tab: 0,
        pane: 0,
        endpoint: None,
    }
}

/// The session with the keyboard focus in this instance's window.
pub async fn current(ask: &Ask<'_>) -> ToolResult<Terminal> {
    let own = own_window(ask);
    let tabs = own.call::<TabList>(ask, NoParams {}).await?.tabs;
    let focused = tabs.into_iter().find(|tab| tab.active).and_then(|tab| tab.focused);
    let terminals = all(ask).await?;
    let is_it = |it: &Terminal| it.window == own.window && Some(it.pane) == focused;
    terminals.into_iter().find(is_it).ok_or_else(|| "There is no session".to_owned())
}

/// All sessions. The sessions of this instance come first.
pub async fn all(ask: &Ask<'_>) -> ToolResult<Vec<Terminal>> {
    let registration = &ask.server.dispatcher.context().registration;
    let (home, own) = (registration.home().to_owned(), registration.record());
    let live = tokio::task::spawn_blocking(move || registry::live(&home));
    let live = live.await.map_err(|error| error.to_string())?;
    let live = live.map_err(|error| format!("cannot read the registry: {error}"))?;
    let mut terminals = of_instance(ask, &own, None).await?;
    // A token that is limited to sessions of this instance reaches no other instance.
    let live = live.iter().filter(|record| record.id != own.id && ask.caller.panes.is_none());
    for record in live {
        let endpoint = Endpoint::from(record.clone());
        match of_instance(ask, record, Some(endpoint)).await {
            Ok(more) => terminals.extend(more),
            // The instance may have just ended.
            Err(why) => tracing::debug!(instance = record.id, why, "an instance does not answer"),
        }
    }
    Ok(terminals)
}

async fn of_instance(
    ask: &Ask<'_>,
    record: &Record,
    endpoint: Option<Endpoint>,
) -> ToolResult<Vec<Terminal>> {
    let instance = instance(ask, endpoint.as_ref());
    let sessions = ask.call_at::<List>(&*instance, NoParams {}).await?.sessions;
    let tabs = ask.call_at::<TabList>(&*instance, NoParams {}).await?.tabs;
    let place = |pane: u64| {
        let place = |tab: &TabState| {
            let at = tab.sessions.iter().position(|id| *id == pane)?;
            Some((tab.index as u64, at))
        };
        tabs.iter().find_map(place).unwrap_or_default()
    };
    let terminals = sessions.into_iter().map(|session| {
        let pane = session.id;
        let (tab, at) = place(pane);
        Terminal {
            id: format!("w{}t{tab}p{at}:{}-{pane}", record.pid, record.id),
            name: escaped(&session.title),
            tty: session.tty,
            window: record.pid,
            tab,
            pane,
            endpoint: endpoint.clone(),
        }
    });
    Ok(terminals.collect())
}

/// Finds a session by id, or else by device, or else by the most similar name.
pub fn resolve(terminals: &[Terminal], identifier: &str) -> ToolResult<Terminal> {
    // The part after the colon still identifies the session after it has moved to another tab.
    let own = |id: &str| id.rsplit_once(':').map(|(_, own)| own.to_owned());
    let by_id = terminals.iter().find(|it| {
        it.id == identifier || own(&it.id).is_some_and(|id| Some(id) == own(identifier))
    });
    let exact = by_id.or_else(|| {
        terminals.iter().find(|terminal| !terminal.tty.is_empty() && terminal.tty == identifier)
    });
    if let Some(exact) = exact {
        return Ok(exact.clone());
    }
    let scored = terminals.iter().map(|terminal| (score(identifier, &terminal.name), terminal));
    // If several names are equally similar, the first one wins.
    let best =
        scored.filter(|(score, _)| *score >= LEAST).fold(None::<(f64, &Terminal)>, |best, next| {
            match best {
                Some(best) if best.0 >= next.0 => Some(best),
                _ => Some(next),
            }
        });
    best.map(|(_, terminal)| terminal.clone()).ok_or_else(|| {
        let names: Vec<&str> = terminals.iter().map(|terminal| terminal.name.as_str()).collect();
        format!("No session found matching '{identifier}'. Available sessions: {}", listed(&names))
    })
}

/// Finds the session with this name.
pub async fn identified(ask: &Ask<'_>, identifier: &str) -> Result<Terminal, Value> {
    resolve(&all(ask).await.map_err(error)?, identifier).map_err(error)
}

/// Finds the session that the argument `identifier` names.
pub async fn named(ask: &Ask<'_>, given: &Map<String, Value>) -> Result<Terminal, Value> {
    identified(ask, text(given, "identifier")?).await
}

/// The similarity of a text and a name, regardless of case: the share of matching characters, plus a bonus if the name
/// contains the text.
pub fn score(wanted: &str, name: &str) -> f64 {
    const LONGEST: usize = 500;
    let chars = |text: &str| -> Vec<char> { text.to_lowercase().chars().take(LONGEST).collect() };
    let (wanted_chars, name_chars) = (chars(wanted), chars(name));
    if wanted_chars.is_empty() {
        return 0.0;
    }
    let matching = matching(&wanted_chars, &name_chars) as f64;
    let ratio = 2.0 * matching / (wanted_chars.len() + name_chars.len()) as f64;
    let is_part = name.to_lowercase().contains(&wanted.to_lowercase());
    ratio + if is_part { PART } else { 0.0 }
}

/// Counts the characters of the longest common substring and, recursively, of the texts to its left and right (Ratcliff
/// and Obershelp).
fn matching(a: &[char], b: &[char]) -> usize {
    let mut total = 0;
    let mut pairs = vec![(a, b)];
    while let Some((a, b)) = pairs.pop() {
        let mut best = (0, 0, 0);
        let mut before = vec![0; b.len() + 1];
        for (i, left) in a.iter().enumerate() {
            let mut now = vec![0; b.len() + 1];
            for (j, right) in b.iter().enumerate() {
                if left == right {
                    now[j + 1] = before[j] + 1;
                    if now[j + 1] > best.0 {
                        best = (now[j + 1], i + 1, j + 1);
                    }
                }
            }
            before = now;
        }
        let (length, i, j) = best;
        if length > 0 {
            total += length;
            pairs.push((&a[..i - length], &b[..j - length]));
            pairs.push((&a[i..], &b[j..]));
        }
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terminal(id: &str, name: &str, tty: &str) -> Terminal {
        let (id, name, tty) = (id.to_owned(), name.to_owned(), tty.to_owned());
        Terminal { id, name, tty, window: 1, tab: 0, pane: 0, endpoint: None }
    }

    #[test]
    fn likeness_is_that_of_pythons_difflib() {
        for (a, b, ratio) in [
            ("abcd", "bcde", 0.75),
            ("tide", "diet", 0.25),
            ("private thread", "private volatile", 0.666_666),
            ("same", "same", 1.0 + PART),
            ("", "x", 0.0),
        ] {
            assert!((score(a, b) - ratio).abs() < 0.001, "{a} {b}: {}", score(a, b));
        }
        assert!(score("BUILD", "my build server") > score("build", "bold"));
    }

    #[test]
    fn an_id_wins_over_a_device_and_a_device_over_a_name() {
        let all = [
            terminal("w1t0p0:alpha-1", "build server", "/dev/pts/1"),
            terminal("w1t1p0:alpha-2", "/dev/pts/1", "/dev/pts/2"),
            terminal("w1t2p0:alpha-3", "editor", ""),
        ];
        let found = |what: &str| resolve(&all, what).map(|it| it.id);
        assert_eq!(found("w1t1p0:alpha-2").unwrap(), all[1].id);
        assert_eq!(found("w9t9p9:alpha-2").unwrap(), all[1].id, "it moved");
        assert_eq!(found("/dev/pts/1").unwrap(), all[0].id);
        assert_eq!(found("Build").unwrap(), all[0].id);
        assert_eq!(found("edtor").unwrap(), all[2].id);
        assert_eq!(
            found("xyzzy").unwrap_err(),
            "No session found matching 'xyzzy'. Available sessions: ['build server', '/dev/pts/1', 'editor']"
        );
        assert!(found("").is_err());
    }
}
