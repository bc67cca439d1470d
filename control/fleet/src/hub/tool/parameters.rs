//! The parameters of the hub's tools. Each tool has a type, from which its schema and its default values are generated.

use rmcp::model::JsonObject;
use schemars::{JsonSchema, generate::SchemaSettings};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The parameters of a tool.
pub trait Parameters: JsonSchema {
    /// The names of the parameters, in the order of the tool's signature.
    const NAMES: &'static [&'static str];
}

/// Declares the parameters of tools, each in the order of its signature. `#[serde(default)]` marks an optional parameter.
macro_rules! parameters {
    ($($(#[$meta:meta])* $name:ident { $($(#[$field_meta:meta])* $field:ident: $type:ty,)* })*) => {$(
        $(#[$meta])*
        #[derive(Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            $($(#[$field_meta])* pub $field: $type,)*
        }

        impl Parameters for $name {
            const NAMES: &'static [&'static str] = &[$(stringify!($field)),*];
        }
    )*};
}

/// The machine's id, from list_machines.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Machine(pub String);

/// The session's sid, from list_sessions.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct SessionId(pub String);

#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(
    description = "Groups your calls. Keep it for one line of work: <client>_<machine>_<yyyymmdd>."
)]
pub struct Conversation(pub String);

/// A folder of the hub's host, below the open folder.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Folder(pub String);

impl Default for Folder {
    fn default() -> Self {
        Self(".".to_owned())
    }
}

parameters! {
    /// The parameters of `list_machines`.
    ListMachines {
        #[serde(default)]
        conversation_id: Conversation,
    }

    /// The parameters of `list_sessions`.
    ListSessions {
        machine_id: Machine,
        #[serde(default)]
        conversation_id: Conversation,
    }

    /// The parameters of `send_to_session`.
    SendToSession {
        machine_id: Machine,
        session_id: SessionId,
        /// The text to type.
        text: String,
        #[schemars(
            description = "Groups your calls, and is what the user approves. Keep it for one line of work: <client>_<machine>_<yyyymmdd>."
        )]
        conversation_id: String,
        /// enter appends \r, newline \n, crlf \r\n, raw nothing. paste wraps the text as a bracketed paste and then
        /// presses Enter: use it for several lines, and for Claude Code.
        #[serde(default = "enter")]
        submit_mode: String,
    }

    /// The parameters of `read_session_output`.
    ReadSessionOutput {
        machine_id: Machine,
        session_id: SessionId,
        /// The command that wrote the output, for a summary if it is clipped (pytest, git, npm, cargo, make).
        #[serde(default)]
        cmd_hint: String,
        /// The most bytes of output, up to 50000.
        #[serde(default = "number::<50_000>")]
        max_bytes: u64,
        #[serde(default)]
        conversation_id: Conversation,
    }

    /// The parameters of `remote_bash`.
    RemoteBash {
        /// The command line.
        command: String,
        /// Seconds until the command is killed, up to 600.
        #[serde(default = "number::<120>")]
        timeout: u64,
        #[serde(default)]
        conversation_id: Conversation,
    }

    /// The parameters of `remote_read`.
    RemoteRead {
        /// The file, below the open folder.
        path: String,
        /// How many lines to skip.
        #[serde(default)]
        offset: u64,
        /// The most lines.
        #[serde(default = "number::<2000>")]
        limit: u64,
        #[serde(default)]
        conversation_id: Conversation,
    }

    /// The parameters of `remote_write`.
    RemoteWrite {
        /// The file, below the open folder.
        path: String,
        /// Its whole content.
        content: String,
        #[serde(default)]
        conversation_id: Conversation,
    }

    /// The parameters of `remote_glob`.
    RemoteGlob {
        /// Such as src/**/*.rs.
        pattern: String,
        #[serde(default)]
        path: Folder,
        #[serde(default)]
        conversation_id: Conversation,
    }

    /// The parameters of `remote_grep`.
    RemoteGrep {
        /// A regular expression.
        pattern: String,
        #[serde(default)]
        path: Folder,
        /// Only files whose paths match, such as *.rs.
        #[serde(default)]
        glob_filter: String,
        #[serde(default)]
        conversation_id: Conversation,
    }

    /// The parameters that the hub adds to the tools of an instance.
    InstanceCall {
        machine: Machine,
        /// The instance. Required if several run on the machine; without it, the error lists their names.
        #[serde(default)]
        instance: String,
        #[serde(default)]
        conversation_id: Conversation,
    }
}

fn enter() -> String {
    "enter".to_owned()
}

fn number<const VALUE: u64>() -> u64 {
    VALUE
}

/// The schema of a tool's parameters, in the form that clients receive.
pub fn schema<P: Parameters>() -> JsonObject {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    let schema = settings.into_generator().into_root_schema_for::<P>();
    let mut schema = schema.as_object().cloned().unwrap_or_default();
    schema.retain(|keyword, _| keyword != "title" && keyword != "description");
    schema.entry("required").or_insert_with(|| json!([]));
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        for property in properties.values_mut().filter_map(Value::as_object_mut) {
            // Agents need neither the size of a number nor its minimum. The hub's error names the permitted numbers.
            property.retain(|keyword, _| keyword != "format" && keyword != "minimum");
            if let Some(Value::String(description)) = property.get_mut("description") {
                *description = description.replace('\n', " ");
            }
        }
    }
    schema
}

/// A parameter of a tool.
pub struct Parameter {
    /// The name of the parameter.
    pub name: &'static str,
    /// The type of the parameter, and its default value.
    pub default: DefaultValue,
}

/// The type of a parameter, with its default value.
pub enum DefaultValue {
    /// A text without a default, which the agent must provide.
    Required,
    /// A text.
    Text(String),
    /// A whole number.
    Number(u64),
}

/// The parameters of a tool, in the order of its signature.
pub fn parameters<P: Parameters>() -> Vec<Parameter> {
    let schema = schema::<P>();
    let parameter = |name: &&'static str| {
        let default = schema.get("properties").and_then(|all| all.get(name)?.get("default"));
        let default = match default {
            None => DefaultValue::Required,
            Some(Value::Number(number)) => {
                DefaultValue::Number(number.as_u64().unwrap_or_default())
            }
            Some(text) => DefaultValue::Text(text.as_str().unwrap_or_default().to_owned()),
        };
        Parameter { name, default }
    };
    P::NAMES.iter().map(parameter).collect()
}
