//! Line-delimited JSON-RPC on a loopback port.
//!
//! Owns listening, framing ([`Lines`]), login with its slowing of wrong tokens ([`Throttle`]), and the wire's error codes.
//! Never knows what a method does. Requests of one connection are handled and answered one after the other; connections
//! share nothing, so that one which does not read, or waits, holds up nobody else.

mod lines;
mod request;
pub(super) mod spare;
pub(super) mod throttle;

use std::{
    future::{Future, poll_fn},
    io::{self, Cursor, ErrorKind, Write},
    net::{Ipv4Addr, SocketAddr},
    pin::{Pin, pin},
    sync::Arc,
    task::Poll,
    time::Duration,
};

use subtle::ConstantTimeEq;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
};

use self::{
    lines::{Lines, Next},
    request::{Login, Request},
    spare::Spare,
    throttle::Throttle,
};
use crate::{
    caller::{Caller, Scopes, SubscriptionSlot, TokenKind, Wire},
    dispatch::Dispatcher,
    error::Error,
    services::{events::Subscription, tokens::UNREADABLE},
    wire::{
        logins::{LoginLimits, PendingLogins},
        mcp,
    },
};

/// The address it listens on.
pub const HOST: &str = "127.0.0.1";
/// The port it listens on when that is free.
pub const PREFERRED_PORT: u16 = 19876;
/// How many more ports it tries before it takes one that the system gives.
const PORT_RETRIES: u16 = 5;

/// The longest line of a client that has logged in, in bytes.
const LONGEST_LINE: usize = 16 << 20;
/// The longest line of one that has not.
const LONGEST_LINE_BEFORE_LOGIN: usize = 64 << 10;
/// Replies are collected up to this many bytes before they are written.
const BATCH: usize = 64 << 10;
/// Requests handled before other connections get their turn.
const TURN: usize = 128;

/// The wire's error codes.
mod code {
    pub const PARSE: i32 = -32700;
    pub const BAD_TOKEN: i32 = -32001;
    pub const NOT_AUTHENTICATED: i32 = -32002;
    pub const INTERNAL: i32 = -32603;
}

/// Binds the preferred port, one of the next five, or else one that the system gives.
pub fn bind() -> io::Result<std::net::TcpListener> {
    bind_from(PREFERRED_PORT)
}

/// The same from another port on.
pub fn bind_from(preferred: u16) -> io::Result<std::net::TcpListener> {
    for port in preferred..=preferred + PORT_RETRIES {
        match std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, port)) {
            Err(error) if error.kind() == ErrorKind::AddrInUse => {}
            Err(error) => tracing::debug!(port, %error, "cannot listen"),
            Ok(listener) => return Ok(listener),
        }
    }
    std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
}

/// What all connections share.
pub struct Shared {
    dispatcher: Arc<Dispatcher>,
    token: String,
    throttle: Throttle,
    mcp: Arc<mcp::Server>,
    login_time: Duration,
    logins: Arc<PendingLogins>,
}

impl Shared {
    /// For a server whose token this is.
    pub fn new(
        dispatcher: Arc<Dispatcher>,
        token: String,
        mcp: Arc<mcp::Server>,
        login: LoginLimits,
    ) -> Self {
        let logins = PendingLogins::new(login.connections);
        let throttle = Throttle::default();
        Self { dispatcher, token, throttle, mcp, login_time: login.time, logins }
    }
}

/// Accepts connections for as long as it is polled.
pub async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    let mut spare = Spare::default();
    let mut full = Vec::new();
    write_error(&mut full, "null", code::INTERNAL, spare::FULL);
    loop {
        match listener.accept().await {
            Ok((stream, address)) => {
                tokio::spawn(Connection::run(stream, address, shared.clone()));
            }
            Err(error) => {
                tracing::warn!(%error, "cannot accept a connection");
                if !spare.refuse(&listener, &error, &full).await {
                    // There is no event that tells when it would do.
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            }
        }
    }
}

/// One client.
struct Connection {
    shared: Arc<Shared>,
    writer: OwnedWriteHalf,
    /// Replies not yet written.
    out: Vec<u8>,
    /// The reply being made.
    reply: Vec<u8>,
    id: u64,
    /// Set by a login.
    caller: Option<Caller>,
    wrong_tokens: u32,
    /// What it asked to be told.
    subscription: Option<Subscription>,
    /// It speaks the Model Context Protocol from now on, with these tools, for a client that was started there.
    mcp: Option<(&'static mcp::Toolset, Option<String>)>,
}

/// What a connection is served for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Until {
    Login,
    End,
}

impl Connection {
    async fn run(stream: TcpStream, address: SocketAddr, shared: Arc<Shared>) {
        let id = shared.dispatcher.next_connection();
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "cannot set TCP_NODELAY");
        }
        let (mut reader, writer) = stream.into_split();
        let mut connection = Self {
            shared,
            writer,
            out: Vec::new(),
            reply: Vec::new(),
            id,
            caller: None,
            wrong_tokens: 0,
            subscription: None,
            mcp: None,
        };
        tracing::debug!(id, %address, "connected");
        let mut lines = Lines::default();
        let mut end = connection.await_login(&mut reader, &mut lines).await;
        if end.is_ok() && connection.caller.is_some() && connection.mcp.is_none() {
            end = connection.talk(&mut reader, &mut lines, Until::End).await;
        }
        let Self { shared, writer, caller, mcp, .. } = connection;
        if let (Ok(()), Some((toolset, folder)), Some(caller)) = (&end, mcp, caller) {
            let reader = AsyncReadExt::chain(Cursor::new(lines.into_rest()), reader);
            let owed = mcp::Owed::default();
            shared.mcp.clone().serve(reader, writer, caller, toolset, folder, owed).await;
        }
        shared.dispatcher.disconnected(id);
        tracing::debug!(id, ?end, "disconnected");
    }

    /// Reads and answers until the client has logged in, within the time and the count of those who have not.
    async fn await_login(
        &mut self,
        reader: &mut OwnedReadHalf,
        lines: &mut Lines,
    ) -> io::Result<()> {
        let time = self.shared.login_time;
        let pending = self.shared.logins.begin(self.id);
        let talk = tokio::time::timeout(time, self.talk(reader, lines, Until::Login));
        let why = tokio::select! {
            biased;
            talked = talk => match talked {
                Ok(end) => return end,
                Err(_) => format!("Not authenticated. Call auth.login within {} s", time.as_secs_f32()),
            },
            () = pending.evicted() => {
                "Not authenticated. Too many connections have not logged in, and this is the oldest".to_owned()
            }
        };
        tracing::debug!(id = self.id, why, "dropped a connection");
        let mut told = Vec::new();
        write_error(&mut told, "null", code::NOT_AUTHENTICATED, &why);
        // It may not read.
        let _ = self.writer.try_write(&told);
        Err(ErrorKind::TimedOut.into())
    }

    /// Reads and answers until the client closes, breaks off, breaks the rules or goes over to another protocol, or until it
    /// has logged in.
    async fn talk(
        &mut self,
        reader: &mut OwnedReadHalf,
        lines: &mut Lines,
        until: Until,
    ) -> io::Result<()> {
        let mut turn = 0;
        loop {
            let longest = match self.caller {
                Some(_) => LONGEST_LINE,
                None => LONGEST_LINE_BEFORE_LOGIN,
            };
            match lines.next(longest) {
                Next::Line(line) => {
                    self.answer(line).await?;
                    if self.mcp.is_some() {
                        return self.flush().await;
                    }
                    if until == Until::Login && self.caller.is_some() {
                        return Ok(());
                    }
                    if self.out.len() >= BATCH {
                        self.flush().await?;
                    }
                    turn += 1;
                    if turn % TURN == 0 {
                        tokio::task::yield_now().await;
                    }
                }
                Next::More => {
                    self.flush().await?;
                    let event = next_event(&mut self.subscription);
                    tokio::select! {
                        count = reader.read_buf(lines.space()) => {
                            if count? == 0 {
                                return Ok(());
                            }
                        }
                        event = event => {
                            // What a token listens to ends with it.
                            let caller = self.caller.as_ref();
                            let dispatcher = &self.shared.dispatcher;
                            if caller.is_some_and(|caller| dispatcher.check_token(caller).is_err()) {
                                return Ok(());
                            }
                            write_event(&mut self.out, &event);
                        }
                    }
                }
                Next::Http => {
                    tracing::warn!(id = self.id, "dropped a connection that speaks HTTP");
                    return Ok(());
                }
                Next::TooLong => {
                    let message = format!("Parse error: the line is longer than {longest} bytes");
                    write_error(&mut self.out, "null", code::PARSE, &message);
                    self.flush().await?;
                    self.writer.shutdown().await?;
                    return drain(reader).await;
                }
            }
        }
    }

    /// Answers one line: appends the reply to `out`.
    async fn answer(&mut self, line: &[u8]) -> io::Result<()> {
        let request = match Request::parse(line) {
            Ok(Some(request)) => request,
            Ok(None) => return Ok(()),
            Err(why) => {
                write_error(&mut self.out, "null", code::PARSE, &format!("Parse error: {why}"));
                return Ok(());
            }
        };
        let id = request.id;
        if request.method == "auth.login" {
            return self.login(id, Login::parse(request.params)).await;
        }
        let Self { shared, writer, out, reply, caller, subscription, .. } = self;
        let Some(caller) = caller else {
            let message = "Not authenticated. Call auth.login first";
            write_error(out, id, code::NOT_AUTHENTICATED, message);
            return Ok(());
        };

        reply.clear();
        reply.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
        reply.extend_from_slice(id.as_bytes());
        reply.extend_from_slice(br#","result":"#);
        let result = {
            let call = shared.dispatcher.call(caller, &request.method, request.params, reply);
            let mut call = pin!(call);
            match poll_fn(|context| Poll::Ready(call.as_mut().poll(context))).await {
                Poll::Ready(result) => result,
                Poll::Pending => finish(call, writer, out, subscription).await?,
            }
        };
        match result {
            Ok(()) => {
                if let Some(asked) = caller.subscription.take() {
                    *subscription = asked;
                }
                reply.extend_from_slice(b"}\n");
                if out.is_empty() {
                    std::mem::swap(out, reply);
                } else {
                    out.extend_from_slice(reply);
                }
            }
            Err(error) => write_failure(out, id, &error),
        }
        Ok(())
    }

    async fn login(&mut self, id: &str, login: Option<Login>) -> io::Result<()> {
        let token = self.shared.token.as_bytes();
        let toolset = |login: &Login| match &login.mcp {
            Some(name) => mcp::toolset((!name.is_empty()).then_some(name)).map(Some),
            None => Ok(None),
        };
        // The comparison takes the same time wherever the tokens differ. Their lengths are no secret.
        let mut refusal = (code::BAD_TOKEN, "Invalid auth token");
        let rights = |login: Login| {
            if login.token.as_bytes().ct_eq(token).into() {
                return Some((login, TokenKind::Instance, Scopes::all(), None));
            }
            let made = match self.shared.dispatcher.context().tokens.find(&login.token) {
                Ok(made) => made?,
                Err(why) => {
                    tracing::warn!(why, "tokens for agents are not known");
                    refusal = (code::INTERNAL, UNREADABLE);
                    return None;
                }
            };
            let kind = TokenKind::Agent(made.number);
            Some((login, kind, made.scope.scopes(), made.panes.map(Into::into)))
        };
        match login.and_then(rights) {
            Some((login, token, scopes, panes)) => {
                self.wrong_tokens = 0;
                match toolset(&login) {
                    Ok(toolset) => self.mcp = toolset.map(|toolset| (toolset, login.cwd)),
                    Err(why) => {
                        write_error(&mut self.out, id, code::INTERNAL, &why);
                        return Ok(());
                    }
                }
                // A login ends the subscription of the one before it.
                self.subscription = None;
                if self.caller.as_ref().is_some_and(|caller| caller.token != token) {
                    // Another token may not hold what the first could.
                    self.shared.dispatcher.disconnected(self.id);
                }
                let wire = if login.agent { Wire::Mcp } else { Wire::Tcp };
                let caller = Caller {
                    wire,
                    connection: self.id,
                    token,
                    client: login.client,
                    conversation: login.conversation,
                    scopes,
                    panes,
                    is_approved: false,
                    subscription: SubscriptionSlot::default(),
                    cancel: Default::default(),
                };
                self.shared.dispatcher.logged_in(&caller);
                self.caller = Some(caller);
                write_result(&mut self.out, id, br#"{"status":"ok"}"#);
            }
            None => {
                self.wrong_tokens += 1;
                let delay = self.shared.throttle.delay(self.wrong_tokens);
                tracing::warn!(id = self.id, count = self.wrong_tokens, ?delay, "wrong token");
                self.flush().await?;
                tokio::time::sleep(delay).await;
                write_error(&mut self.out, id, refusal.0, refusal.1);
            }
        }
        Ok(())
    }

    /// Writes what is ready; waits for a client that does not read.
    async fn flush(&mut self) -> io::Result<()> {
        if !self.out.is_empty() {
            self.writer.write_all(&self.out).await?;
            self.out.clear();
            self.out.shrink_to(BATCH);
            self.reply.shrink_to(BATCH);
        }
        Ok(())
    }
}

/// The next event of a subscription; never, without one. Cancel-safe.
async fn next_event(subscription: &mut Option<Subscription>) -> serde_json::Value {
    match subscription {
        Some(subscription) => subscription.next().await,
        None => std::future::pending().await,
    }
}

/// Waits for the end of a call. What was answered before it must not wait with it, and events go on.
async fn finish<T>(
    mut call: Pin<&mut impl Future<Output = T>>,
    writer: &mut OwnedWriteHalf,
    out: &mut Vec<u8>,
    subscription: &mut Option<Subscription>,
) -> io::Result<T> {
    let mut written = 0;
    loop {
        tokio::select! {
            biased;
            result = &mut call => {
                out.drain(..written);
                return Ok(result);
            }
            count = writer.write(&out[written..]), if !out.is_empty() => {
                written += match count? {
                    0 => return Err(ErrorKind::WriteZero.into()),
                    count => count,
                };
                if written == out.len() {
                    out.clear();
                    written = 0;
                }
            }
            // One at a time: those that a slow client leaves wait where they are counted.
            event = next_event(subscription), if out.is_empty() => write_event(out, &event),
        }
    }
}

/// Reads what a refused client still sends, within bounds: closing with bytes unread would reset the connection, and the
/// refusal would be lost.
async fn drain(reader: &mut OwnedReadHalf) -> io::Result<()> {
    const MOST: u64 = 64 << 20;
    const LONGEST: Duration = Duration::from_secs(2);
    let rest = &mut AsyncReadExt::take(reader, MOST);
    let sink = &mut tokio::io::sink();
    tokio::time::timeout(LONGEST, tokio::io::copy(rest, sink)).await.unwrap_or(Ok(0)).map(drop)
}

fn write_result(out: &mut Vec<u8>, id: &str, result: &[u8]) {
    out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    out.extend_from_slice(id.as_bytes());
    out.extend_from_slice(br#","result":"#);
    out.extend_from_slice(result);
    out.extend_from_slice(b"}\n");
}

/// What happened, as a request that wants no reply.
fn write_event(out: &mut Vec<u8>, event: &serde_json::Value) {
    // Writing to memory can't fail.
    let _ = writeln!(out, r#"{{"jsonrpc":"2.0","method":"event","params":{event}}}"#);
}

/// Every failure of a method has the same code on this wire, as documented.
fn write_failure(out: &mut Vec<u8>, id: &str, error: &Error) {
    write_error(out, id, code::INTERNAL, &error.to_string());
}

fn write_error(out: &mut Vec<u8>, id: &str, code: i32, message: &str) {
    let message = serde_json::Value::from(message);
    // Writing to memory can't fail.
    let _ = writeln!(
        out,
        r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":{message}}}}}"#
    );
}
