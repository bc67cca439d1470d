//! Finds instances by the files of the registry.

use std::path::{Path, PathBuf};

use unterm_mux::private;

use super::error::ClientError;
use crate::{
    registry::{self, Record},
    transport::tcp::PREFERRED_PORT,
};

/// The maximum length of a token that is read, in bytes.
const LONGEST_TOKEN: u64 = 4096;

/// The address of an instance, and its token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// The port on the loopback address.
    pub port: u16,
    /// The token.
    pub token: String,
    /// The path of the instance's Unix socket. If there is one, it is used instead of the port.
    pub socket: Option<PathBuf>,
}

impl From<Record> for Endpoint {
    fn from(record: Record) -> Self {
        let socket = record.socket.map(PathBuf::from);
        Self { port: record.mcp_port, token: record.auth_token, socket }
    }
}

/// The endpoints where an instance may be found, in the order in which to try them: the active instance, the newest
/// instance, and the instance in server.json. An instance counts only if its process is alive. Otherwise, its token
/// could be sent to another process that now has its port.
///
/// The last guess is the preferred port with the token in auth_token, for homes of programs that write no records. It
/// is not used if there are records, because then the token belongs to one of them.
pub fn find(home: &Path) -> Vec<Endpoint> {
    let mut endpoints: Vec<Endpoint> = Vec::new();
    let live = |name: &str| registry::read(&home.join(name)).filter(Record::is_live);
    let newest = registry::live(home).unwrap_or_default().pop();
    for record in [live("active.json"), newest, live("server.json")] {
        endpoints.extend(record.map(Endpoint::from));
    }
    let has_records =
        ["instances", "active.json", "server.json"].iter().any(|name| home.join(name).exists());
    let token = match has_records {
        true => None,
        false => private::read_text_of_anyone(&home.join("auth_token"), LONGEST_TOKEN).ok(),
    };
    endpoints.extend(token.map(|token| Endpoint {
        port: PREFERRED_PORT,
        token: token.trim().to_owned(),
        socket: None,
    }));
    let mut seen = Vec::new();
    endpoints.retain(|endpoint| {
        let is_new = !seen.contains(endpoint);
        seen.push(endpoint.clone());
        is_new
    });
    endpoints
}

/// The folder that contains one file for each running instance.
pub fn instances_folder(home: &Path) -> PathBuf {
    home.join("instances")
}

/// The entries of the live instances, oldest first.
pub fn live(home: &Path) -> Vec<Record> {
    registry::live(home).unwrap_or_default()
}

/// The ids of the live instances, oldest first.
pub fn running(home: &Path) -> Vec<String> {
    live(home).into_iter().map(|record| record.id).collect()
}

/// The live instance with this id. If no instance has this id, the instance with this title.
pub fn find_by_name(home: &Path, name: &str) -> Result<Endpoint, ClientError> {
    let records = registry::live(home)?;
    let by_id = records.iter().find(|record| record.id.eq_ignore_ascii_case(name));
    match by_id.or_else(|| records.iter().find(|record| record.title == name)) {
        Some(record) => Ok(record.clone().into()),
        None => Err(ClientError::NoInstance {
            name: name.to_owned(),
            known: records.into_iter().map(|record| record.id).collect(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::registry::Registration;

    fn ports(home: &Path) -> Vec<u16> {
        find(home).into_iter().map(|endpoint| endpoint.port).collect()
    }

    #[test]
    fn an_empty_home_has_no_instances() {
        let home = tempfile::tempdir().unwrap();
        assert_eq!(find(home.path()), []);
        assert_eq!(find(&home.path().join("none")), []);
        let error = find_by_name(home.path(), "alpha").unwrap_err().to_string();
        assert_eq!(error, "no running instance is named \"alpha\"; none is running");
    }

    #[test]
    fn endpoints_are_ordered_active_newest_server_json() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        let register = |port| Registration::new(home, port, format!("token-{port}")).unwrap();
        let _alpha = register(1);
        let _bravo = register(2);
        let _charlie = register(3);
        assert_eq!(ports(home), [1, 3]);
        assert_eq!(find(home)[0].token, "token-1");
        assert_eq!(find_by_name(home, "Bravo").unwrap().port, 2);
        let error = find_by_name(home, "zulu").unwrap_err().to_string();
        assert!(error.ends_with("running: alpha, bravo, charlie"), "{error}");

        fs::remove_file(home.join("active.json")).unwrap();
        assert_eq!(ports(home), [3, 1]);
        fs::remove_dir_all(home.join("instances")).unwrap();
        assert_eq!(ports(home), [1]);
        // This is the home of a program that writes its token and no other files.
        fs::remove_file(home.join("server.json")).unwrap();
        assert_eq!(ports(home), [PREFERRED_PORT]);
        assert_eq!(find(home)[0].token, "token-1");
    }

    #[test]
    fn a_dead_instances_token_is_never_used() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        let registration = Registration::new(home, 1, "token".to_owned()).unwrap();
        // A killed process leaves these files. No process has this pid.
        let dead = Record { pid: u32::MAX, ..Record::clone(&registration.record()) };
        let dead = serde_json::to_vec(&dead).unwrap();
        for file in ["instances/alpha.json", "active.json", "server.json"] {
            fs::write(home.join(file), &dead).unwrap();
        }
        assert!(home.join("auth_token").exists());
        assert_eq!(find(home), []);
        fs::remove_dir_all(home.join("instances")).unwrap();
        fs::remove_file(home.join("active.json")).unwrap();
        assert_eq!(find(home), []);
    }
}
