//! Tokens that the user creates for agents. They permit less than the instance's own token: each has a scope, may be
//! limited to some sessions, and may expire.
//!
//! Owns the file `tokens.json` in Unterm's home, which all instances share. Revoking a token in one instance revokes it
//! in all of them. The file contains only digests, so a reader of the file can't use a token. A file of an older
//! version, which contains the tokens themselves, is converted at the start.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq;
use time::{OffsetDateTime, format_description::well_known::Rfc3339};
use unterm_mux::random;

use crate::{caller::Scopes, services::records::shared_file::SharedFile};

/// The file's name in Unterm's home directory.
const FILE: &str = "tokens.json";
/// The error if tokens can't be checked. Omits the file's path, because the caller is not authenticated.
pub const UNREADABLE: &str = "Tokens for agents can't be checked: tokens.json can't be read";
/// The maximum number of tokens. Creating more is refused.
const MOST: usize = 1000;

/// The scope of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// See sessions and other data that needs the scope `read`.
    Read,
    /// What `read` allows, and change sessions.
    Act,
    /// Everything, including the instance's settings and secrets.
    Admin,
}

impl Scope {
    /// The scopes of a token with this scope, including implied ones.
    pub fn scopes(self) -> Scopes {
        match self {
            Self::Read => Scopes::READ,
            Self::Act => Scopes::READ | Scopes::ACT,
            Self::Admin => Scopes::all(),
        }
    }
}

/// A token without its secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Token {
    /// The number of the token.
    pub number: u64,
    /// The name of the token.
    pub name: String,
    /// The token's scope.
    pub scope: Scope,
    /// The sessions that the token can be used for. Absent: all sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub panes: Option<Vec<u64>>,
    /// The instance to which the session numbers in `panes` belong. In another instance, or after a restart, these
    /// numbers stand for other sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance: Option<String>,
    /// When the token was created (RFC 3339, UTC).
    pub made_at: String,
    /// When the token expires (RFC 3339, UTC). Absent: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
}

impl Token {
    fn is_live(&self, now: OffsetDateTime) -> bool {
        let Some(end) = &self.expires_at else { return true };
        // An invalid time counts as past.
        OffsetDateTime::parse(end, &Rfc3339).is_ok_and(|end| now < end)
    }

    /// Whether the token is valid in this instance. A token for some sessions is valid only in the instance that
    /// created it.
    fn is_for(&self, instance: &str) -> bool {
        self.panes.is_none() || self.instance.as_deref() == Some(instance)
    }
}

/// A row of the file.
#[derive(Clone, Serialize, Deserialize)]
#[serde(try_from = "StoredRow")]
struct StoredToken {
    /// The SHA-256 of the token's secret, as hexadecimal digits. A secret is random and long, so no salt is needed.
    digest: String,
    #[serde(flatten)]
    token: Token,
    /// Whether the file contained the secret itself instead of its digest.
    #[serde(skip)]
    was_plain: bool,
}

/// A row as this version or an older version wrote it.
#[derive(Deserialize)]
struct StoredRow {
    digest: Option<String>,
    secret: Option<String>,
    #[serde(flatten)]
    token: Token,
}

impl TryFrom<StoredRow> for StoredToken {
    type Error = &'static str;

    fn try_from(stored: StoredRow) -> Result<Self, Self::Error> {
        let was_plain = stored.secret.is_some();
        let digest = stored.digest.or_else(|| stored.secret.as_deref().map(digest_of));
        let digest = digest.ok_or("a token without a digest")?;
        Ok(Self { digest, token: stored.token, was_plain })
    }
}

fn digest_of(secret: &str) -> String {
    Sha256::digest(secret).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[derive(Clone, Default, Serialize, Deserialize)]
struct Rows {
    /// The number of the newest token. Numbers are never reused.
    last: u64,
    tokens: Vec<StoredToken>,
}

/// The tokens for agents.
pub struct Tokens {
    file: SharedFile<Rows>,
    /// Identifies this start of this instance.
    instance: String,
}

impl Tokens {
    /// The tokens in the home directory. `instance`: identifies this start of this instance. It must differ from every
    /// other start of any instance.
    pub fn new(home: &Path, instance: String) -> Self {
        let file: SharedFile<Rows> = SharedFile::new(home, FILE);
        let has_plain = |rows: &Rows| rows.tokens.iter().any(|row| row.was_plain);
        let is_converted = file.get().is_ok_and(|rows| !has_plain(&rows));
        if !is_converted && let Err(error) = file.change(|rows| Ok(((), has_plain(rows)))) {
            tracing::warn!(%error, "can't replace the tokens in a file by digests");
        }
        Self { file, instance }
    }

    /// The token with this secret, if it is valid in this instance. The comparison takes constant time.
    ///
    /// # Errors
    /// The file can't be read. The message contains the file's path, so show it to the user only.
    pub fn find(&self, secret: &str) -> Result<Option<Token>, String> {
        let now = OffsetDateTime::now_utc();
        let rows = self.file.get()?;
        let digest = digest_of(secret);
        let same = |row: &&StoredToken| bool::from(row.digest.as_bytes().ct_eq(digest.as_bytes()));
        let found = rows.tokens.iter().find(same).map(|row| row.token.clone());
        Ok(found.filter(|token| token.is_live(now) && token.is_for(&self.instance)))
    }

    /// Whether the token with this number is still valid.
    ///
    /// # Errors
    /// The file can't be read. A message for users.
    pub fn is_live(&self, number: u64) -> Result<bool, String> {
        let now = OffsetDateTime::now_utc();
        let rows = self.file.get()?;
        Ok(rows.tokens.iter().any(|row| row.token.number == number && row.token.is_live(now)))
    }

    /// All tokens that have not expired.
    ///
    /// # Errors
    /// The file can't be read. A message for users.
    pub fn list(&self) -> Result<Vec<Token>, String> {
        let now = OffsetDateTime::now_utc();
        let rows = self.file.get()?;
        let live = rows.tokens.iter().map(|row| &row.token).filter(|token| token.is_live(now));
        Ok(live.cloned().collect())
    }

    /// Creates a token. Returns it with its secret, which is not shown again.
    ///
    /// # Errors
    /// The file can't be written, or there are too many tokens. A message for users.
    pub fn create(
        &self,
        name: &str,
        scope: Scope,
        panes: Option<Vec<u64>>,
        seconds: Option<u64>,
    ) -> Result<(Token, String), String> {
        let now = OffsetDateTime::now_utc();
        let end = seconds.map(|seconds| {
            let length = time::Duration::seconds(i64::try_from(seconds).unwrap_or(i64::MAX));
            now.checked_add(length).and_then(|end| end.format(&Rfc3339).ok())
        });
        let expires_at = match end {
            Some(None) => return Err("The token would end after the end of time".to_owned()),
            Some(end) => end,
            None => None,
        };
        let secret = format!("unterm_{}", random::hex().map_err(|error| error.to_string())?);
        self.file.change(|rows| {
            rows.tokens.retain(|row| row.token.is_live(now));
            if rows.tokens.len() >= MOST {
                return Err(format!("There are {MOST} tokens; take some back"));
            }
            rows.last += 1;
            let token = Token {
                number: rows.last,
                name: name.to_owned(),
                scope,
                instance: panes.as_ref().map(|_| self.instance.clone()),
                panes,
                made_at: now.format(&Rfc3339).unwrap_or_default(),
                expires_at,
            };
            let digest = digest_of(&secret);
            rows.tokens.push(StoredToken { digest, token: token.clone(), was_plain: false });
            Ok(((token, secret), true))
        })
    }

    /// Revokes a token. Returns false if no token has this number.
    ///
    /// # Errors
    /// The file can't be written. A message for users.
    pub fn revoke(&self, number: u64) -> Result<bool, String> {
        self.file.change(|rows| {
            let before = rows.tokens.len();
            rows.tokens.retain(|row| row.token.number != number);
            let is_gone = rows.tokens.len() < before;
            Ok((is_gone, is_gone))
        })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_token_is_known_until_it_ends_or_is_taken_back() {
        use std::os::unix::fs::PermissionsExt as _;

        let home = tempfile::tempdir().unwrap();
        let of = |instance: &str| Tokens::new(home.path(), instance.to_owned());
        let (here, there, elsewhere) = (of("alpha 1"), of("alpha 1"), of("bravo 2"));
        assert!(here.list().unwrap().is_empty() && here.find("").unwrap().is_none());
        let (token, secret) = here.create("one", Scope::Act, Some(vec![3]), Some(3600)).unwrap();
        assert_eq!(there.find(&secret), Ok(Some(token.clone())));
        assert!(there.find(&secret[1..]).unwrap().is_none());
        assert!(elsewhere.find(&secret).unwrap().is_none(), "its session is another one there");
        assert_eq!(token.scope.scopes(), Scopes::READ | Scopes::ACT);
        let mode = fs::metadata(home.path().join(FILE)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let (ended, late) = there.create("two", Scope::Read, None, Some(0)).unwrap();
        assert!(here.find(&late).unwrap().is_none() && !here.is_live(ended.number).unwrap());
        assert_eq!(here.list().unwrap(), std::slice::from_ref(&token));
        assert!(there.revoke(token.number).unwrap());
        assert!(here.find(&secret).unwrap().is_none() && !here.is_live(token.number).unwrap());
        assert!(!here.revoke(token.number).unwrap());
        let (next, _) = here.create("three", Scope::Admin, None, None).unwrap();
        assert!(next.number > ended.number, "numbers are given once");
        let text = fs::read_to_string(home.path().join(FILE)).unwrap();
        assert!(!text.contains("unterm_"), "a secret is in the file: {text}");
        // A file that can't be parsed must not be overwritten.
        fs::write(home.path().join(FILE), "nonsense").unwrap();
        let path = home.path().join(FILE).display().to_string();
        for error in [
            here.list().unwrap_err(),
            here.find(&secret).unwrap_err(),
            here.is_live(1).unwrap_err(),
        ] {
            assert!(error.starts_with(&format!("{path}: ")), "{error}");
        }
        assert!(here.create("four", Scope::Read, None, None).is_err() && here.revoke(1).is_err());
        assert_eq!(fs::read_to_string(home.path().join(FILE)).unwrap(), "nonsense");
    }

    #[test]
    fn tokens_of_an_older_version_stay_valid_and_become_digests() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join(FILE);
        let row = |secret: &str, number: u64| {
            let made_at = "2026-01-01T00:00:00Z";
            serde_json::json!({"secret": secret, "number": number, "name": "old", "scope": "read", "made_at": made_at})
        };
        let rows =
            serde_json::json!({"last": 7, "tokens": [row("unterm_one", 3), row("unterm_two", 7)]});
        fs::write(&file, rows.to_string()).unwrap();
        let tokens = Tokens::new(home.path(), "alpha 1".to_owned());
        let text = fs::read_to_string(&file).unwrap();
        assert!(!text.contains("unterm_one") && !text.contains("secret"), "{text}");
        assert_eq!(tokens.find("unterm_one").unwrap().unwrap().number, 3);
        assert_eq!(tokens.find("unterm_two").unwrap().unwrap().number, 7);
        assert!(tokens.find(&digest_of("unterm_one")).unwrap().is_none(), "the digest is no token");
        let (next, _) = tokens.create("new", Scope::Read, None, None).unwrap();
        assert_eq!(next.number, 8);
        // At the next start, there is nothing left to convert.
        let before = fs::metadata(&file).unwrap().modified().unwrap();
        Tokens::new(home.path(), "bravo 2".to_owned());
        assert_eq!(fs::metadata(&file).unwrap().modified().unwrap(), before);
        fs::write(
            &file,
            r#"{"last":1,"tokens":[{"number":1,"name":"","scope":"read","made_at":""}]}"#,
        )
        .unwrap();
        assert!(tokens.find("").is_err(), "a row without a digest");
    }
}
