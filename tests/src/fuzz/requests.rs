//! Generates requests for servers: valid requests with hostile values, and requests that are broken at any byte.

use serde_json::{Map, Value, json};

use super::Random;

/// A call that a server offers, with the JSON Schema of its parameters.
#[derive(Clone, Debug)]
pub struct OfferedCall {
    pub call: Call,
    /// The schema, or `null` if it is not known.
    pub schema: Value,
}

/// The form of a call.
#[derive(Clone, Debug)]
pub enum Call {
    /// A line of JSON-RPC with this method.
    Line(String),
    /// An HTTP request with this method. In the path, `{name}` is a parameter.
    Http { verb: String, path: String },
    /// A method of the Model Context Protocol, over HTTP.
    Mcp(String),
    /// A tool, which `tools/call` of the Model Context Protocol calls over HTTP.
    Tool(String),
}

/// The path of the Model Context Protocol.
pub(super) const MCP: &str = "/mcp";

/// Texts that programs often handle incorrectly. Each text is harmless if a shell runs it.
const TEXTS: &[&str] = &[
    "",
    " ",
    "\0",
    "a\0b",
    "\n",
    "\r\nX: y\r\n\r\n",
    "\x1b[2J\x1b]0;t\x07",
    "\x1b[201~",
    "\u{202e}abc\u{200b}",
    "e\u{301}\u{301}\u{301}",
    "\u{ffff}\u{10ffff}",
    "../../../..",
    "/",
    "/dev/zero",
    "/proc/self/environ",
    "file:///dev/zero",
    "%00%2e%2e%2f",
    "{}",
    "[",
    "\"",
    "'",
    "null",
    "true",
    "-1",
    "1e400",
    "99999999999999999999",
    "standard",
    "1",
    "all",
    "(a*)*b",
    "[[:alpha:]]{1000}{1000}",
    "#{?a,#{b},c}",
    "<script>",
    "2026-02-30T25:61:61Z",
];

/// Numbers at the limits of their types.
const NUMBERS: &[&str] = &[
    "0",
    "-0",
    "1",
    "-1",
    "2",
    "255",
    "256",
    "65535",
    "65536",
    "2147483647",
    "2147483648",
    "4294967295",
    "4294967296",
    "9007199254740993",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "0.1",
    "1e308",
    "1e-308",
    "1e400",
];

/// The revision of the Model Context Protocol in requests over HTTP. It needs no session.
pub(super) const REVISION: &str = "2026-07-28";

/// The description of the client, which each request of that revision contains.
pub(super) fn client() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": REVISION,
        "io.modelcontextprotocol/clientInfo": {"name": "fuzz", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

/// The maximum length of a text that is repeated.
const LONG: usize = 1 << 18;

impl OfferedCall {
    /// A request for this call: the bytes that a client sends. `token` is the server's, which most requests contain.
    pub fn request(&self, host: &str, token: &str, random: &mut Random) -> Vec<u8> {
        let params = parameters(&self.schema, random);
        let text = match &self.call {
            Call::Line(method) => format!("{}\n", message(method, params, random)),
            Call::Http { verb, path } => {
                let mut path = path.clone();
                while let (Some(from), Some(to)) = (path.find('{'), path.find('}')) {
                    path.replace_range(from..=to, &percent_encoded(random.pick(TEXTS)));
                }
                let (path, body) = match verb.as_str() {
                    "GET" => (format!("{path}?{}", query(&params)), String::new()),
                    _ => (path, params.to_string()),
                };
                head(verb, &path, host, token, &body, random) + "\r\n" + &body
            }
            Call::Mcp(method) => mcp(method, method, params, (host, token), random),
            Call::Tool(tool) => {
                let params = json!({"name": tool, "arguments": params});
                mcp("tools/call", tool, params, (host, token), random)
            }
        };
        let mut bytes = text.into_bytes();
        if random.one_in(4) {
            damage(&mut bytes, random);
        }
        bytes
    }
}

/// A request of the Model Context Protocol over HTTP. `name` is the name of the tool or the method.
fn mcp(
    method: &str,
    name: &str,
    mut params: Value,
    (host, token): (&str, &str),
    random: &mut Random,
) -> String {
    if let Some(params) = params.as_object_mut() {
        params.insert("_meta".to_owned(), client());
    }
    let body = message(method, params, random);
    let mut text = head("POST", MCP, host, token, &body, random);
    if !random.one_in(10) {
        text += &format!("MCP-Protocol-Version: {REVISION}\r\n");
        text += &format!("Mcp-Method: {method}\r\nMcp-Name: {name}\r\n");
    }
    text + "\r\n" + &body
}

/// A message of JSON-RPC.
fn message(method: &str, params: Value, random: &mut Random) -> String {
    let mut message = json!({"jsonrpc": "2.0", "id": 1, "method": method});
    if !random.one_in(20) {
        message["params"] = params;
    }
    for name in ["jsonrpc", "id", "method", "params"] {
        if random.one_in(40) {
            message[name] = hostile(random, 3);
        }
    }
    let one = message.to_string();
    match random.below(30) {
        0 => format!("[{one},{one}]"),
        1 => format!("{one} {one}"),
        2 => "[".repeat(random.below_one_of(&[10, 1000, 100_000])),
        3 => one.replacen('{', "{\"id\":7,\"id\":8,", 1),
        _ => one,
    }
}

/// The parameters as the query of an address.
fn query(params: &Value) -> String {
    let pairs = params.as_object().into_iter().flatten().map(|(name, value)| {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        format!("{name}={}", percent_encoded(&text))
    });
    pairs.collect::<Vec<_>>().join("&")
}

/// The head of an HTTP request, without the empty line at its end.
fn head(
    verb: &str,
    path: &str,
    host: &str,
    token: &str,
    body: &str,
    random: &mut Random,
) -> String {
    let verb = match random.below(30) {
        0 => random.pick(&["HEAD", "OPTIONS", "DELETE", "PATCH", "TRACE", "get", ""]),
        _ => verb,
    };
    let length = match random.below(30) {
        0 => random.pick(NUMBERS).to_owned(),
        1 => (body.len() + 1).to_string(),
        _ => body.len().to_string(),
    };
    let mut head = format!(
        "{verb} {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nConnection: close\r\nContent-Length: {length}\r\n"
    );
    if !random.one_in(10) {
        head += &format!("Authorization: Bearer {token}\r\n");
    }
    for _ in 0..random.below_one_of(&[1, 1, 1, 4, 200]) {
        head += &header(random);
    }
    head
}

/// One line of an HTTP head that servers and proxies tend to read in different ways.
fn header(random: &mut Random) -> String {
    let name = random.pick(&[
        "Host",
        "Origin",
        "Authorization",
        "Content-Length",
        "Transfer-Encoding",
        "Content-Type",
        "Accept",
        "Cookie",
        "Expect",
        "Upgrade",
        "Range",
        "If-None-Match",
        "Mcp-Session-Id",
        "Mcp-Protocol-Version",
        "Last-Event-ID",
        "X-Forwarded-For",
        " Host",
        "X\u{e9}",
    ]);
    let value = match random.below(6) {
        0 => {
            random.pick(&["chunked", "gzip, chunked", "100-continue", "websocket", "bytes=0-1,5-"])
        }
        1 => random.pick(&["http://evil.example", "null", "127.0.0.1:1", "text/plain", "*/*"]),
        2 => random.pick(NUMBERS),
        _ => random.pick(TEXTS),
    };
    let times = random.below_one_of(&[2, 2, 2, 3000]);
    format!("{name}: {value}{}\r\n", "x".repeat(times))
}

/// Parameters that match a schema in most places.
fn parameters(schema: &Value, random: &mut Random) -> Value {
    if random.one_in(30) {
        return hostile(random, 4);
    }
    let mut params = Map::new();
    let required = schema["required"].as_array();
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let is_required = required.is_some_and(|all| all.iter().any(|it| it == name));
        if random.one_in(if is_required { 12 } else { 2 }) {
            continue;
        }
        params.insert(name.clone(), value(schema, property, random, 3));
    }
    if random.one_in(20) {
        params.insert(random.pick(TEXTS).to_owned(), hostile(random, 2));
    }
    Value::Object(params)
}

/// A value that a schema allows, or a hostile one.
fn value(root: &Value, schema: &Value, random: &mut Random, depth: usize) -> Value {
    if depth == 0 || random.one_in(4) {
        return hostile(random, depth);
    }
    if let Some(target) = schema["$ref"].as_str() {
        let pointed = target.trim_start_matches('#');
        // A reference may count from the root of a larger description, so only its last part is looked up.
        let name = pointed.rsplit('/').next().unwrap_or_default();
        return value(root, &root["$defs"][name], random, depth - 1);
    }
    if let Some(all) = schema["enum"].as_array().filter(|all| !all.is_empty()) {
        return all[random.below(all.len())].clone();
    }
    for several in ["anyOf", "oneOf"] {
        if let Some(all) = schema[several].as_array().filter(|all| !all.is_empty()) {
            return value(root, &all[random.below(all.len())], random, depth - 1);
        }
    }
    match schema["type"].as_str().unwrap_or_default() {
        "boolean" => json!(random.one_in(2)),
        "integer" | "number" => json!(random.below_one_of(&[3, 100, 100_000])),
        "string" => {
            json!(random.pick(&["1", "a", "echo a", "standard", "bash", "a.txt", "ctrl+a"]))
        }
        "array" => {
            let count = random.below_one_of(&[3, 3, 300]);
            (0..count).map(|_| value(root, &schema["items"], random, depth - 1)).collect()
        }
        _ => parameters(schema, random),
    }
}

/// Any JSON value.
fn hostile(random: &mut Random, depth: usize) -> Value {
    match random.below(if depth == 0 { 5 } else { 8 }) {
        0 => Value::Null,
        1 => json!(random.one_in(2)),
        2 => serde_json::from_str(random.pick(NUMBERS)).unwrap_or(json!(f64::MAX)),
        3 => json!(random.pick(TEXTS)),
        4 => {
            let text = random.pick(TEXTS);
            let times = random.below_one_of(&[3, 300, LONG]).min(LONG / text.len().max(1));
            json!(text.repeat(times))
        }
        5 => (0..random.below(4)).map(|_| hostile(random, depth - 1)).collect(),
        6 => json!({random.pick(TEXTS): hostile(random, depth - 1)}),
        _ => {
            let levels = random.below_one_of(&[4, 100, 400]);
            (0..levels).fold(Value::Null, |inner, _| json!([inner]))
        }
    }
}

/// Changes a few bytes, or cuts the request.
fn damage(bytes: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..=random.below(3) {
        let at = random.below(bytes.len() + 1);
        match random.below(5) {
            0 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            1 if at < bytes.len() => bytes[at] = random.next() as u8,
            2 => bytes.truncate(at),
            3 => {
                let end = (at + random.below(64)).min(bytes.len());
                let piece = bytes[at..end].repeat(random.below_one_of(&[3, 3, 50]));
                bytes.splice(at..at, piece);
            }
            _ => bytes.insert(at, random.pick(b"\0\r\n \"\\{[\xff\xed:")),
        }
    }
}

fn percent_encoded(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' => {
                char::from(byte).to_string()
            }
            _ => format!("%{byte:02x}"),
        })
        .collect()
}
