//! A method call that a command makes on an instance.

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
    /// A call of a method of this version.
    ///
    /// # Errors
    /// The parameters can't be written as JSON.
    pub fn of<M: Method>(params: M::Params<'_>) -> Result<Self>
    where
        for<'a> M::Params<'a>: Serialize,
    {
        Ok(Self { method: M::NAME.into(), params: serde_json::to_value(params)? })
    }

    /// A call of a method that is known by its name only: the instance may be newer than this program.
    pub fn by_name(method: String, params: Value) -> Self {
        Self { method: method.into(), params }
    }

    /// The method's name.
    pub fn method(&self) -> &str {
        &self.method
    }

    /// The parameters.
    #[cfg(test)]
    pub fn params(&self) -> &Value {
        &self.params
    }

    /// Makes the call. Returns the instance's reply as it is, with fields that this version may not know.
    ///
    /// # Errors
    /// The instance refused the call or is gone.
    pub fn make(&self, client: &Client) -> Result<Value> {
        Ok(client.call_by_name(&self.method, &self.params)?)
    }
}
