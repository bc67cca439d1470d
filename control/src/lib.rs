//! The control server, through which agents, scripts and the settings page drive the mux, and the client side of the
//! same protocols.
//!
//! The crate owns:
//! - the transports, which carry bytes and split them into messages
//! - the dialects, which define names, message formats, login and error codes
//! - the table of methods, and their dispatch
//! - the authority, which decides who may do what (the folder `authority`: a list of gates, and the matrix of their
//!   results)
//! - the registry of instances under `~/.unterm`
//! - the client that `unterm-cli` uses
//!
//! It never draws, and opens no windows. For everything that only the app can do, it asks a [`Host`].
//!
//! Any program of the same user can read an instance's token from the registry and act with full rights. That adds
//! nothing to what such a program can do anyway. Other users and web pages can't read the token.

mod authority;
pub mod backend;
mod caller;
pub mod client;
mod dialect;
mod dispatch;
mod error;
mod host;
#[allow(
    missing_docs,
    reason = "the reference of methods, which is made from them, says what they are"
)]
pub mod methods;
mod offload;
pub mod plain_words;
mod poll;
mod product;
mod reference;
mod registry;
mod server;
mod services;
mod suggestion;
mod transport;
mod untrusted;

pub use authority::{Decision, Demand, Reach, Subjects};
pub(crate) use product::{ENGINE, VERSION};

pub use caller::{Access, Caller, Capabilities, Scopes, TokenKind, Wire};
pub use dialect::{ptywright, settings::languages};
pub use dispatch::Gate;
pub use error::{Denial, Error};
pub use host::{
    Acted, ActionInfo, ActionKeys, Binding, Bounds, Captures, Clip, Described, DetachedProgram,
    Headless, Host, HostRequest, Layouts, OnDisplay, OtherWindows, Preferences, ThemeInfo, Typing,
};
/// The Model Context Protocol over HTTP, for servers that are not an instance, such as the hub of a fleet.
pub mod mcp_http {
    pub use crate::{
        dialect::{
            http::{Lines, READING, failure, holding, reply, whole},
            mcp::{PendingReplies, instance_tools, serve_lines, sse},
        },
        services::limits::message_budget::{MessageBudget, OverBudget, Reservation},
        transport::limits::LONGEST_MESSAGE,
    };
    /// The crate that implements the protocol, so that such servers use the same version.
    pub use rmcp;
}
/// The dialect of tmux, for the program `tmux` of the command line.
pub mod tmux {
    pub use crate::dialect::tmux::{
        Answer, Control, Event, Hello, asks_version, control, program_version,
    };
}
pub use methods::moving::Mover;
pub use methods::{Entry, Group, METHODS, titles::title as plain_title};
pub use reference::{reference, tools};
pub use registry::{
    FileError, Record, RegistryFault, held, home, lock, lock_succession, remove_leftovers,
};
pub use server::{
    Answers, Inheritance, Legacy, NotInherited, Recordings, ReportedState, Server, ServerBuilder,
    ServerError, ServerOptions, SettingsLinks,
};
pub use services::{
    milliseconds_of,
    pane::{
        contexts::ProgramContext, drivers::Driver, program_state::claim::State as WorkState,
        screen_rules::ScreenRules,
    },
    people::{
        approvals::Approval,
        changes::{Changes, Topic},
        questions::{Question, QuestionKind},
    },
    records::workspace,
};
pub use suggestion::did_you_mean;
pub use transport::{
    contract::{Dialect, Handover, Input, MessageEffect, Output, Refusal},
    framing::{ContentLength, FrameRead, Framing, Lines},
    limits::LoginLimits,
    peer::{Credentials, LoginError, Peer},
};
/// Files of one user: written at once, and read within bounds.
pub use unterm_mux::{limit_kept_memory, private};
pub use untrusted::{escaped, shortened};

/// The full name of a toolset. Without a name, the name of the default toolset.
///
/// # Errors
/// No toolset has this name. A message for users.
pub fn toolset(name: Option<&str>) -> Result<&'static str, String> {
    dialect::mcp::toolset(name).map(|toolset| toolset.name)
}

/// Sets the proxy for programs that a mux starts from now on, as `proxy.json` in the home directory configures it. May
/// take a second or two.
pub fn apply_proxy(mux: &unterm_mux::Mux, home: &std::path::Path) {
    services::pane::proxy::apply(mux, home);
}
