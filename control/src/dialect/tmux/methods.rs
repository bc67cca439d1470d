//! The methods that only this dialect has. The dispatcher calls them like every other method, so the gates decide about
//! each of them. Each method that changes something names the pane that it changes.

mod arrange;
mod capture;
mod list;
mod open;
mod resize;
mod stream;

pub use self::{
    arrange::{
        Arrange, ArrangeParams, Keep, KeepParams, ProgramEnd, Relocate, RelocateParams, node,
    },
    capture::{Capture, CaptureParams},
    list::{List, Listing, Pane, Tab},
    open::{Open, OpenParams, Program, Respawn, RespawnParams, Split, SplitParams},
    resize::{Clear, ClearParams, Resize, ResizeParams},
    stream::{Stream, StreamParams},
};

use std::sync::{Arc, LazyLock};

use unterm_mux::{Pane as MuxPane, PaneId};

use crate::{
    caller::Caller,
    error::{Error, Result},
    methods::{Context, Entry, Method},
};

/// The rows of the methods.
static ENTRIES: LazyLock<[Entry; 11]> = LazyLock::new(|| {
    use crate::methods::entry;
    [
        entry::<List>(),
        entry::<Capture>(),
        entry::<Open>(),
        entry::<Split>(),
        entry::<Respawn>(),
        entry::<Arrange>(),
        entry::<Relocate>(),
        entry::<Keep>(),
        entry::<Stream>(),
        entry::<Resize>(),
        entry::<Clear>(),
    ]
});

/// The methods of this dialect.
#[cfg(test)]
pub fn own_methods() -> impl Iterator<Item = &'static Entry> {
    ENTRIES.iter()
}

/// The row of a method. `None` for a method of the common table.
pub fn own<M: Method>() -> Option<&'static Entry> {
    ENTRIES.iter().find(|entry| entry.name == M::NAME)
}

/// A pane that a method changes.
///
/// # Errors
/// There is no such pane, or the caller may not change it now.
fn touched(context: &Context, caller: &Caller, id: u64) -> Result<Arc<MuxPane>> {
    let pane = context.mux.pane(PaneId(id)).ok_or(Error::NoSession(id))?;
    context.authority.touch(caller, &pane)?;
    Ok(pane)
}
