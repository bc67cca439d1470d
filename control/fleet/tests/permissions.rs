//! Tests what a machine, an invitation, a replayed call and a stranger can do to a hub and its NATS server.

#[path = "permissions/attacks.rs"]
mod attacks;
#[path = "permissions/migration.rs"]
mod migration;
#[path = "permissions/pairing.rs"]
mod pairing;
#[path = "permissions/questions.rs"]
mod questions;
#[path = "permissions/revocation.rs"]
mod revocation;
#[path = "permissions/test_fleet.rs"]
mod test_fleet;
#[path = "permissions/unauthenticated.rs"]
mod unauthenticated;
