//! The errors of the toolset `tester`, in the form that its protocol defines.

use serde_json::{Value, json};

/// The documented kinds of errors.
#[derive(Clone, Copy)]
pub enum Code {
    NotFound,
    Dead,
    Input,
    Parameter,
    Limit,
    Internal,
}

pub fn error(code: Code, message: impl Into<String>) -> Value {
    let code = match code {
        Code::NotFound => "SESSION_NOT_FOUND",
        Code::Dead => "SESSION_DEAD",
        Code::Input => "INVALID_INPUT",
        Code::Parameter => "INVALID_PARAMETER",
        Code::Limit => "RESOURCE_LIMIT",
        Code::Internal => "INTERNAL_ERROR",
    };
    json!({"error": {"message": message.into(), "code": code}})
}

pub fn internal(why: impl Into<String>) -> Value {
    error(Code::Internal, why)
}
