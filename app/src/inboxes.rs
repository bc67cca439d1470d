//! The inboxes of all instances of this machine: follows their changes, and calls the instance of an entry.
//!
//! Owns no entries. The window and `unterm-cli inbox` show what this module reports, each in its own way.

use std::{
    collections::{HashMap, HashSet},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use anyhow::{Context as _, Result, bail};
use notify::{RecursiveMode, Watcher as _};
use serde::Serialize;
use tokio::{sync::mpsc, task::JoinSet};
use unterm_control::{
    Caller, Record,
    backend::{Backend, Calls as _},
    client::{self, Endpoint, Remote},
    methods::{
        inbox::{
            Answer, AnswerParams, AnswerReply, Dismiss, Entry, KeyParams, List, ListParams, Show,
            ShowReply, Snooze, SnoozeParams,
        },
        instance,
        layout::Focus,
        params::{NoParams, SessionOnly},
    },
};

/// The maximum time that one call waits for a change, in milliseconds.
const WAIT: u64 = 60_000;
/// The longest time to wait for the entries of an instance. A stopped process accepts connections, but never answers.
const PATIENCE: Duration = Duration::from_secs(2);

/// An entry, and the instance that it belongs to.
#[derive(Clone, Debug, Hash, PartialEq, Eq, Serialize)]
pub(crate) struct Listed {
    pub(crate) instance: String,
    #[serde(flatten)]
    pub(crate) entry: Entry,
}

impl Listed {
    pub(crate) fn of(instance: &str, entries: Vec<Entry>) -> Vec<Self> {
        let listed = |entry| Self { instance: instance.to_owned(), entry };
        entries.into_iter().map(listed).collect()
    }

    /// Whether two entries are about the same question. Ignores titles, which can be animated, the time, which for a
    /// program's own question is the time of its last output, and the key, which changes with each input.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let asked = |Self { instance, entry }: &Self| {
            let Entry { session, kind, question, source, number, .. } = entry;
            (instance.clone(), *session, *kind, question.clone(), *source, *number)
        };
        asked(self) == asked(other)
    }
}

/// Sorts entries by time, the newest first. An entry without a time comes last. Entries of the same time are sorted by
/// instance.
pub(crate) fn sort(entries: &mut [Listed]) {
    entries.sort_by(|one, other| {
        let by_time = other.entry.since.cmp(&one.entry.since);
        by_time.then_with(|| one.instance.cmp(&other.instance))
    });
}

/// A change in the inboxes.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    /// The entries of an instance, newest first.
    Entries(String, Vec<Listed>),
    /// An instance has ended.
    Ended(String),
    /// An instance can't be followed, for example because it is of an earlier version. Contains the instance and the
    /// reason.
    Unreachable(String, String),
}

/// The inboxes of the instances that are registered in a home directory.
#[derive(Clone)]
pub(crate) struct Inboxes {
    home: PathBuf,
    /// The name of this client.
    client: &'static str,
    /// The only instance to ask, if there is one.
    only: Option<Endpoint>,
    /// The id of the instance in this process, and the backend that calls it directly.
    own: Option<(String, Arc<dyn Backend>)>,
}

impl Inboxes {
    pub(crate) fn new(home: &Path, client: &'static str) -> Self {
        Self { home: home.to_owned(), client, only: None, own: None }
    }

    /// Leaves out all instances but this one.
    pub(crate) fn only(self, only: Option<Endpoint>) -> Self {
        Self { only, ..self }
    }

    /// Includes the instance in this process, even if it is not registered.
    pub(crate) fn with_own(self, id: String, backend: Arc<dyn Backend>) -> Self {
        Self { own: Some((id, backend)), ..self }
    }

    /// The running instances. Reads files.
    fn instances(&self) -> Vec<Instance> {
        let own = self.own.iter().map(|(id, backend)| self.instance(id, None, Arc::clone(backend)));
        let is_own = |record: &Record| self.own.as_ref().is_some_and(|(id, _)| *id == record.id);
        let others = client::live(&self.home).into_iter().filter(|record| !is_own(record));
        let others = others.filter_map(|record| {
            let endpoint = Endpoint::from(record.clone());
            if self.only.as_ref().is_some_and(|only| *only != endpoint) {
                return None;
            }
            let backend = Arc::new(Remote::new(endpoint, Some(self.client)));
            Some(self.instance(&record.id.clone(), Some(record), backend))
        });
        own.chain(others).collect()
    }

    fn instance(&self, id: &str, record: Option<Record>, backend: Arc<dyn Backend>) -> Instance {
        let caller = Caller::of_user(Some(self.client));
        Instance { id: id.to_owned(), record, backend, caller }
    }

    /// The running instance with this id.
    ///
    /// # Errors
    /// The instance has ended.
    pub(crate) async fn find(&self, id: &str) -> Result<Instance> {
        let mut all = self.listed().await?.into_iter();
        all.find(|instance| instance.id == id).with_context(|| format!("{id} has ended"))
    }

    async fn listed(&self) -> Result<Vec<Instance>> {
        let inboxes = self.clone();
        Ok(tokio::task::spawn_blocking(move || inboxes.instances()).await?)
    }

    /// The entries of all instances now, newest first. An instance that can't be asked, or does not answer soon, is left
    /// out.
    pub(crate) async fn now(&self) -> Result<Vec<Listed>> {
        let (mut asked, mut all) = (JoinSet::new(), Vec::new());
        for instance in self.listed().await? {
            asked.spawn(async move {
                let entries = tokio::time::timeout(PATIENCE, instance.entries()).await;
                entries.unwrap_or_else(|_| bail!("{} does not answer", instance.id))
            });
        }
        while let Some(asked) = asked.join_next().await {
            match asked.unwrap_or_else(|error| Err(error.into())) {
                Ok(entries) => all.extend(entries),
                Err(error) => tracing::debug!("no inbox: {error:#}"),
            }
        }
        sort(&mut all);
        Ok(all)
    }

    /// Reports the inbox of each instance now and at each change. Never returns, unless the registry can't be watched.
    ///
    /// # Errors
    /// The registry can't be watched.
    pub(crate) async fn follow(
        self,
        report: impl Fn(Change) + Clone + Send + 'static,
    ) -> Result<()> {
        // A new instance writes a file to this folder. Reading the files is an event, too, which must not count.
        let folder = client::instances_folder(&self.home);
        unterm_mux::private::create_folder(&folder)?;
        let (sender, mut changes) = mpsc::channel(1);
        let look = move |event: notify::Result<notify::Event>| {
            if event.is_ok_and(|event| !event.kind.is_access()) {
                // If the queue is full, the instances are listed again anyway.
                let _ = sender.try_send(());
            }
        };
        let mut watcher = notify::recommended_watcher(look)?;
        watcher.watch(&folder, RecursiveMode::NonRecursive)?;
        let (mut followed, mut tasks) = (HashSet::new(), JoinSet::new());
        // The instances that could not be followed. After a change of the registry, they are tried again: a restarted
        // instance has the name of the one that ended. A second failure of the same process is not reported.
        let mut failed: HashMap<String, Option<Record>> = HashMap::new();
        let mut is_changed = true;
        loop {
            for instance in self.listed().await? {
                let is_other = failed.get(&instance.id) != Some(&instance.record);
                if (is_changed || is_other) && followed.insert(instance.id.clone()) {
                    tasks.spawn(instance.follow(report.clone()));
                }
            }
            is_changed = false;
            tokio::select! {
                Some(()) = changes.recv() => is_changed = true,
                Some(ended) = tasks.join_next() => {
                    let Ok((id, end)) = ended else { continue };
                    followed.remove(&id);
                    match end {
                        FollowEnd::Ended => report(Change::Ended(id)),
                        FollowEnd::Failed(record, why) => {
                            let record = record.map(|record| *record);
                            if failed.insert(id.clone(), record.clone()) != Some(record) {
                                report(Change::Unreachable(id, why));
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Why an instance is no longer followed.
enum FollowEnd {
    /// Its process has ended.
    Ended,
    /// It can't be asked. Contains its entry in the registry, and the reason.
    Failed(Option<Box<Record>>, String),
}

/// A running instance.
pub(crate) struct Instance {
    id: String,
    /// The entry in the registry. `None`: the instance is in this process.
    record: Option<Record>,
    backend: Arc<dyn Backend>,
    caller: Caller,
}

impl Instance {
    /// Reports the inbox at each change. Returns the instance's id, and why it is no longer followed.
    async fn follow(self, report: impl Fn(Change) + Send) -> (String, FollowEnd) {
        let mut version: Option<String> = None;
        loop {
            let timeout_ms = version.is_some().then_some(WAIT).into();
            let params =
                ListParams { version: version.clone().into(), timeout_ms, ..ListParams::default() };
            match self.backend.call::<List>(&self.caller, params).await {
                Ok(reply) => {
                    let is_new = version.as_ref() != Some(&reply.version);
                    version = Some(reply.version);
                    if is_new {
                        let entries = Listed::of(&self.id, reply.entries);
                        report(Change::Entries(self.id.clone(), entries));
                    }
                }
                Err(_) if self.record.as_ref().is_some_and(|record| !record.is_live()) => {
                    return (self.id, FollowEnd::Ended);
                }
                Err(error) => {
                    return (
                        self.id,
                        FollowEnd::Failed(self.record.map(Box::new), error.to_string()),
                    );
                }
            }
        }
    }

    async fn entries(&self) -> Result<Vec<Listed>> {
        let params = ListParams::default();
        let reply = self.backend.call::<List>(&self.caller, params).await?;
        Ok(Listed::of(&self.id, reply.entries))
    }

    /// The question of a pane's program, as its screen shows it.
    pub(crate) async fn show(&self, pane: u64) -> Result<ShowReply> {
        Ok(self.backend.call::<Show>(&self.caller, SessionOnly::of(pane)).await?)
    }

    /// Answers the question of a pane's program, if it is still the question that the parameters name.
    pub(crate) async fn answer(&self, params: AnswerParams<'static>) -> Result<AnswerReply> {
        Ok(self.backend.call::<Answer>(&self.caller, params).await?)
    }

    /// Removes an entry from the inbox: for a time, or until it changes.
    ///
    /// # Errors
    /// The entry no longer exists, or the instance refused.
    pub(crate) async fn put_aside(&self, listed: &Listed, time: Option<Duration>) -> Result<()> {
        // Each input in the pane changes the key, so read it again.
        let entries = self.entries().await?;
        let Some(now) = entries.into_iter().find(|now| now.is_same(listed)) else {
            bail!("the question was answered or has changed");
        };
        let key = now.entry.key.into();
        match time {
            None => {
                self.backend.call::<Dismiss>(&self.caller, KeyParams { key }).await?;
            }
            Some(time) => {
                let duration_ms = u64::try_from(time.as_millis())?.into();
                let params = SnoozeParams { key, duration_ms };
                self.backend.call::<Snooze>(&self.caller, params).await?;
            }
        }
        Ok(())
    }

    /// Focuses a pane, and brings the instance's window to the front.
    pub(crate) async fn focus(&self, pane: Option<u64>) -> Result<()> {
        if let Some(pane) = pane {
            self.backend.call::<Focus>(&self.caller, SessionOnly::of(pane)).await?;
        }
        self.backend.call::<instance::Focus>(&self.caller, NoParams {}).await?;
        Ok(())
    }
}
