//! Converts JSON to Luau, and Luau to JSON within limits.
//!
//! Values that a plugin returns are read without metamethods, so no code of the plugin runs, and each table is read
//! without calling its metamethods.

use std::ffi::c_void;

use mlua::{Lua, Table, Value as LuaValue};
use serde_json::{Map, Number, Value};

use crate::{
    limits::{RESULT_DEPTH, RESULT_TEXT, RESULT_VALUES},
    text::bounded,
};

/// The number up to which a double represents all whole numbers exactly.
const WHOLE: f64 = 9_007_199_254_740_992.0;

/// The type of a value, with the name that Luau's `type` returns.
pub(crate) fn type_of(value: &LuaValue) -> &'static str {
    match value {
        LuaValue::Integer(_) => "number",
        other => other.type_name(),
    }
}

/// Converts a JSON value to Luau. A null becomes nil, so a key whose value is null does not exist in the table.
pub(crate) fn to_lua(lua: &Lua, value: &Value) -> mlua::Result<LuaValue> {
    Ok(match value {
        Value::Null => LuaValue::Nil,
        Value::Bool(value) => LuaValue::Boolean(*value),
        Value::Number(number) => LuaValue::Number(number.as_f64().unwrap_or_default()),
        Value::String(text) => LuaValue::String(lua.create_string(text)?),
        Value::Array(items) => {
            let table = lua.create_table_with_capacity(items.len(), 0)?;
            for (at, item) in items.iter().enumerate() {
                table.raw_set(at + 1, to_lua(lua, item)?)?;
            }
            LuaValue::Table(table)
        }
        Value::Object(fields) => {
            let table = lua.create_table_with_capacity(0, fields.len())?;
            for (key, field) in fields {
                table.raw_set(key.as_str(), to_lua(lua, field)?)?;
            }
            LuaValue::Table(table)
        }
    })
}

/// The reason that a Luau value can't be converted to JSON.
pub(crate) enum Unreadable {
    /// The value is wrong. The message contains the path of the value.
    Wrong(String),
    /// Luau failed, for example because there is not enough memory.
    Engine(mlua::Error),
}

impl From<mlua::Error> for Unreadable {
    fn from(error: mlua::Error) -> Self {
        Self::Engine(error)
    }
}

/// Converts a value that a plugin returned to JSON. A table becomes a list if its keys are the numbers from 1 on, and
/// an object otherwise.
pub(crate) fn to_json(value: &LuaValue) -> Result<Value, Unreadable> {
    Reader { values: 0, text: 0, path: Vec::new(), above: Vec::new() }.read(value)
}

struct Reader {
    /// The number of values that have been read.
    values: usize,
    /// The number of bytes of text that have been read.
    text: usize,
    /// The path of the value that is being read.
    path: Vec<String>,
    /// The tables that contain the value that is being read.
    above: Vec<*const c_void>,
}

impl Reader {
    fn wrong(&self, what: &str) -> Unreadable {
        let mut place = String::new();
        for part in &self.path {
            if !place.is_empty() && !part.starts_with('[') {
                place.push('.');
            }
            place.push_str(part);
        }
        let place = if place.is_empty() {
            "the value".into()
        } else {
            format!("`{}`", bounded(&place, 200))
        };
        Unreadable::Wrong(format!("{place} {what}"))
    }

    fn read(&mut self, value: &LuaValue) -> Result<Value, Unreadable> {
        self.values += 1;
        if self.values > RESULT_VALUES {
            return Err(Unreadable::Wrong(format!("it has more than {RESULT_VALUES} values")));
        }
        Ok(match value {
            LuaValue::Nil => Value::Null,
            LuaValue::Boolean(value) => Value::Bool(*value),
            LuaValue::Integer(number) => Value::Number((*number).into()),
            LuaValue::Number(number) => Value::Number(self.number(*number)?),
            LuaValue::String(text) => Value::String(self.string(text)?),
            LuaValue::Table(table) => self.table(table)?,
            other => {
                return Err(self.wrong(&format!("is a {}, which has no JSON", type_of(other))));
            }
        })
    }

    fn number(&self, number: f64) -> Result<Number, Unreadable> {
        if number.fract() == 0.0 && number.abs() < WHOLE {
            return Ok((number as i64).into());
        }
        Number::from_f64(number)
            .ok_or_else(|| self.wrong(&format!("is not a finite number: {number}")))
    }

    fn string(&mut self, text: &mlua::LuaString) -> Result<String, Unreadable> {
        let bytes = text.as_bytes();
        self.text += bytes.len();
        if self.text > RESULT_TEXT {
            return Err(self.wrong(&format!("brings the text to more than {RESULT_TEXT} bytes")));
        }
        match std::str::from_utf8(&bytes) {
            Ok(text) => Ok(text.to_owned()),
            Err(_) => Err(self.wrong("is not UTF-8")),
        }
    }

    fn table(&mut self, table: &Table) -> Result<Value, Unreadable> {
        if self.above.contains(&table.to_pointer()) {
            return Err(self.wrong("contains itself"));
        }
        if self.above.len() >= RESULT_DEPTH {
            return Err(self.wrong(&format!("is nested more than {RESULT_DEPTH} tables deep")));
        }
        let length = table.raw_len();
        if length > RESULT_VALUES {
            return Err(
                self.wrong(&format!("has {length} entries; {RESULT_VALUES} values are allowed"))
            );
        }
        self.above.push(table.to_pointer());
        let read = if length > 0 { self.list(table, length) } else { self.object(table) };
        self.above.pop();
        read
    }

    fn list(&mut self, table: &Table, length: usize) -> Result<Value, Unreadable> {
        let mut items = vec![Value::Null; length];
        for pair in table.pairs::<LuaValue, LuaValue>() {
            let (key, value) = pair?;
            let at = match key {
                LuaValue::Integer(at) => usize::try_from(at).ok(),
                _ => None,
            };
            let Some(at) = at.filter(|at| (1..=length).contains(at)) else {
                return Err(self.wrong("has both a list's entries and other keys"));
            };
            self.path.push(format!("[{at}]"));
            items[at - 1] = self.read(&value)?;
            self.path.pop();
        }
        Ok(Value::Array(items))
    }

    fn object(&mut self, table: &Table) -> Result<Value, Unreadable> {
        let mut fields = Map::new();
        for pair in table.pairs::<LuaValue, LuaValue>() {
            let (key, value) = pair?;
            let LuaValue::String(key) = key else {
                return Err(self.wrong(&format!("has a {} as a key", type_of(&key))));
            };
            let key = self.string(&key)?;
            self.path.push(key.clone());
            fields.insert(key, self.read(&value)?);
            self.path.pop();
        }
        Ok(Value::Object(fields))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(source: &str) -> Result<Value, String> {
        let lua = Lua::new();
        let value: LuaValue = lua.load(source).eval().expect("a value");
        to_json(&value).map_err(|error| match error {
            Unreadable::Wrong(message) => message,
            Unreadable::Engine(error) => panic!("{error}"),
        })
    }

    #[test]
    fn json_survives_a_round_trip() {
        let value =
            json!({ "a": [1, 2.5, "x", [true]], "b": { "c": -3, "long": 4_294_967_296_i64 } });
        let lua = Lua::new();
        let passed = to_lua(&lua, &value).expect("a Luau value");
        assert_eq!(to_json(&passed).ok(), Some(value));
    }

    #[test]
    fn values_that_are_not_json_are_named() {
        for (source, expected) in [
            ("local t = {} t.a = {t} return t", "`a[1]` contains itself"),
            ("return {a = {b = 0/0}}", "`a.b` is not a finite number: NaN"),
            ("return {math.huge}", "`[1]` is not a finite number: inf"),
            ("return {a = print}", "`a` is a function, which has no JSON"),
            ("return {a = '\\xff'}", "`a` is not UTF-8"),
            ("return {1, 2, x = 3}", "the value has both a list's entries and other keys"),
            ("return {[true] = 1}", "the value has a boolean as a key"),
            ("return {[5] = 1}", "the value has a number as a key"),
            (
                "local t = {} for i = 1, 40 do t = {t} end return t",
                "is nested more than 32 tables deep",
            ),
            ("return table.create(20000, 1)", "has 20000 entries"),
            (
                "local t = {} for i = 1, 200 do t[i] = table.create(100, 1) end return t",
                "more than 10000 values",
            ),
            ("return {a = string.rep('x', 2^20 + 1)}", "`a` brings the text to more than"),
        ] {
            let error = read(source).expect_err(source);
            assert!(error.contains(expected), "{source}: {error}");
        }
    }

    #[test]
    fn metamethods_are_not_called() {
        let source = "return setmetatable({a = 1}, {
            __index = function() error('asked') end, __len = function() return 9 end,
            __iter = function() error('asked') end, __tostring = function() error('asked') end })";
        assert_eq!(read(source), Ok(json!({ "a": 1 })));
    }
}
