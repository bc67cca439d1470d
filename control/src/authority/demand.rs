//! The rights that a method needs. They follow from the subjects that the method reveals and changes.

use super::Subjects;
use crate::caller::Access;

/// The subjects that a method reveals and changes, and the rights that a caller needs for them.
#[derive(Clone, Copy, Debug)]
pub struct Demand {
    /// The method's name.
    pub name: &'static str,
    /// The subjects that the method reveals to its caller.
    pub reveals: Subjects,
    /// The subjects that the method changes.
    pub changes: Subjects,
    /// The access that the caller's token must include.
    pub access: Access,
    /// The sessions that the method concerns.
    pub reach: Reach,
    /// The parameters that name sessions.
    pub named: &'static [&'static str],
}

/// The sessions that a method concerns. They decide whether a token that is limited to some sessions may call the
/// method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Only the session in the method's parameters. Such a token may call the method if it reaches that session.
    Named,
    /// No session, or only sessions that the token reaches. Such a token may call the method, unless the parameters
    /// name a session that it does not reach.
    Reached,
    /// Any session, or things other than sessions. Such a token may not call the method.
    Everything,
}

impl Demand {
    /// The demand of a method that reveals and changes these subjects.
    pub const fn of(
        name: &'static str,
        reveals: Subjects,
        changes: Subjects,
        named: &'static [&'static str],
    ) -> Self {
        let (see, change) = (reveals.to_see(), changes.to_change());
        let access = if see as u8 > change as u8 { see } else { change };
        let reach = reach(reveals, changes);
        Self { name, reveals, changes, access, reach, named }
    }
}

const fn reach(reveals: Subjects, changes: Subjects) -> Reach {
    let shown = Subjects::OF_NAMED.union(Subjects::INSTANCE).union(Subjects::REACHED);
    let changed = Subjects::OF_NAMED.union(Subjects::LESSER);
    if !shown.contains(reveals) || !changed.contains(changes) {
        Reach::Everything
    } else if reveals.union(changes).intersects(Subjects::OF_NAMED) {
        Reach::Named
    } else {
        Reach::Reached
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn demand(reveals: Subjects, changes: Subjects) -> (Access, Reach) {
        let demand = Demand::of("method", reveals, changes, &[]);
        (demand.access, demand.reach)
    }

    #[test]
    fn access_and_reach_follow_from_what_is_revealed_and_changed() {
        let none = Subjects::empty();
        for (reveals, changes, access, reach) in [
            (none, none, Access::Read, Reach::Reached),
            (Subjects::INSTANCE, none, Access::Read, Reach::Reached),
            (Subjects::MACHINE, none, Access::Read, Reach::Everything),
            (Subjects::SESSION, none, Access::Read, Reach::Named),
            (Subjects::SESSION | Subjects::REACHED, none, Access::Read, Reach::Named),
            (Subjects::SESSIONS, none, Access::Read, Reach::Everything),
            (Subjects::FOLDER, none, Access::Act, Reach::Named),
            (Subjects::ENVIRONMENT, none, Access::Admin, Reach::Named),
            (Subjects::SESSION | Subjects::SECRETS, none, Access::Admin, Reach::Everything),
            (Subjects::KEYS, none, Access::Admin, Reach::Everything),
            (none, Subjects::USER, Access::Read, Reach::Reached),
            (Subjects::SESSIONS, Subjects::PICTURES, Access::Read, Reach::Everything),
            (Subjects::SESSION, Subjects::ADAPTERS, Access::Read, Reach::Named),
            (none, Subjects::SESSION, Access::Act, Reach::Named),
            (none, Subjects::RECORDING | Subjects::DISK, Access::Act, Reach::Everything),
            (Subjects::SESSION, Subjects::SESSIONS, Access::Act, Reach::Everything),
            (none, Subjects::INSTANCE, Access::Act, Reach::Everything),
            (none, Subjects::OPENED, Access::Act, Reach::Everything),
            (none, Subjects::SESSION | Subjects::OPENED, Access::Act, Reach::Everything),
            (none, Subjects::SESSION | Subjects::RULES, Access::Admin, Reach::Everything),
            (none, Subjects::USER | Subjects::RIGHTS, Access::Admin, Reach::Everything),
        ] {
            assert_eq!(demand(reveals, changes), (access, reach), "{reveals:?}, {changes:?}");
        }
    }
}
