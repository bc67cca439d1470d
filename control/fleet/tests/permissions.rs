//! Tests what a machine, an invitation, a replayed call and a stranger can do to a hub and its NATS server.

#[path = "permissions/attacks.rs"]
mod attacks;
#[path = "permissions/earlier.rs"]
mod earlier;
#[path = "permissions/ends.rs"]
mod ends;
#[path = "permissions/pairing.rs"]
mod pairing;
#[path = "permissions/place.rs"]
mod place;
#[path = "permissions/questions.rs"]
mod questions;
#[path = "permissions/strangers.rs"]
mod strangers;
