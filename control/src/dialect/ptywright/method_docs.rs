//! The documentation of the methods for users: the effect, the parameters and the result of each method. The command
//! line uses it to complete and explain methods.
//!
//! The server does not read it. A test compares it with the methods themselves and with the manual's page.

/// The documentation of a method.
#[derive(Debug)]
pub struct MethodDoc {
    /// The method's name.
    pub name: &'static str,
    /// A sentence about the method.
    pub about: &'static str,
    /// The parameters of the method, the required ones first.
    pub params: &'static [ParamDoc],
    /// The form of the method's result.
    pub result: &'static str,
}

/// The documentation of a parameter. A name with a dot stands for a member of an object, such as `action.type`.
#[derive(Debug)]
pub struct ParamDoc {
    /// The parameter's name.
    pub name: &'static str,
    /// Whether a call without it is an error.
    pub is_required: bool,
    /// The kind of value.
    pub value: ParamValue,
    /// The meaning of the parameter, without a full stop.
    pub about: &'static str,
}

/// The value of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamValue {
    /// Any text.
    Text,
    /// A number.
    Number,
    /// True or false.
    Flag,
    /// A list.
    List,
    /// An object.
    Object,
    /// Any of these kinds. The other parameters decide which one is valid.
    Any,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// The id of a session.
    Session,
    /// The id of an adapter.
    Adapter,
    /// The name of a plugin.
    Plugin,
    /// An intent of the plugin.
    Intent,
    /// A function of the plugin that returns a matcher.
    WaitMatcher,
    /// A function of the plugin that decides whether a wait has ended.
    Predicate,
}

impl ParamValue {
    /// Whether the value is a text. For such a parameter, `5` is the text "5" and not a number.
    pub fn is_text(self) -> bool {
        !matches!(self, Self::Number | Self::Flag | Self::List | Self::Object | Self::Any)
    }

    /// The placeholder for the value in help texts.
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Number => "number",
            Self::Flag => "true or false",
            Self::List => "list",
            Self::Object => "object",
            Self::Any => "value",
            Self::Choice(_) => "word",
            Self::Session => "session",
            Self::Adapter => "adapter",
            Self::Plugin => "plugin",
            Self::Intent => "intent",
            Self::WaitMatcher => "wait matcher",
            Self::Predicate => "function",
        }
    }
}

/// The method with this name.
pub fn find(name: &str) -> Option<&'static MethodDoc> {
    METHOD_DOCS.iter().find(|doc| doc.name == name)
}

const fn needs(name: &'static str, value: ParamValue, about: &'static str) -> ParamDoc {
    ParamDoc { name, is_required: true, value, about }
}

const fn may(name: &'static str, value: ParamValue, about: &'static str) -> ParamDoc {
    ParamDoc { name, is_required: false, value, about }
}

use ParamValue as V;

const SESSION: ParamDoc = needs("session", V::Session, "the session's id");
const ADAPTER: ParamDoc = needs("adapter", V::Adapter, "the adapter's id");
const PLUGIN: ParamDoc = needs("plugin", V::Plugin, "the plugin's name");
const PANE: ParamDoc = needs("pane", V::Number, "the session's number on the control port");
const PANE_PLUGIN: ParamDoc = may("plugin", V::Plugin, "the plugin's name (default: by program)");
const REDACT: ParamDoc = may("redact", V::Flag, "false: return secrets too (default: true)");
const REDACTION: ParamDoc = may(
    "redaction",
    V::Object,
    "more rules: {enabled, replacement?, extra_literals?, extra_regexes?}",
);
const PROGRAM: ParamDoc = may("program", V::Text, "name or path (default: the plugin's)");
const ARGS: ParamDoc = may("args", V::List, "the program's arguments");
const CWD: ParamDoc = may("cwd", V::Text, "working directory (default: the server's)");
const ENV: ParamDoc = may("env", V::Object, "environment variables to add");
const PIXEL_WIDTH: ParamDoc = may("pixel_width", V::Number, "the screen's width in pixels");
const PIXEL_HEIGHT: ParamDoc = may("pixel_height", V::Number, "the screen's height in pixels");
const ROWS: ParamDoc =
    may("rows", V::Number, "rows of the screen (default: the plugin's, else 40)");
const COLS: ParamDoc =
    may("cols", V::Number, "columns of the screen (default: the plugin's, else 120)");

/// The types of an action.
const ACTIONS: &[&str] = &[
    "text",
    "stream_text",
    "paste",
    "bracketed_paste",
    "key",
    "resize",
    "interrupt",
    "eof",
    "kill",
    "signal",
    "mark_transcript",
];
/// The types of a matcher.
const MATCHERS: &[&str] = &[
    "contains_text",
    "screen_regex",
    "transcript_contains",
    "transcript_regex",
    "cursor_at",
    "screen_stable",
    "process_exited",
    "any",
    "all",
    "lua",
];

const ADAPTER_START: &[ParamDoc] =
    &[PLUGIN, PROGRAM, ARGS, CWD, ENV, ROWS, COLS, PIXEL_WIDTH, PIXEL_HEIGHT];

/// Every method.
pub const METHOD_DOCS: &[MethodDoc] = &[
    MethodDoc {
        name: "server.capabilities",
        about: "Describe the server.",
        params: &[],
        result: "{name, version, framing, methods, notifications}",
    },
    MethodDoc {
        name: "server.set_notifications",
        about: "Start or stop notifications on this connection.",
        params: &[
            needs("enabled", V::Flag, "whether to send them"),
            may("sessions", V::List, "only of these sessions and of `adapters`"),
            may("adapters", V::List, "only of these adapters and of `sessions`"),
        ],
        result: "{enabled, adapters, sessions}",
    },
    MethodDoc {
        name: "session.create",
        about: "Start a program on a terminal of its own.",
        params: &[
            needs("program", V::Text, "name or path"),
            ARGS,
            CWD,
            ENV,
            may("rows", V::Number, "rows of the screen (default: 24)"),
            may("cols", V::Number, "columns of the screen (default: 80)"),
            PIXEL_WIDTH,
            PIXEL_HEIGHT,
            may(
                "transcript_max_chars",
                V::Number,
                "characters of output to keep (default: 131072)",
            ),
            may(
                "raw_transcript_path",
                V::Text,
                "file for the output, byte by byte and not redacted",
            ),
            may("raw_transcript_append", V::Flag, "true: append to an existing file"),
        ],
        result: "{session}",
    },
    MethodDoc {
        name: "session.list",
        about: "List the sessions.",
        params: &[],
        result: "{sessions: [id]}",
    },
    MethodDoc {
        name: "session.input",
        about: "Type, press a key, resize or send a signal.",
        params: &[
            SESSION,
            needs("action", V::Object, "{type, value?}"),
            may("action.type", V::Choice(ACTIONS), "what to do"),
            may("action.value", V::Any, "the text, key, size or signal; depends on the type"),
        ],
        result: "{sent: true}",
    },
    MethodDoc {
        name: "session.wait",
        about: "Wait until a matcher matches. Ctrl+C cancels the wait.",
        params: &[
            SESSION,
            needs("matcher", V::Object, "{type, value?}"),
            may("matcher.type", V::Choice(MATCHERS), "what to look at"),
            may("matcher.value", V::Any, "the text, expression or list; depends on the type"),
            may("matcher.value.plugin", V::Plugin, "for `lua`: the plugin's name"),
            may("matcher.value.predicate", V::Predicate, "for `lua`: a function of the plugin"),
            may("matcher.value.params", V::Object, "for `lua`: passed to the function"),
            may("timeout_ms", V::Number, "milliseconds to wait (default: 30000)"),
        ],
        result: "{matched: true, sequence, elapsed_ms, snapshot, transcript_tail}",
    },
    MethodDoc {
        name: "session.snapshot",
        about: "Read the screen.",
        params: &[SESSION, REDACT, REDACTION],
        result: "{size, cursor, sequence, plain_text, cells, alternate_screen, application_cursor, \
                 application_keypad, title}",
    },
    MethodDoc {
        name: "session.transcript",
        about: "Read the output that is kept.",
        params: &[SESSION, REDACT, REDACTION],
        result: "{text}",
    },
    MethodDoc {
        name: "session.resize",
        about: "Change the size of the screen.",
        params: &[
            SESSION,
            needs("rows", V::Number, "rows of the screen"),
            needs("cols", V::Number, "columns of the screen"),
            PIXEL_WIDTH,
            PIXEL_HEIGHT,
        ],
        result: "{resized: true}",
    },
    MethodDoc {
        name: "session.kill",
        about: "End the program. Its last screen stays readable.",
        params: &[SESSION],
        result: "{killed: true}",
    },
    MethodDoc {
        name: "session.close",
        about: "End the program and forget the session.",
        params: &[SESSION],
        result: "{closed: true}",
    },
    MethodDoc {
        name: "adapter.list",
        about: "List the plugins that can drive a program.",
        params: &[],
        result: "{plugins: [manifest]}",
    },
    MethodDoc {
        name: "adapter.live",
        about: "List the adapters.",
        params: &[],
        result: "{adapters: [{adapter, plugin, session, sequence, finished}]}",
    },
    MethodDoc {
        name: "adapter.start",
        about: "Start a program that a plugin drives.",
        params: ADAPTER_START,
        result: "{adapter, plugin, session, state}",
    },
    MethodDoc {
        name: "adapter.resume",
        about: "Start a program in place of an earlier one.",
        params: &[
            PLUGIN,
            may("prior_adapter", V::Adapter, "close this adapter first"),
            PROGRAM,
            ARGS,
            CWD,
            ENV,
            ROWS,
            COLS,
            PIXEL_WIDTH,
            PIXEL_HEIGHT,
        ],
        result: "{adapter, plugin, session, state}",
    },
    MethodDoc {
        name: "adapter.state",
        about: "Classify the program's screen.",
        params: &[ADAPTER],
        result: "{state}",
    },
    MethodDoc {
        name: "adapter.send",
        about: "Carry out an intent of the plugin.",
        params: &[
            ADAPTER,
            needs("intent", V::Intent, "what to do"),
            may("params", V::Object, "the intent's parameters"),
        ],
        result: "{state}",
    },
    MethodDoc {
        name: "adapter.wait",
        about: "Wait for the program, usually for the end of its turn.",
        params: &[
            ADAPTER,
            may("intent", V::WaitMatcher, "what to wait for (default: wait_turn_matcher)"),
            may("params", V::Object, "passed to the function"),
            may("timeout_ms", V::Number, "milliseconds to wait (default: 120000)"),
            may("wait_id", V::Text, "a name for adapter.cancel_wait"),
        ],
        result: "{state, matched, wait_id?}",
    },
    MethodDoc {
        name: "adapter.turn",
        about: "Carry out an intent, then wait. No other client acts in between.",
        params: &[
            ADAPTER,
            needs("send", V::Object, "{intent, params?}"),
            may("send.intent", V::Intent, "what to do"),
            may("send.params", V::Object, "the intent's parameters"),
            may("wait", V::Object, "{intent?, params?, timeout_ms?, wait_id?}"),
            may("wait.intent", V::WaitMatcher, "what to wait for (default: wait_turn_matcher)"),
            may("wait.params", V::Object, "passed to the function"),
            may("wait.timeout_ms", V::Number, "milliseconds to wait (default: 120000)"),
            may("wait.wait_id", V::Text, "a name for adapter.cancel_wait"),
        ],
        result: "{state, matched, wait_id?}",
    },
    MethodDoc {
        name: "adapter.cancel_wait",
        about: "End a wait of another connection.",
        params: &[needs("wait_id", V::Text, "the wait's name")],
        result: "{cancelled, adapter?, wait_id}",
    },
    MethodDoc {
        name: "adapter.snapshot",
        about: "Read the program's screen.",
        params: &[ADAPTER, REDACT, REDACTION],
        result: "as for session.snapshot",
    },
    MethodDoc {
        name: "adapter.transcript",
        about: "Read the program's output that is kept.",
        params: &[ADAPTER, REDACT, REDACTION],
        result: "{text}",
    },
    MethodDoc {
        name: "adapter.inspect",
        about: "Show what the plugin's classifier sees.",
        params: &[ADAPTER, REDACT, REDACTION],
        result: "{adapter, plugin, state, plain_text, body_text, status_text, transcript_tail, sequence}",
    },
    MethodDoc {
        name: "adapter.close",
        about: "End the program and forget the adapter.",
        params: &[ADAPTER],
        result: "{closed: true}",
    },
    MethodDoc {
        name: "adapter.attach",
        about: "Watch a pane of the instance with a plugin. Needs a server with --instance.",
        params: &[PANE, PANE_PLUGIN],
        result: "{pane, plugin, state}",
    },
    MethodDoc {
        name: "adapter.detach",
        about: "Stop watching a pane: with one plugin, or with all.",
        params: &[PANE, PANE_PLUGIN],
        result: "{detached}",
    },
    MethodDoc {
        name: "adapter.states",
        about: "List the watched panes with their programs' states.",
        params: &[],
        result: "{states: [{pane, plugin, state}]}",
    },
    MethodDoc {
        name: "plugin.capabilities",
        about: "Describe what plugins can be.",
        params: &[],
        result: "{embedded_lua, builtin_plugins: [manifest], runtimes, permissions, plugin_load}",
    },
    MethodDoc {
        name: "plugin.validate_manifest",
        about: "Check a manifest.",
        params: &[needs("manifest", V::Object, "the manifest")],
        result: "{valid: true}",
    },
    MethodDoc {
        name: "plugin.describe",
        about: "List a plugin's intents, wait matchers and states.",
        params: &[PLUGIN],
        result: "{plugin, manifest, intents, wait_matchers, states}",
    },
    MethodDoc {
        name: "plugin.load",
        about: "Load a plugin from a file. Needs a server with --allow-plugin-load.",
        params: &[needs("manifest_path", V::Text, "path of manifest.toml, seen from the server")],
        result: "{plugin}",
    },
    MethodDoc {
        name: "plugin.unload",
        about: "Forget a plugin. Needs a server with --allow-plugin-load.",
        params: &[PLUGIN],
        result: "{unloaded: true}",
    },
];

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const PAGE: &str = include_str!("../../../../assets/docs/ptywright.md");

    #[test]
    fn the_page_names_the_same_parameters() {
        for doc in METHOD_DOCS {
            let start = format!("| `{}` |", doc.name);
            let row = PAGE.lines().find(|line| line.starts_with(&start));
            let row = row.unwrap_or_else(|| panic!("{} is not on the page", doc.name));
            let params = row.split('|').nth(2).unwrap_or_default();
            // "the same" stands for the parameters in the row above.
            if params.contains("the same") {
                continue;
            }
            for param in doc.params.iter().filter(|param| !param.name.contains('.')) {
                let (plain, optional) = (format!("`{}`", param.name), format!("`{}`?", param.name));
                // The page may show an object together with its members.
                let is_there =
                    params.contains(&plain) || params.contains(&format!("`{}:", param.name));
                assert!(is_there, "{}: {} is missing in {params}", doc.name, param.name);
                assert_eq!(
                    params.contains(&optional),
                    !param.is_required,
                    "{}: {}",
                    doc.name,
                    param.name
                );
            }
        }
    }

    /// The names in serde's message "unknown field `x`, expected one of `a`, `b`".
    fn expected(message: &str) -> Vec<String> {
        let list = message.split_once("expected ").map_or("", |(_, list)| list);
        list.split('`').skip(1).step_by(2).map(str::to_owned).collect()
    }

    #[test]
    fn types_of_actions_and_matchers_are_those_of_the_protocol() {
        let unknown = json!({"type": "nope"});
        let error = serde_json::from_value::<unterm_plugin::Action>(unknown.clone()).unwrap_err();
        assert_eq!(expected(&error.to_string()), ACTIONS);
        let error = serde_json::from_value::<unterm_plugin::Matcher>(unknown).unwrap_err();
        assert_eq!(expected(&error.to_string()), MATCHERS);
    }

    #[test]
    fn a_members_object_is_a_parameter_too() {
        for doc in METHOD_DOCS {
            for param in doc.params.iter().filter(|param| param.name.contains('.')) {
                let object = param.name.split('.').next();
                assert!(
                    doc.params.iter().any(|param| Some(param.name) == object),
                    "{}",
                    param.name
                );
            }
        }
    }
}
