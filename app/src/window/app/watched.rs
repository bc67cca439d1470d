//! Files in Unterm's home directory that the window follows, apart from the configuration.

use std::path::Path;

use unterm_control::client;

use crate::proxy;
use crate::window::inbox::Inbox;

/// If an instance's file was written or removed, reports the number of running instances to the window.
pub(crate) fn instances(home: &Path, file: &Path, inbox: &Inbox) {
    if file.parent() == Some(&*client::instances_folder(home)) {
        let instances = client::running(home).len();
        inbox.post(|news| news.control.instances = Some(instances));
    }
}

/// If the proxy's file was written, reports the proxy's state to the window.
pub(crate) fn proxy(home: &Path, file: &Path, inbox: &Inbox) {
    if file.file_name().is_none_or(|name| name != proxy::FILE) {
        return;
    }
    match proxy::is_enabled(home) {
        Ok(enabled) => inbox.post(|news| news.control.proxy = Some(enabled)),
        // The file may be half written; the last state stays.
        Err(error) => tracing::warn!("{error:#}"),
    }
}
