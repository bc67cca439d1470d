//! The addresses of a hub, as its clients name them.

/// An address of the hub.
pub struct Site {
    /// The scheme and the host: the origin of its pages.
    pub origin: String,
    /// The host, with its port unless that is the scheme's.
    pub host: String,
    /// The origin that people use instead of this one.
    pub moved_to: Option<String>,
}

impl Site {
    /// An address at which people find the dashboard.
    pub fn new(scheme: &str, host: String) -> Self {
        Self { origin: format!("{scheme}://{host}"), host, moved_to: None }
    }

    /// The addresses of a hub that listens on the loopback address, of which people use one. `localhost` is a name, but it also
    /// means `[::1]`: if another user's program can answer there, its pages would share this page's origin.
    pub fn loopback(scheme: &str, port: u16, has_localhost: bool) -> [Self; 2] {
        let [mut address, mut name] =
            ["127.0.0.1", "localhost"].map(|host| Self::new(scheme, format!("{host}:{port}")));
        if has_localhost {
            address.moved_to = Some(name.origin.clone());
        } else {
            name.moved_to = Some(address.origin.clone());
        }
        [address, name]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_use_localhost_if_no_other_program_can_answer_there() {
        let summary = |has_localhost| {
            Site::loopback("http", 1, has_localhost).map(|site| (site.host, site.moved_to))
        };
        let (address, name) = ("127.0.0.1:1".to_owned(), "localhost:1".to_owned());
        let own = summary(true);
        assert_eq!(own[0], (address.clone(), Some("http://localhost:1".to_owned())));
        assert_eq!(own[1], (name.clone(), None));
        let shared = summary(false);
        assert_eq!(shared[0], (address, None));
        assert_eq!(shared[1], (name, Some("http://127.0.0.1:1".to_owned())));
    }
}
