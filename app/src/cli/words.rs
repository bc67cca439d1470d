//! Arguments that several commands share: the number of a pane, and a path.

use std::path::Path;

use anyhow::Result;
use clap::Args as ClapArgs;

/// Names a session, among other arguments.
#[derive(ClapArgs)]
pub struct Id {
    /// Number of the pane [default: the pane that this command runs in, else the only one].
    #[arg(long)]
    pub id: Option<u64>,
}

/// Names a session, by an option or by the only argument.
#[derive(ClapArgs)]
pub struct OnlyId {
    /// Number of the pane [default: the pane that this command runs in, else the only one].
    #[arg(long)]
    pub id: Option<u64>,
    /// Another way to write --id.
    #[arg(value_name = "PANE", conflicts_with = "id")]
    pub session: Option<u64>,
}

/// Arguments that may select a pane.
pub trait Named {
    /// The number of the selected pane, if one is given.
    fn given(&self) -> Option<u64>;
}

impl Named for Id {
    fn given(&self) -> Option<u64> {
        self.id
    }
}

impl Named for OnlyId {
    fn given(&self) -> Option<u64> {
        self.id.or(self.session)
    }
}

/// Finds the pane to use: the given pane, or else the pane that the command runs in, or else the only open pane.
pub type Meant<'a> = &'a mut dyn FnMut(&dyn Named) -> Result<u64>;

/// Makes a path absolute, because the server may run in another directory.
pub fn absolute(path: Option<&Path>) -> Result<Option<String>> {
    let path = path.map(std::path::absolute).transpose()?;
    Ok(path.map(|path| path.to_string_lossy().into_owned()))
}
