//! `settings.*`: opens the settings page. The module `dialect::settings` defines the contents of the page.

use std::{path::PathBuf, sync::Arc};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Caller, Context, Group, Method, Result, Subjects, params::Arg, session::blocking};
use crate::{
    error::Error,
    services::people::login_codes::{CODE_LIFE, Link, REDIRECTS},
};

/// `settings.open`.
pub struct Open;

#[derive(Default, Deserialize, Serialize, JsonSchema)]
pub struct OpenParams<'a> {
    /// Whether to write a file that redirects a browser to the address. Start browsers on that file: the address
    /// contains the code, and every user of the machine can read the arguments of a process.
    #[serde(borrow, default, skip_serializing_if = "Arg::is_absent")]
    pub redirect: Arg<'a, bool>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct OpenReply {
    /// An address that opens the page. It works once.
    pub url: String,
    /// The file that redirects a browser to the address, if `redirect` was true. It is removed when the code expires.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    /// How long the code is valid.
    pub expires_in_seconds: u64,
}

impl Method for Open {
    const NAME: &'static str = "settings.open";
    const GROUP: Group = Group::Governance;
    const REVEALS: Subjects = Subjects::KEYS;
    const DOC: &'static str =
        "Creates an address with a one-time code that opens the settings page in a browser.";
    type Params<'a> = OpenParams<'a>;
    type Reply = OpenReply;

    async fn call<'a>(
        context: &'a Context,
        _: &'a Caller,
        params: OpenParams<'a>,
    ) -> Result<OpenReply> {
        let link = match params.redirect.is_set("redirect")? {
            true => context.redirect().await?,
            false => context.people.login_codes.link().map_err(Error::Failed)?,
        };
        let Link { url, file } = link;
        Ok(OpenReply { url, file, expires_in_seconds: CODE_LIFE.as_secs() })
    }
}

impl Context {
    /// A link to the settings page, with a file that a browser can be started on. If the link is not used in time, the
    /// file is removed and the app is notified.
    pub(crate) async fn redirect(&self) -> Result<Link> {
        let (codes, host) = (Arc::clone(&self.people.login_codes), Arc::clone(&self.host));
        let usual = self.registration.home().join(REDIRECTS);
        let link = blocking(move || {
            let folder = host.browser_folder().unwrap_or(usual);
            codes.redirect(&folder).map_err(Error::Failed)
        });
        let link = link.await??;
        let (codes, host, unused) =
            (Arc::clone(&self.people.login_codes), Arc::clone(&self.host), link.clone());
        tokio::spawn(async move {
            tokio::time::sleep(CODE_LIFE).await;
            if codes.expire(&unused) {
                host.settings_page_unopened();
            }
        });
        Ok(link)
    }
}
