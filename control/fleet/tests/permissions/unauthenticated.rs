//! Tests that clients without a secret can't prevent clients with a secret from using the hub.

use anyhow::{Context as _, Result, ensure};
use futures_util::future::join_all;
use serde_json::json;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};
use unterm_fleet::{
    connector::{self, HubAddress},
    hub::tokens::Right,
};

use crate::test_fleet::TestFleet;

/// The number of connections of the attack. It is more than the hub accepts.
const CROWD: usize = 600;

/// The head of a request that posts a body of this length.
fn head(place: &TestFleet, path: &str, length: usize) -> String {
    let address = place.address;
    format!(
        "POST {path} HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: {length}\r\n"
    )
}

async fn send(place: &TestFleet, request: &str) -> Result<TcpStream> {
    let mut stream = TcpStream::connect(place.address).await?;
    stream.write_all(request.as_bytes()).await?;
    Ok(stream)
}

/// The status of the reply, and the whole reply.
async fn reply(mut stream: TcpStream) -> Result<(String, String)> {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).await?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let status = text.split(' ').nth(1).context("no reply")?.to_owned();
    Ok((status, text))
}

async fn post(place: &TestFleet, path: &str, secret: &str, body: &str) -> Result<(String, String)> {
    let head = head(place, path, body.len());
    let secret = match secret {
        "" => String::new(),
        secret => format!("Authorization: Bearer {secret}\r\n"),
    };
    reply(send(place, &format!("{head}{secret}Connection: close\r\n\r\n{body}")).await?).await
}

async fn get(place: &TestFleet, path: &str) -> Result<String> {
    let host = place.address;
    let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    Ok(reply(send(place, &request).await?).await?.0)
}

/// Checks that everyone with a correct secret can use the hub.
async fn check_all_get_in(place: &TestFleet, who: &str) -> Result<()> {
    // A loopback address redirects to the address that users use.
    let page = get(place, "/").await?;
    ensure!(page == "200" || page == "307", "{who}: the page: {page}");
    let code = place.hub.sign_ins().code(true).await?;
    let (status, text) = post(place, "/api/login", "", &json!({"code": code}).to_string()).await?;
    // Users use the hub by the name `localhost`, unless another program has the port there.
    let (status, text) = match status.as_str() {
        "307" => post_localhost(place, &code).await?,
        _ => (status, text),
    };
    ensure!(status == "200", "{who}: signing in: {text}");
    let code = place.hub.pairing().code().await?;
    let home = place.folder.path().join(format!("paired {who}"));
    let hub = HubAddress::parse(&format!("http://{}", place.address), None)?;
    connector::pair_by_code(&home, &hub, &code, false, None).await.context(who.to_owned())?;
    let rights = vec![Right::List];
    let (_, token) = place.hub.tokens().create("agent", None, rights, None).await?;
    let (status, text) = post(place, "/mcp", &token, PING).await?;
    ensure!(status == "200" || status == "202", "{who}: an agent: {text}");
    Ok(())
}

const PING: &str = r#"{"jsonrpc": "2.0", "method": "notifications/initialized"}"#;

async fn post_localhost(place: &TestFleet, code: &str) -> Result<(String, String)> {
    let (port, body) = (place.address.port(), json!({"code": code}).to_string());
    let length = body.len();
    let request = format!(
        "POST /api/login HTTP/1.1\r\nHost: localhost:{port}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    );
    reply(send(place, &request).await?).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_unauthenticated_connections_do_not_block_others() -> Result<()> {
    let Some(place) = TestFleet::start().await? else { return Ok(()) };
    place.machine("first").await?;
    // Connections that send nothing, or only a part of a request's head or body.
    let silent = join_all((0..CROWD).map(|_| send(&place, ""))).await;
    check_all_get_in(&place, "silent").await?;
    drop(silent);
    let half = join_all((0..CROWD).map(|_| send(&place, "POST /pair HTTP/1.1\r\nHo"))).await;
    check_all_get_in(&place, "half a head").await?;
    drop(half);
    for path in ["/api/login", "/api/login/passkey", "/pair", "/mcp"] {
        let head = head(&place, path, 500) + "\r\n{";
        let slow = join_all((0..CROWD).map(|_| send(&place, &head))).await;
        check_all_get_in(&place, &format!("slow bodies {}", path.replace('/', " "))).await?;
        drop(slow);
    }
    // Clients that guess secrets repeatedly.
    let code = json!({"code": "0000-0000"}).to_string();
    let pairing = json!({
        "code": "0000-0000", "key": "U", "proof": "", "name": "", "platform": "", "renews": true
    });
    let place = std::sync::Arc::new(place);
    let mut guessers = tokio::task::JoinSet::new();
    for number in 0..120 {
        let (place, code, pairing) = (place.clone(), code.clone(), pairing.to_string());
        guessers.spawn(async move {
            loop {
                let guessed = match number % 3 {
                    0 => post_localhost(&place, "0000-0000").await,
                    1 => post(&place, "/pair", "", &pairing).await,
                    _ => post(&place, "/mcp", "unfl_0123456789abcdef_0", &code).await,
                };
                if let Ok((status, text)) = guessed {
                    assert!(status != "503", "{text}");
                }
            }
        });
    }
    for round in 0..5 {
        check_all_get_in(&place, &format!("guessers {round}")).await?;
    }
    guessers.abort_all();
    while guessers.join_next().await.is_some_and(|ended| !ended.is_err_and(|end| end.is_panic())) {}
    assert!(guessers.is_empty(), "a guesser was told that the hub is busy");
    Ok(())
}

/// A token's requests whose replies are not read, and a token's connections, do not use up the places of other clients.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_token_cannot_use_all_connections() -> Result<()> {
    let Some(place) = TestFleet::start().await? else { return Ok(()) };
    let rights = vec![Right::Read];
    let (_, token) = place.hub.tokens().create("greedy", None, rights, None).await?;
    let head = head(&place, "/mcp", PING.len());
    let request = format!("{head}Authorization: Bearer {token}\r\n\r\n{PING}");
    let mut open = Vec::new();
    for _ in 0..CROWD {
        let mut stream = send(&place, &request).await?;
        // When the reply begins, the request has been authenticated.
        let mut start = [0; 8];
        stream.read_exact(&mut start).await?;
        open.push(stream);
    }
    check_all_get_in(&place, "greedy").await?;
    place.stop().await;
    Ok(())
}
