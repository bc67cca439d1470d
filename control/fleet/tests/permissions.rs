//! What a machine, an invitation and a replayed call can do at a real NATS server.

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
