//! The results of tools, and numbers in their arguments.

use serde_json::Value;

/// Why a tool failed, for the model.
pub type ToolResult<T> = Result<T, String>;

/// A whole number, none below 0, as JSON may have it: `2`, and `2.0` too.
pub fn whole(value: &Value) -> Option<u64> {
    let float = || value.as_f64().filter(|it| it.fract() == 0.0 && (0.0..9.0e15).contains(it));
    value.as_u64().or_else(|| float().map(|it| it as u64))
}
