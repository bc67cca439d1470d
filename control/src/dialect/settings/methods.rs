//! The methods that only this dialect has, for the settings page. Like every other method, they are called by the
//! dispatcher and use the common services.

mod agents;
mod overview;
mod preferences;
mod recordings;
mod single;

pub use self::{
    agents::{Agents, ClosePage, Pause, Policy},
    overview::{Answers, CheckUpdates, SetProxy, State, Title, Updates},
    preferences::{All, Keys, Section, SetKeys, SetSection, SetTheme, Theme, Themes},
    recordings::{Recording, Search, SetRecording},
    single::{Compat, Language, Scrollback, SetCompat, SetLanguage, SetScrollback, Words},
};

/// Defines a method whose parameters are one type. The brackets contain the subjects that the method reveals.
macro_rules! method {
    (
        $(#[$doc:meta])*
        $type:ident $name:literal [$($reveals:ident)*] $(changes $changes:ident)? $(logs $logs:ident)? $about:literal
        ($context:ident, $params:ident: $given:ty) $($rest:tt)*
    ) => {
        method! {
            $(#[$doc])*
            $type $name [$($reveals)*] $(changes $changes)? $(logs $logs)? $about
            ($context, _caller, $params: $given) $($rest)*
        }
    };
    (
        $(#[$doc:meta])*
        $type:ident $name:literal [$($reveals:ident)*] $(changes $changes:ident)? $(logs $logs:ident)? $about:literal
        ($context:ident, $caller:ident, $params:ident: $given:ty) -> $reply:ty $body:block
    ) => {
        $(#[$doc])*
        pub struct $type;

        impl $crate::methods::Method for $type {
            const NAME: &'static str = $name;
            const GROUP: $crate::methods::Group = $crate::methods::Group::Governance;
            const REVEALS: $crate::authority::Subjects = $crate::authority::Subjects::empty()
                $(.union($crate::authority::Subjects::$reveals))*;
            $(const CHANGES: $crate::authority::Subjects = $crate::authority::Subjects::$changes;)?
            const DOC: &'static str = $about;
            type Params<'a> = $crate::methods::params::Raw<'a, $given>;
            type Reply = $reply;

            $(fn detail(
                _: &$crate::methods::Context,
                params: &serde_json::Map<String, serde_json::Value>,
                _: $crate::authority::audit::Detail,
            ) -> $crate::authority::audit::Detail {
                $crate::authority::audit::Detail::$logs(params)
            })?

            async fn call<'a>(
                $context: &'a $crate::methods::Context,
                $caller: &'a $crate::caller::Caller,
                params: Self::Params<'a>,
            ) -> $crate::error::Result<$reply> {
                let $params: $given = params.params()?;
                $body
            }
        }
    };
}
use method;

/// The result of a change of preferences. An error is text for the user.
type ChangeResult<T> = std::result::Result<T, String>;
