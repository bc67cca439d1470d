//! A Luau state that contains one plugin: the functions that the plugin can call, and its limits.

mod api;
mod budget;

use std::{cell::Cell, rc::Rc};

use mlua::{
    Error, Lua, LuaOptions, StdLib, Table, Value as LuaValue, Variadic, VmState,
    chunk::{ChunkMode, Compiler},
};
use serde_json::Value;

pub(crate) use self::budget::describe;
use self::{api::Denied, budget::Budget};
use crate::{
    error::{CallError, LimitKind},
    limits::{Limits, MESSAGE_TEXT, PRINTED_TEXT},
    manifest::Manifest,
    permission::Permission,
    text::{bounded, is_name, quoted},
    value::{Unreadable, to_json, to_lua, type_of},
};

/// The maximum number of functions that a plugin may export.
const EXPORTS: usize = 256;

/// The maximum length of a pattern or a separator, in bytes.
const PATTERN: usize = 1024;

/// The maximum number of elements that `table.move` copies.
const MOVED: usize = 100_000;

/// The global variables of a plugin, besides `ptywright`. All other globals of Luau and of mlua are removed.
const GLOBALS: [&str; 25] = [
    "_G",
    "_VERSION",
    "assert",
    "error",
    "getmetatable",
    "ipairs",
    "math",
    "next",
    "pairs",
    "pcall",
    "print",
    "rawequal",
    "rawget",
    "rawlen",
    "rawset",
    "select",
    "setmetatable",
    "string",
    "table",
    "tonumber",
    "tostring",
    "type",
    "typeof",
    "utf8",
    "xpcall",
];

/// The name in errors for the run of the plugin's file itself.
pub(crate) const FILE: &str = "the plugin's file";

/// A plugin that has been loaded.
pub(crate) struct Sandbox {
    lua: Lua,
    exports: Table,
    budget: Rc<Budget>,
    printed: Rc<Cell<usize>>,
    /// The maximum memory of the Luau state, in bytes.
    memory: usize,
}

impl Sandbox {
    /// Runs the plugin's file, and stores the table of functions that it returns.
    pub(crate) fn load(
        manifest: &Manifest,
        source: &str,
        limits: &Limits,
    ) -> Result<Self, CallError> {
        let budget = Rc::new(Budget::new(limits.clone()));
        let printed = Rc::new(Cell::new(0));
        let failed = |error: Error| failure(&budget, FILE, &error);
        let lua = prepare(manifest, limits, &budget, &printed).map_err(failed)?;
        budget.begin();
        let chunk = lua
            .load(source)
            .set_name(format!("@{}", manifest.entrypoint))
            .set_mode(ChunkMode::Text);
        let returned: LuaValue = chunk.eval().map_err(failed)?;
        exceeded(&budget, FILE)?;
        let LuaValue::Table(exports) = returned else {
            return Err(CallError::Result {
                function: FILE.into(),
                message: format!("a table of functions is expected, not {}", type_of(&returned)),
            });
        };
        let sandbox = Self { lua, exports, budget, printed, memory: limits.memory };
        sandbox.exports()?;
        Ok(sandbox)
    }

    /// The names of the functions that the plugin exports.
    pub(crate) fn exports(&self) -> Result<Vec<String>, CallError> {
        let wrong = |message| Err(CallError::Result { function: FILE.into(), message });
        let mut names = Vec::new();
        for pair in self.exports.pairs::<LuaValue, LuaValue>() {
            let (key, value) = pair.map_err(|error| failure(&self.budget, FILE, &error))?;
            let LuaValue::String(name) = key else {
                return wrong(format!("its table has a {} as a key", type_of(&key)));
            };
            let name = name.to_string_lossy();
            if !is_name(&name) {
                let name = quoted(&name);
                return wrong(format!(
                    "{name} is no name for a function: 1 to 64 letters, digits and `_-.`"
                ));
            }
            if names.len() == EXPORTS {
                return wrong(format!("its table has more than {EXPORTS} entries"));
            }
            if value.is_function() {
                names.push(name);
            }
        }
        Ok(names)
    }

    /// Calls an exported function with one argument.
    pub(crate) fn call(&self, function: &str, argument: &Value) -> Result<Value, CallError> {
        self.budget.begin();
        self.printed.set(0);
        let failed = |error: Error| failure(&self.budget, function, &error);
        let exported: LuaValue = self.exports.raw_get(function).map_err(failed)?;
        let LuaValue::Function(exported) = exported else {
            let name = quoted(function);
            return Err(CallError::NoFunction(format!("the plugin exports no function {name}")));
        };
        // Luau collects garbage at times that it chooses itself, and not when the memory limit is reached.
        if self.lua.used_memory() > self.memory / 2 {
            self.lua.gc_collect().map_err(failed)?;
        }
        let argument = to_lua(&self.lua, argument).map_err(failed)?;
        let returned: LuaValue = exported.call(argument).map_err(failed)?;
        exceeded(&self.budget, function)?;
        to_json(&returned).map_err(|error| match error {
            Unreadable::Engine(error) => failed(error),
            Unreadable::Wrong(message) => CallError::Result { function: function.into(), message },
        })
    }
}

/// Creates a Luau state with the globals for the plugin, and enables the limits.
fn prepare(
    manifest: &Manifest,
    limits: &Limits,
    budget: &Rc<Budget>,
    printed: &Rc<Cell<usize>>,
) -> mlua::Result<Lua> {
    let libraries = StdLib::TABLE | StdLib::STRING | StdLib::MATH | StdLib::UTF8;
    let lua = Lua::new_with(libraries, LuaOptions::new().catch_rust_panics(false))?;
    lua.set_memory_limit(limits.memory)?;
    lua.set_compiler(Compiler::new().set_optimization_level(1));
    let globals = lua.globals();
    let mut removed = Vec::new();
    for pair in globals.pairs::<LuaValue, LuaValue>() {
        let (key, _) = pair?;
        let kept = match &key {
            LuaValue::String(name) => GLOBALS.contains(&&*name.to_string_lossy()),
            _ => false,
        };
        if !kept {
            removed.push(key);
        }
    }
    for key in removed {
        globals.raw_set(key, LuaValue::Nil)?;
    }
    globals.raw_set("print", print(&lua, &manifest.name, printed)?)?;
    let permissions: Rc<[Permission]> = manifest.permissions.as_slice().into();
    globals.raw_set("ptywright", api::table(&lua, &permissions)?)?;
    lua.load(include_str!("sandbox/library.luau"))
        .set_name("@library")
        .call::<()>((PATTERN, MOVED))?;
    lua.sandbox(true)?;
    let steps = budget.clone();
    lua.set_interrupt(move |_| steps.step().map(|()| VmState::Continue));
    Ok(lua)
}

/// The function `print`, which writes to the log, at most as much as one call may write.
fn print(lua: &Lua, plugin: &str, printed: &Rc<Cell<usize>>) -> mlua::Result<mlua::Function> {
    let plugin = plugin.to_owned();
    let printed = printed.clone();
    lua.create_function(move |_, arguments: Variadic<LuaValue>| {
        let left = PRINTED_TEXT.saturating_sub(printed.get());
        if left == 0 {
            return Ok(());
        }
        let mut text = String::new();
        for argument in arguments.iter().take(16) {
            if !text.is_empty() {
                text.push(' ');
            }
            match argument {
                LuaValue::String(part) => {
                    let bytes = part.as_bytes();
                    text.push_str(&String::from_utf8_lossy(&bytes[..bytes.len().min(left)]));
                }
                LuaValue::Integer(number) => text.push_str(&number.to_string()),
                LuaValue::Number(number) => text.push_str(&number.to_string()),
                LuaValue::Boolean(value) => text.push_str(&value.to_string()),
                other => text.push_str(type_of(other)),
            }
        }
        let text = bounded(&text, left);
        printed.set(printed.get() + text.len() + 1);
        tracing::debug!(plugin, "{text}");
        Ok(())
    })
}

/// Returns an error if the call exceeded a limit, even if the plugin caught the error.
fn exceeded(budget: &Budget, function: &str) -> Result<(), CallError> {
    budget.exceeded().map_or(Ok(()), |kind| Err(limit(budget, function, kind)))
}

fn limit(budget: &Budget, function: &str, kind: LimitKind) -> CallError {
    CallError::Limit { function: function.into(), kind, limit: budget.describe(kind) }
}

/// The error of a call that failed with an error of Luau.
fn failure(budget: &Budget, function: &str, error: &Error) -> CallError {
    if let Some(kind) = budget.exceeded() {
        return limit(budget, function, kind);
    }
    let mut cause = error;
    while let Error::CallbackError { cause: inner, .. } | Error::WithContext { cause: inner, .. } =
        cause
    {
        cause = inner;
    }
    let message = match cause {
        Error::MemoryError(_) => return limit(budget, function, LimitKind::Memory),
        Error::ExternalError(error) => match error.downcast_ref::<Denied>() {
            Some(Denied { what, permission }) => {
                return CallError::Permission { what: what.clone(), permission: *permission };
            }
            None => error.to_string(),
        },
        Error::RuntimeError(message) | Error::SyntaxError { message, .. } => message.clone(),
        other => other.to_string(),
    };
    let message = message.split("\nstack traceback:").next().unwrap_or_default();
    CallError::Script { function: function.into(), message: bounded(message, MESSAGE_TEXT) }
}
