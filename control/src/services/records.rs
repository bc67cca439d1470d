//! Files that Unterm writes and reads for its users: recordings, the audit log, workspaces and files of panes.

pub mod audit;
pub mod files;
pub mod recording;
pub mod redact;
pub mod shared_file;
pub mod workspace;

use std::{path::Path, sync::Arc};

use parking_lot::Mutex;

use self::{audit::Audit, recording::Recorder};

/// The records of an instance.
pub struct Records {
    /// The audit log.
    pub audit: Audit,
    /// The recordings.
    pub recorder: Arc<Recorder>,
    /// A lock that a call holds while it changes the proxy's file.
    pub proxy_turn: Arc<Mutex<()>>,
}

impl Records {
    /// The records below Unterm's home.
    pub fn new(home: &Path) -> Self {
        Self {
            audit: Audit::new(home),
            recorder: Arc::new(Recorder::new(home)),
            proxy_turn: Arc::default(),
        }
    }
}
