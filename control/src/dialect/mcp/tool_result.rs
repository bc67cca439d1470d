//! The results of tools, and numbers in their arguments.

use serde_json::Value;

/// A tool's result. The error is the reason of a failure, for the model.
pub type ToolResult<T> = Result<T, String>;

/// A whole number, at least 0. In JSON, `2.0` is accepted for `2`.
pub fn whole(value: &Value) -> Option<u64> {
    let float = || value.as_f64().filter(|it| it.fract() == 0.0 && (0.0..9.0e15).contains(it));
    value.as_u64().or_else(|| float().map(|it| it as u64))
}
