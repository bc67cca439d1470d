//! Files in Unterm's home directory that the window follows, in addition to the configuration file.

use std::path::Path;

use unterm_control::client;

use crate::proxy;
use crate::window::inbox::Inbox;

/// If `file` is the file of an instance, reports the number of running instances to the window.
pub(crate) fn instances(home: &Path, file: &Path, inbox: &Inbox) {
    if file.parent() == Some(&*client::instances_folder(home)) {
        let instances = client::running(home).len();
        inbox.post(|news| news.control.instances = Some(instances));
    }
}

/// If `file` is the proxy's file, reports the state of the proxy to the window.
pub(crate) fn proxy(home: &Path, file: &Path, inbox: &Inbox) {
    if file.file_name().is_none_or(|name| name != proxy::FILE) {
        return;
    }
    match proxy::is_enabled(home) {
        Ok(enabled) => inbox.post(|news| news.control.proxy = Some(enabled)),
        // The file may be incomplete while it is being written. Keep the last state.
        Err(error) => tracing::warn!("{error:#}"),
    }
}
