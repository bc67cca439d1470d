//! A method call on an instance, which a command makes.

use std::borrow::Cow;

use anyhow::Result;
use serde::Serialize;
use serde_json::Value;
use unterm_control::{client::Client, methods::Method};

/// A method and its parameters.
#[derive(Debug)]
pub struct Call {
    method: Cow<'static, str>,
    params: Value,
}

impl Call {
    /// Creates a call of a method that this version knows.
    ///
    /// # Errors
    /// Fails if the parameters can't be written as JSON.
    pub fn of<M: Method>(params: M::Params<'_>) -> Result<Self>
    where
        for<'a> M::Params<'a>: Serialize,
    {
        Ok(Self { method: M::NAME.into(), params: serde_json::to_value(params)? })
    }

    /// Creates a call of a method that is known only by its name, because the instance may be newer than this program.
    pub fn by_name(method: String, params: Value) -> Self {
        Self { method: method.into(), params }
    }

    /// The method's name.
    pub fn method(&self) -> &str {
        &self.method
    }

    /// The parameters.
    pub fn params(&self) -> &Value {
        &self.params
    }

    /// Makes the call. Returns the instance's reply unchanged, including fields that this version does not know.
    ///
    /// # Errors
    /// Fails if the instance refuses the call or has ended.
    pub fn make(&self, client: &Client) -> Result<Value> {
        Ok(client.call_by_name(&self.method, &self.params)?)
    }
}
