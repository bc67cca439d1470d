//! Tests of tokens, rules and leases.

mod access;
mod pane_tokens;
mod rules;
mod rules_ways;
mod unseen_lines;
