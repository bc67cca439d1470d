//! Files that Unterm writes and reads for its users: recordings, the audit log, workspaces and files of panes.

pub mod audit;
pub mod files;
pub mod recording;
pub mod redact;
pub mod shared_file;
pub mod workspace;
