//! Answers a hub's requests.

use async_nats::Message;
use serde::{Serialize, de::DeserializeOwned};
use tokio::time::{Instant, timeout_at};

use super::{
    claims::{Claims, check_id},
    instances::{Instances, TYPING_PATIENCE},
};
use crate::protocol::{LONGEST_TEXT, Read, Reply, Sessions, Text, Type, Typed, Verb};

/// The reply to one request too many, as JSON.
pub fn busy() -> Vec<u8> {
    refusal("the machine is busy with other calls; nothing was done")
}

/// The reply to a request that is not carried out, as JSON.
pub fn refusal(why: &str) -> Vec<u8> {
    write(&Reply::<()>::Refused(why.to_owned()))
}

/// The reply to a request that was received at this time, as JSON.
pub async fn answer(
    request: &Message,
    received: Instant,
    instances: &Instances,
    claims: &Claims,
) -> Vec<u8> {
    let name = request.subject.rsplit('.').next().unwrap_or_default();
    let Some(verb) = Verb::ALL.into_iter().find(|verb| verb.name() == name) else {
        let why = format!("this version of the connector knows no request {name:?}");
        return write(&Reply::<()>::Refused(why));
    };
    match verb {
        Verb::Sessions => {
            let sessions = instances.sessions().await;
            write(&Reply::Done(Sessions { sessions }))
        }
        Verb::Read => write(&read(request, instances).await),
        Verb::Type => write(&type_in(request, received, instances, claims).await),
    }
}

async fn read(request: &Message, instances: &Instances) -> Reply<Text> {
    let Read { sid } = match parse(request) {
        Ok(read) => read,
        Err(why) => return Reply::Refused(why),
    };
    match instances.read(&sid).await {
        Ok(text) => Reply::Done(text),
        Err(error) => Reply::Refused(format!("{error:#}")),
    }
}

async fn type_in(
    request: &Message,
    received: Instant,
    instances: &Instances,
    claims: &Claims,
) -> Reply<Typed> {
    let request: Type = match parse(request) {
        Ok(request) => request,
        Err(why) => return Reply::Refused(why),
    };
    if let Err(why) = check_id(&request.call) {
        return Reply::Refused(why);
    }
    if request.parts.iter().map(|part| part.text.len()).sum::<usize>() > LONGEST_TEXT + 64 {
        return Reply::Refused(format!("the text is longer than {LONGEST_TEXT} bytes"));
    }
    // Before the hub gives the call up, and before the person's next decision about it.
    let deadline = received + TYPING_PATIENCE;
    let Ok(_turn) = timeout_at(deadline, instances.turn(&request.sid)).await else {
        let why = "other calls were typing into this session; nothing was typed";
        return Reply::NotBegun(why.to_owned());
    };
    match claims.claim(&request.call).await {
        Ok(true) => {}
        Ok(false) => return Reply::Repeated,
        Err(error) => return Reply::NotBegun(format!("{error:#}; nothing was typed")),
    }
    let reply = match instances.type_in(&request, deadline).await {
        Ok(typed) => Reply::Done(typed),
        Err(error) => Reply::Refused(format!("{error:#}")),
    };
    claims.end(&request.call, reply.clone()).await;
    reply
}

fn parse<T: DeserializeOwned>(request: &Message) -> Result<T, String> {
    serde_json::from_slice(&request.payload).map_err(|error| format!("not understood: {error}"))
}

fn write(reply: &impl Serialize) -> Vec<u8> {
    // The messages are plain data.
    serde_json::to_vec(reply).unwrap_or_default()
}
