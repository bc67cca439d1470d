//! `unterm-cli screenshot`: calls one of three methods to take the picture. May copy the picture to a file.

use std::{fs, path::Path};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;
use unterm_control::{
    Error,
    client::Client,
    methods::{
        Method,
        capture::{Image, Screen, ScreenParams, Select, SelectParams, Window, WindowParams},
        params::SessionOnly,
        session,
    },
};

use crate::cli::{call::Call, form::ReplyText, show};

/// The subject of the screenshot, and the file to copy it to.
pub struct Screenshot<'a> {
    /// The number of the pane to capture.
    pub id: Option<u64>,
    /// Whether the user selects a region.
    pub region: bool,
    /// The file to copy the picture to.
    pub output: Option<&'a Path>,
}

impl Screenshot<'_> {
    /// Takes the screenshot. Returns the reply and its text. If the picture was copied, the reply contains the path of
    /// the copy.
    ///
    /// # Errors
    /// Fails if no picture can be taken, or if the picture can't be copied.
    pub fn take(&self, client: &Client) -> Result<(Value, ReplyText)> {
        if let Some(id) = self.id {
            // A title that is no session's number may be part of another window's title.
            Call::of::<session::Status>(SessionOnly::of(id))?.make(client)?;
            let params = WindowParams { title: id.to_string().into(), ..WindowParams::default() };
            self.taken::<Window>(client, params, |reply| &mut reply.image)
        } else if self.region {
            let params = SelectParams { interactive: true.into(), ..SelectParams::default() };
            self.taken::<Select>(client, params, |reply| &mut reply.image)
        } else {
            self.taken::<Screen>(client, ScreenParams::default(), |reply| &mut reply.image)
        }
    }

    fn taken<M: Method>(
        &self,
        client: &Client,
        params: M::Params<'_>,
        image: fn(&mut M::Reply) -> &mut Image,
    ) -> Result<(Value, ReplyText)>
    where
        for<'a> M::Params<'a>: Serialize,
        M::Reply: DeserializeOwned,
    {
        let call = Call::of::<M>(params)?;
        let mut reply = call.make(client)?;
        if let Some(output) = self.output {
            let unread = |error| Error::Unread { method: M::NAME, error };
            let mut known = M::Reply::deserialize(&reply).map_err(unread)?;
            let image = image(&mut known);
            fs::copy(&image.path, output).with_context(|| output.display().to_string())?;
            image.path = output.to_string_lossy().into_owned();
            overwrite(&mut reply, serde_json::to_value(known)?);
        }
        let shown = show::reply(call.method(), &reply);
        Ok((reply, shown))
    }
}

/// Writes the fields of a changed reply over the original reply. Fields that this version does not know stay
/// unchanged.
fn overwrite(original: &mut Value, changed: Value) {
    match (original, changed) {
        (Value::Object(original), Value::Object(changed)) => {
            for (name, value) in changed {
                overwrite(original.entry(name).or_insert(Value::Null), value);
            }
        }
        (Value::Array(original), Value::Array(changed)) if original.len() == changed.len() => {
            original.iter_mut().zip(changed).for_each(|(one, changed)| overwrite(one, changed));
        }
        (original, changed) => *original = changed,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn unknown_fields_outlive_a_change() {
        let mut reply = json!({"image": {"path": "a", "dpi": 96}, "captures": [{"id": 1, "x": 2}]});
        overwrite(&mut reply, json!({"image": {"path": "b"}, "captures": [{"id": 1}]}));
        let expected = json!({"image": {"path": "b", "dpi": 96}, "captures": [{"id": 1, "x": 2}]});
        assert_eq!(reply, expected);
    }
}
