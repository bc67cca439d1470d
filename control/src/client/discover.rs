//! Finding instances by the registry's files.

use std::{fs, path::Path};

use super::ClientError;
use crate::{
    registry::{self, Record},
    wire::tcp::PREFERRED_PORT,
};

/// Where an instance listens, and its token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// The port on the loopback address.
    pub port: u16,
    /// The token.
    pub token: String,
}

impl From<Record> for Endpoint {
    fn from(record: Record) -> Self {
        Self { port: record.mcp_port, token: record.auth_token }
    }
}

/// Where an instance may be, the best guess first: the active one if it lives, then the newest live one, then what
/// server.json says, then the preferred port with the token in auth_token.
pub fn find(home: &Path) -> Vec<Endpoint> {
    let mut endpoints: Vec<Endpoint> = Vec::new();
    let active = registry::read(&home.join("active.json")).filter(Record::is_live);
    let newest = registry::live(home).unwrap_or_default().pop();
    let server = registry::read(&home.join("server.json"));
    let token = fs::read_to_string(home.join("auth_token")).ok();
    let preferred =
        token.map(|token| Endpoint { port: PREFERRED_PORT, token: token.trim().to_owned() });
    for record in [active, newest, server] {
        endpoints.extend(record.map(Endpoint::from));
    }
    endpoints.extend(preferred);
    let mut seen = Vec::new();
    endpoints.retain(|endpoint| {
        let is_new = !seen.contains(endpoint);
        seen.push(endpoint.clone());
        is_new
    });
    endpoints
}

/// The live instance of that id or, if none has it, of that title.
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
    use super::*;
    use crate::registry::Registration;

    fn ports(home: &Path) -> Vec<u16> {
        find(home).into_iter().map(|endpoint| endpoint.port).collect()
    }

    #[test]
    fn an_empty_home_has_nobody() {
        let home = tempfile::tempdir().unwrap();
        assert_eq!(find(home.path()), []);
        assert_eq!(find(&home.path().join("none")), []);
        let error = find_by_name(home.path(), "alpha").unwrap_err().to_string();
        assert_eq!(error, "no running instance is named \"alpha\"; there is none");
    }

    #[test]
    fn the_active_one_comes_first_then_the_newest_then_the_old_files() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        let register = |port| Registration::new(home, port, format!("token-{port}")).unwrap();
        let _alpha = register(1);
        let _bravo = register(2);
        let _charlie = register(3);
        assert_eq!(ports(home), [1, 3, PREFERRED_PORT]);
        assert_eq!(find(home).last().unwrap().token, "token-1");
        assert_eq!(find_by_name(home, "Bravo").unwrap().port, 2);
        let error = find_by_name(home, "zulu").unwrap_err().to_string();
        assert!(error.ends_with("there are: alpha, bravo, charlie"), "{error}");

        fs::remove_file(home.join("active.json")).unwrap();
        assert_eq!(ports(home), [3, 1, PREFERRED_PORT]);
        fs::remove_dir_all(home.join("instances")).unwrap();
        assert_eq!(ports(home), [1, PREFERRED_PORT]);
        fs::remove_file(home.join("server.json")).unwrap();
        assert_eq!(ports(home), [PREFERRED_PORT]);
    }
}
