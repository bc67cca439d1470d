//! Panes: their events, output, live views, leases and plugins, and waiting for their conditions.

pub mod adapters;
pub mod bytes;
pub mod classification;
pub mod contexts;
pub mod dialogs;
pub mod drivers;
pub mod events;
pub mod hidden;
pub mod inbox;
pub mod leases;
pub mod openers;
pub mod plugin_calls;
pub mod program_state;
pub mod proxy;
pub mod reports;
pub mod screen_rules;
pub mod streams;
pub mod texts;
pub mod viewers;
pub mod wait;

use std::{path::Path, sync::Arc};

use unterm_mux::Mux;

use self::{
    adapters::Adapters, bytes::Bytes, dialogs::Dialogs, drivers::Drivers, events::Hub,
    hidden::HiddenPanes, inbox::PutAside, leases::Leases, openers::Openers,
    program_state::ProgramStates, screen_rules::ScreenRules, streams::Streams, texts::TextCache,
    viewers::Viewers,
};
use crate::services::people::{questions::Questions, tokens::Tokens};

/// State about an instance's panes that the mux does not have.
pub struct Panes {
    /// The events of the panes.
    pub hub: Arc<Hub>,
    /// The leases on the panes' input.
    pub leases: Arc<Leases>,
    /// The programs that opened panes over the dialect of tmux.
    pub openers: Arc<Openers>,
    /// The caller that last typed in each pane.
    pub drivers: Drivers,
    /// The screen texts that callers requested last.
    pub texts: TextCache,
    /// The output of the programs in hidden and streamed panes.
    pub bytes: Arc<Bytes>,
    /// The live views of panes.
    pub viewers: Viewers,
    /// Copies of the output of panes, on their way from a method to the wire of its caller.
    pub streams: Streams,
    /// The hidden panes. Each is closed when its owner's connection ends.
    pub hidden: HiddenPanes,
    /// The panes that plugins watch.
    pub adapters: Arc<Adapters>,
    /// The state of the program in each pane, from every source.
    pub programs: Arc<ProgramStates>,
    /// Reads the questions on the screens of programs.
    pub dialogs: Arc<Dialogs>,
    /// The entries of the inbox that the user has put aside.
    pub put_aside: Arc<PutAside>,
}

impl Panes {
    /// `home` is Unterm's home. `states_changed` is called when the state that a plugin reads from a screen changes.
    pub fn new(
        home: &Path,
        mux: &Arc<Mux>,
        tokens: Arc<Tokens>,
        questions: Arc<Questions>,
        states_changed: impl Fn() + Send + Sync + 'static,
    ) -> Self {
        let leases = Leases::new(mux);
        let bytes = Arc::<Bytes>::default();
        bytes.follow_removals(mux);
        let hub = Hub::new(mux);
        let adapters = Adapters::new(hub.clone(), tokens, states_changed);
        let programs = ProgramStates {
            hub: hub.clone(),
            adapters: adapters.clone(),
            questions,
            rules: ScreenRules::new(home),
        };
        Self {
            adapters,
            programs: Arc::new(programs),
            dialogs: Arc::default(),
            put_aside: Arc::default(),
            hub,
            leases,
            openers: Arc::default(),
            drivers: Drivers::default(),
            texts: TextCache::default(),
            bytes,
            viewers: Viewers::default(),
            streams: Streams::default(),
            hidden: HiddenPanes::new(mux.clone()),
        }
    }
}
