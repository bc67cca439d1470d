//! The global variable `ptywright` of plugins: functions that create actions and matchers.

use std::{fmt, rc::Rc};

use mlua::{Function, Lua, Result, Table, Value, Variadic};

use crate::{permission::Permission, value::type_of};

/// The error of a call of a function whose permission the manifest does not declare.
#[derive(Clone, Debug)]
pub(super) struct Denied {
    pub(super) what: String,
    pub(super) permission: Permission,
}

impl fmt::Display for Denied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let permission = self.permission.name();
        write!(
            f,
            "{} needs the permission {permission}, which the manifest does not declare",
            self.what
        )
    }
}

impl std::error::Error for Denied {}

/// The way in which the arguments of a function become the `value` of the table that it returns.
#[derive(Clone, Copy)]
enum Shape {
    /// The table has no value.
    Bare,
    /// The value is a string.
    Text,
    /// The value is a table with this key, which is created from a string.
    Label(&'static str),
    /// The value is a table with this key, which is created from a number or is passed as a table.
    Number(&'static str),
    /// The value is a list, which is passed as one list or as several arguments.
    List,
    /// The value is a table.
    Table,
}

const ACTIONS: [(&str, Shape, Permission); 10] = [
    ("text", Shape::Text, Permission::InputWrite),
    ("paste", Shape::Text, Permission::InputWrite),
    ("bracketed_paste", Shape::Text, Permission::InputWrite),
    ("key", Shape::Text, Permission::InputWrite),
    ("interrupt", Shape::Bare, Permission::InputWrite),
    ("eof", Shape::Bare, Permission::InputWrite),
    ("mark_transcript", Shape::Label("label"), Permission::InputWrite),
    ("wait_for", Shape::Table, Permission::MatcherWait),
    ("kill", Shape::Bare, Permission::SessionKill),
    ("signal", Shape::Text, Permission::SessionKill),
];

const MATCHERS: [(&str, Shape); 8] = [
    ("contains_text", Shape::Text),
    ("screen_regex", Shape::Text),
    ("transcript_contains", Shape::Text),
    ("transcript_regex", Shape::Text),
    ("screen_stable", Shape::Number("min_ms")),
    ("process_exited", Shape::Bare),
    ("any", Shape::List),
    ("all", Shape::List),
];

/// The read-only table `ptywright`.
pub(super) fn table(lua: &Lua, permissions: &Rc<[Permission]>) -> Result<Table> {
    let action = lua.create_table()?;
    for (name, shape, permission) in ACTIONS {
        action.raw_set(name, maker(lua, "action", name, shape, permission, permissions)?)?;
    }
    let matcher = lua.create_table()?;
    for (name, shape) in MATCHERS {
        let permission = Permission::MatcherWait;
        matcher.raw_set(name, maker(lua, "matcher", name, shape, permission, permissions)?)?;
    }
    let table = lua.create_table()?;
    for (name, functions) in [("action", action), ("matcher", matcher)] {
        functions.set_readonly(true);
        table.raw_set(name, functions)?;
    }
    table.set_readonly(true);
    Ok(table)
}

fn maker(
    lua: &Lua,
    group: &'static str,
    name: &'static str,
    shape: Shape,
    permission: Permission,
    permissions: &Rc<[Permission]>,
) -> Result<Function> {
    let permissions = permissions.clone();
    lua.create_function(move |lua, arguments: Variadic<Value>| {
        let what = || format!("ptywright.{group}.{name}");
        if !permissions.contains(&permission) {
            return Err(mlua::Error::external(Denied { what: what(), permission }));
        }
        let wrong = |expected: &str| {
            let given = arguments.first().map_or("nothing", type_of);
            mlua::Error::runtime(format!("{} takes {expected}, not {given}", what()))
        };
        let made = lua.create_table()?;
        made.raw_set("type", name)?;
        match (shape, arguments.first()) {
            (Shape::Bare, _) => {}
            (Shape::Table, Some(table @ Value::Table(_))) => made.raw_set("value", table)?,
            (Shape::Table, _) => return Err(wrong("a table")),
            (Shape::Text, Some(text @ Value::String(_))) => made.raw_set("value", text)?,
            (Shape::Text | Shape::Label(_), None | Some(_)) if !is_string(&arguments) => {
                return Err(wrong("a string"));
            }
            (Shape::Label(key), Some(value)) => made.raw_set("value", keyed(lua, key, value)?)?,
            (Shape::Number(key), Some(value @ (Value::Integer(_) | Value::Number(_)))) => {
                made.raw_set("value", keyed(lua, key, value)?)?;
            }
            (Shape::Number(key), Some(Value::Table(given))) => {
                let value: Value = given.raw_get(key)?;
                made.raw_set("value", keyed(lua, key, &value)?)?;
            }
            (Shape::Number(_), _) => return Err(wrong("a number of milliseconds")),
            (Shape::List, Some(Value::Table(first))) => {
                // A table with a `type` is a single matcher, and a table without it is a list of matchers.
                if first.raw_get::<Value>("type")?.is_nil() {
                    made.raw_set("value", first)?;
                } else {
                    made.raw_set("value", lua.create_sequence_from(arguments.iter())?)?;
                }
            }
            (Shape::List, _) => return Err(wrong("a list of matchers")),
            (Shape::Text | Shape::Label(_), _) => return Err(wrong("a string")),
        }
        Ok(made)
    })
}

fn is_string(arguments: &Variadic<Value>) -> bool {
    arguments.first().is_some_and(Value::is_string)
}

fn keyed(lua: &Lua, key: &str, value: &Value) -> Result<Table> {
    let table = lua.create_table()?;
    table.raw_set(key, value)?;
    Ok(table)
}
