//! Variables of the environment of new programs.

use std::collections::BTreeMap;

/// The variables of a session, or of all sessions. `None`: the variable is removed from the environment of new
/// programs.
pub type Environment = BTreeMap<String, Variable>;

/// A variable.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variable {
    /// The value.
    pub value: Option<String>,
    /// Whether the variable is hidden from programs.
    pub is_hidden: bool,
}
