//! `unterm-cli screenshot`: one of three methods takes the picture, and the command may copy it to a file.

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
    },
};

use crate::cli::{call::Call, form::Shown, show};

/// What to take a picture of, and where to put it.
pub struct Screenshot<'a> {
    /// A session.
    pub id: Option<u64>,
    /// A region that the person selects.
    pub region: bool,
    /// A file to copy the picture to.
    pub output: Option<&'a Path>,
}

impl Screenshot<'_> {
    /// Takes the picture. Returns the reply, which names the copy if there is one, and how it is shown.
    ///
    /// # Errors
    /// No picture could be taken, or it can't be copied.
    pub fn take(&self, client: &Client) -> Result<(Value, Shown)> {
        if let Some(id) = self.id {
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
    ) -> Result<(Value, Shown)>
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

/// Writes a changed reply over the original, whose unknown fields stay.
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
