//! The subjects that methods reveal and change. Each method declares its subjects. They determine the access that the
//! method needs, which tokens may call it and which calls are logged. So a method can't have less protection than its
//! effects need.

use crate::caller::Access;

/// Declares the subjects, each with its bit and its description.
macro_rules! subjects {
    ($($name:ident $bit:literal $about:literal)*) => {
        bitflags::bitflags! {
            /// The subjects that a method reveals to its caller, or changes.
            #[derive(Clone, Copy, Debug, PartialEq, Eq)]
            pub struct Subjects: u32 {
                $(
                    #[doc = $about]
                    const $name = 1 << $bit;
                )*
            }
        }

        impl Subjects {
            /// Every subject with its description.
            pub const ALL: &'static [(Self, &'static str)] = &[$((Self::$name, $about)),*];
        }
    };
}

subjects! {
    INSTANCE 0 "This instance: version, ports, title, methods."
    MACHINE 1 "The machine, and the public part of this user's other instances."
    SESSION 2 "The session that the call names: screen, history, commands, state."
    DRIVERS 3 "Who leases the input of the session that the call names, and the calls about it; for a token for all sessions, about any session."
    RECORDING 4 "The recording of the session that the call names."
    ENVIRONMENT 5 "Environment variables of the session that the call names, which hold API keys and the like."
    FOLDER 6 "The files below a session's working directory, which a command there could read and write."
    REACHED 7 "The sessions that the caller's token reaches, and their arrangement in tabs and windows."
    SESSIONS 8 "Any session, and the arrangement of sessions in tabs and windows."
    FILES 9 "Saved files of any session: recordings, layouts."
    CALLERS 10 "The connected clients, and their calls."
    RULES 11 "The rules on input lines."
    PREFERENCES 12 "Preferences. Below admin, the values of `[env]` are hidden."
    PROXY 13 "Addresses of proxies. Below admin, user names and passwords in them are hidden."
    DISPLAY 14 "The user's display, including windows of other programs."
    CLIPBOARD 15 "The system's clipboard."
    RIGHTS 16 "The tokens, the open settings pages, and the agents that may act."
    PAUSE 17 "The switch that pauses agents."
    SECRETS 18 "Hidden values: patterns of secrets, nonces of shells."
    KEYS 19 "Credentials: the instance's token, new tokens, codes for the settings page."
    USER 20 "The user's attention: asking a question."
    ANSWERS 21 "The user's answers."
    DISK 22 "Any file that this user may write."
    PICTURES 23 "The folders of pictures, where new pictures replace the oldest."
    ADAPTERS 24 "Which plugins watch the session that the call names."
    OPENED 25 "New sessions, which belong to the caller that opens them."
    DIALOGS 26 "The user's answers to programs' questions, and the user's inbox."
}

impl Subjects {
    /// Subjects that belong to the one session that a call names.
    pub const OF_NAMED: Self = Self::SESSION
        .union(Self::DRIVERS)
        .union(Self::RECORDING)
        .union(Self::ENVIRONMENT)
        .union(Self::FOLDER);

    /// Subjects that only admins may see.
    pub const HIDDEN: Self = Self::ENVIRONMENT
        .union(Self::DISPLAY)
        .union(Self::CLIPBOARD)
        .union(Self::RIGHTS)
        .union(Self::SECRETS)
        .union(Self::KEYS);

    /// Subjects that callers with read access may change.
    pub const LESSER: Self = Self::USER.union(Self::PICTURES).union(Self::ADAPTERS);

    /// The access needed to see these subjects.
    pub const fn to_see(self) -> Access {
        if self.intersects(Self::HIDDEN) {
            Access::Admin
        } else if self.intersects(Self::FOLDER) {
            Access::Act
        } else {
            Access::Read
        }
    }

    /// The access needed to change these subjects.
    pub const fn to_change(self) -> Access {
        const ACTED_ON: Subjects = Subjects::OF_NAMED
            .union(Subjects::INSTANCE)
            .union(Subjects::SESSIONS)
            .union(Subjects::OPENED)
            .union(Subjects::FILES)
            .union(Subjects::DISK)
            .union(Subjects::DIALOGS)
            .union(Subjects::LESSER);
        if Self::LESSER.contains(self) {
            Access::Read
        } else if ACTED_ON.contains(self) {
            Access::Act
        } else {
            Access::Admin
        }
    }

    /// The subjects' names, separated by commas.
    pub fn names(self) -> String {
        let names: Vec<_> = self.iter_names().map(|(name, _)| name.to_lowercase()).collect();
        names.join(", ")
    }
}
