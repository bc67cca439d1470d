//! Generates the reference pages of the methods and of the tools from their tables.
//!
//! The results are checked in as `assets/docs/methods.md` and `assets/docs/tools.md`. A test compares them with the tables.
//! `UPDATE_EXPECT=1` rewrites them.

use std::{fmt::Write, sync::Arc};

use serde_json::{Map, Value};

use crate::{
    authority::{Demand, Reach, Subjects},
    caller::Access,
    dialect::mcp::{self, Hints},
    methods::{Entry, Group, METHODS},
};

/// The number of levels of nested fields that a page lists.
const DEPTH: usize = 4;

/// The page of the methods, as markdown.
pub fn reference() -> String {
    let mut page = String::from(
        "# Methods of the control port\n\n\
         Generated from the table of methods by `UPDATE_EXPECT=1 cargo test -p unterm-control reference`. Do not edit.\n\n\
         Connect to 127.0.0.1, at the port in the instance's entry in `~/.unterm/instances`. Send one JSON-RPC 2.0 request per \
         line. The first request is `auth.login {\"token\": …}` with the token in that entry. Its reply is \
         `{\"status\": \"ok\"}`. The parameters `client` and `conversation` may name the caller. A session is named by the \
         number `id`, or by the same number as a string in `session_id`.\n\n\
         Error codes: -32700, the line is not JSON; -32001, the token is wrong; -32002, the call came before the login; -32603, \
         any other error, described by its message.\n\n\
         Each method lists what it reveals and changes. This decides whether it needs a token with `read`, `act` or `admin`. The \
         instance's own token has all three. A token can be limited to some sessions. With it, a method \"of one session\" works \
         on those sessions only, and a method \"of the token's sessions\" reports those sessions only. Below `admin`, replies \
         about `preferences` and `proxy` contain neither the values of `[env]` nor user names and passwords of proxies.\n\n\
         | subject | | to see it | to change it |\n|---|---|---|---|\n",
    );
    for (subject, about) in Subjects::ALL {
        let see = demand(Demand::of("", *subject, Subjects::empty(), &[]));
        let change = demand(Demand::of("", Subjects::empty(), *subject, &[]));
        let _ = writeln!(page, "| {} | {about} | {see} | {change} |", subject.names());
    }
    for group in Group::ALL {
        let _ = writeln!(page, "\n## {}", group.name());
        for entry in METHODS.iter().filter(|entry| entry.group == group) {
            write_method(&mut page, entry);
        }
    }
    page
}

/// The access that a method needs, and the sessions to which that applies.
fn demand(Demand { access, reach, .. }: Demand) -> String {
    let access = match access {
        Access::Read => "read",
        Access::Act => "act",
        Access::Admin => "admin",
    };
    let reach = match reach {
        Reach::Named => ", of one session",
        Reach::Reached => ", of the token's sessions",
        Reach::Everything => "",
    };
    format!("{access}{reach}")
}

fn write_method(page: &mut String, entry: &Entry) {
    let _ = write!(page, "\n### {}\n\n{} Needs {}.", entry.name, entry.doc, demand(entry.demand));
    for (verb, subjects) in [("Reveals", entry.reveals), ("Changes", entry.changes)] {
        if !subjects.is_empty() {
            let _ = write!(page, " {verb} {}.", subjects.names());
        }
    }
    page.push('\n');
    let json = |schema| serde_json::to_value::<schemars::Schema>(schema).unwrap_or_default();
    write_fields(page, &json(entry.params_schema()), &json(entry.reply_schema()));
}

/// The page of the tools that the Model Context Protocol offers, as markdown.
pub fn tools() -> String {
    let mut page = String::from(
        "# Tools of the Model Context Protocol\n\n\
         Generated from the tables of tools by `UPDATE_EXPECT=1 cargo test -p unterm-control reference`. Do not edit.\n\n\
         `unterm-cli mcp` serves the protocol on stdin and stdout. The settings server serves it over HTTP at `/mcp`, with the \
         instance's token as a bearer token. `--toolset` or `?toolset=` selects the toolset. Default: unterm. Over HTTP, give \
         each of several agents that share a token its own `?conversation=NAME`.\n\n\
         The result's `_meta` lists, under `unterm/untrusted`, the fields that contain text from programs. Replies of the toolset \
         unterm omit fields with their usual value.\n",
    );
    for toolset in mcp::TOOLSETS {
        let _ = writeln!(page, "\n## {}\n\n{}", toolset.name, toolset.instructions);
        if toolset.name == mcp::SMALL {
            let _ = writeln!(
                page,
                "\nThese tools are those of the toolset unterm, in fewer words. They accept every argument, also those that they \
                 do not list.\n\n| tool | | not listed |\n|---|---|---|"
            );
            for tool in toolset.tools {
                let unlisted: Vec<_> =
                    tool.unlisted.iter().map(|name| format!("`{name}`")).collect();
                let _ =
                    writeln!(page, "| `{}` | {} | {} |", tool.name, tool.doc, unlisted.join(", "));
            }
            continue;
        }
        for tool in toolset.tools {
            let hints = match tool.hints {
                Hints::Looks => "Read-only.",
                Hints::Adds => "Removes nothing.",
                Hints::Acts => "Can have any effect that a command can have.",
            };
            let _ = writeln!(page, "\n### {}\n\n{} {hints}", tool.name, tool.doc);
            if !tool.example.is_empty() {
                let _ = writeln!(page, "\nFor example `{}`.", tool.example);
            }
            let json = |schema: Arc<_>| Value::Object(Map::clone(&schema));
            let reply = tool.reply.map_or(Value::Null, |reply| json(reply()));
            write_fields(&mut page, &json((tool.arguments)()), &reply);
        }
    }
    page
}

/// Writes a table with the fields of the parameters, and a table with the fields of the reply.
fn write_fields(page: &mut String, params: &Value, reply: &Value) {
    for (what, schema) in [("parameter", params), ("reply", reply)] {
        let mut rows = Vec::new();
        fields(schema, schema, "", what == "parameter", DEPTH, &mut rows);
        if rows.is_empty() {
            continue;
        }
        let _ = writeln!(page, "\n| {what} | type | |\n|---|---|---|");
        for (name, kind, doc) in rows {
            let doc = doc.replace('\n', " ").replace('|', "\\|");
            let _ = writeln!(page, "| `{name}` | {kind} | {doc} |");
        }
    }
}

/// Collects the fields of an object's schema, each with its name, type and description. Includes the fields of nested
/// objects.
fn fields(
    root: &Value,
    schema: &Value,
    prefix: &str,
    tells_required: bool,
    depth: usize,
    rows: &mut Vec<(String, String, String)>,
) {
    let schema = resolve(root, schema);
    if schema["type"] == "array" {
        return fields(root, &schema["items"], &format!("{prefix}[]."), false, depth, rows);
    }
    for part in ["oneOf", "anyOf"] {
        for variant in schema[part].as_array().into_iter().flatten() {
            fields(root, variant, prefix, false, depth, rows);
        }
    }
    let required = schema["required"].as_array();
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let is_required = required.into_iter().flatten().any(|it| it == name);
        let name = format!("{prefix}{name}");
        if rows.iter().any(|(known, ..)| *known == name) {
            continue;
        }
        let own = resolve(root, property);
        let mut kind = kind(root, property);
        if tells_required && is_required {
            kind += ", required";
        }
        let doc = property["description"].as_str().or(own["description"].as_str());
        // If a variant has a single key, its description may belong to the variant itself.
        let is_variant = schema["additionalProperties"] == false
            && schema["properties"].as_object().is_some_and(|fields| fields.len() == 1);
        let doc = doc.or(schema["description"].as_str().filter(|_| is_variant));
        rows.push((name.clone(), kind, doc.unwrap_or_default().to_owned()));
        if depth > 0 {
            let (inner, dots) = match own {
                list if list["type"] == "array" => (resolve(root, &list["items"]), "[]."),
                // This is a map with arbitrary keys.
                map if map["additionalProperties"].is_object() && map["properties"].is_null() => {
                    (resolve(root, &map["additionalProperties"]), ".*.")
                }
                object => (object, "."),
            };
            if inner["properties"].is_object() || inner["oneOf"].is_array() {
                fields(root, inner, &format!("{name}{dots}"), false, depth - 1, rows);
            }
        }
    }
}

/// The schema that a reference stands for. If `schema` is not a reference, the schema itself.
fn resolve<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    let named = schema["$ref"].as_str().and_then(|path| root.pointer(path.strip_prefix('#')?));
    if let Some(named) = named {
        return named;
    }
    // The schema of an optional value is `anyOf` with the value's type and null.
    let some = schema["anyOf"].as_array().into_iter().flatten().find(|it| it["type"] != "null");
    match some.filter(|some| some["$ref"].is_string()) {
        Some(some) => resolve(root, some),
        None => schema,
    }
}

/// The type of a schema, in words.
fn kind(root: &Value, schema: &Value) -> String {
    let is_null = |it: &Value| it["type"] == "null";
    let or_null = schema["anyOf"].as_array().is_some_and(|any| any.iter().any(is_null));
    let schema = resolve(root, schema);
    if let Some(choices) = schema["enum"].as_array() {
        let choices: Vec<_> = choices.iter().map(|choice| format!("`{choice}`")).collect();
        return choices.join(" or ");
    }
    let mut kind = match &schema["type"] {
        Value::String(kind) if kind == "array" => match &schema["items"] {
            Value::Object(_) => format!("list of {}", self::kind(root, &schema["items"])),
            _ => "list".to_owned(),
        },
        Value::String(kind) => kind.clone(),
        Value::Array(kinds) => {
            let kinds: Vec<_> = kinds.iter().filter_map(Value::as_str).collect();
            kinds.join(" or ")
        }
        _ => variants(root, schema).unwrap_or_else(|| "any".to_owned()),
    };
    if or_null {
        kind += " or null";
    }
    kind
}

/// The types or the constants of a schema's variants, in words.
fn variants(root: &Value, schema: &Value) -> Option<String> {
    let variants = schema["oneOf"].as_array().or(schema["anyOf"].as_array())?;
    let mut kinds: Vec<String> = Vec::new();
    for variant in variants.iter().filter(|variant| variant["type"] != "null") {
        let kind = match &variant["const"] {
            Value::Null => kind(root, variant),
            only => format!("`{only}`"),
        };
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    Some(kinds.join(" or "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_of_the_methods_is_up_to_date() {
        expect_test::expect_file!["../../assets/docs/methods.md"].assert_eq(&reference());
    }

    #[test]
    fn the_reference_of_the_tools_is_up_to_date() {
        expect_test::expect_file!["../../assets/docs/tools.md"].assert_eq(&tools());
    }

    #[test]
    fn parameters_and_replies_are_described_with_their_fields() {
        let page = reference();
        for line in [
            "### exec.run_wait",
            "| `command` | string, required | The command, as typed at the prompt. May have several lines. |",
            "| `sessions[].shell.cwd` | string | A `file://` URI. Empty if unknown. |",
            "| `timed_out` | boolean | Whether the command was still running when the wait timed out. |",
            "| `any[].stable_ms` | integer | The session has not changed for this many milliseconds. |",
            "| `takes_text` | boolean | Whether the user may also answer with their own text. Default: false. |",
            "| `scope` | `\"read\"` or `\"act\"` or `\"admin\"` | The token's scope. |",
            "| `sessions.*.blocked_patterns` | list of string | Further texts that no line of this session may contain. |",
        ] {
            assert!(page.contains(line), "{line} is not in\n{page}");
        }
        for entry in METHODS {
            assert!(page.contains(&format!("### {}\n", entry.name)), "{}", entry.name);
        }
    }
}
