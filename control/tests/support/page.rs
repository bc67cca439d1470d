//! A client of the settings server.

use std::{
    io::{Read, Write},
    net::TcpStream,
};

use serde_json::Value;

use super::{Fixture, PATIENCE};

/// A reply: its status, its head in lower case, and its body.
pub struct Reply {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Reply {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("no JSON: {}", self.body))
    }
}

/// The HTTP server of an instance.
pub struct Page {
    pub port: u16,
    pub token: String,
}

impl Page {
    pub fn of(fixture: &Fixture) -> Self {
        let record = fixture.record(fixture.server());
        let port = record["http_port"].as_u64().unwrap() as u16;
        assert_ne!(port, 0);
        Self { port, token: record["auth_token"].as_str().unwrap().to_owned() }
    }

    /// A client of this server with another token.
    pub fn with_token(&self, token: &Value) -> Self {
        Self { port: self.port, token: token.as_str().unwrap().to_owned() }
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// Sends a request with these headers in addition to `Host` and `Connection`.
    pub fn raw(&self, verb: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Reply {
        let mut request = format!("{verb} {path} HTTP/1.1\r\nConnection: close\r\n");
        if !headers.iter().any(|(name, _)| *name == "Host") {
            request += &format!("Host: 127.0.0.1:{}\r\n", self.port);
        }
        for (name, value) in headers.iter().filter(|(_, value)| *value != "-") {
            request += &format!("{name}: {value}\r\n");
        }
        request += &format!("Content-Length: {}\r\n\r\n{body}", body.len());
        let mut stream = self.connect();
        stream.write_all(request.as_bytes()).unwrap();
        read(stream)
    }

    /// Sends a request like [`Self::raw`], with the instance's token.
    pub fn ask(&self, verb: &str, path: &str, body: Option<Value>) -> Reply {
        let bearer = format!("Bearer {}", self.token);
        let body = body.map_or_else(String::new, |body| body.to_string());
        self.raw(verb, path, &[("Authorization", &bearer)], &body)
    }

    pub fn get(&self, path: &str) -> Value {
        let reply = self.ask("GET", path, None);
        assert_eq!(reply.status, 200, "{path}: {}", reply.body);
        reply.json()
    }

    pub fn send(&self, verb: &str, path: &str, body: Value) -> Value {
        let reply = self.ask(verb, path, Some(body));
        assert_eq!(reply.status, 200, "{path}: {}", reply.body);
        reply.json()
    }

    pub fn refused(&self, verb: &str, path: &str, body: Value) -> (u16, String) {
        let reply = self.ask(verb, path, Some(body));
        (reply.status, reply.json()["error"].as_str().unwrap().to_owned())
    }
}

pub fn read(mut stream: TcpStream) -> Reply {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
    Reply { status, head: head.to_lowercase(), body: body.to_owned() }
}
