//! The control socket: how commands reach the instance that holds a store.
//!
//! A Unix socket beside the store, mode 0600. One request a connection: the client writes one line of JSON,
//! `{"v":1,"request":{"op":"show",…}}`, and reads lines `{"v":1,"reply":{…}}`, the last of which is `{"v":1,"end":true}` or
//! `{"v":1,"error":{"message":"[code] …","exit":3}}`.
//!
//! - CONTROL-1: who acts is the peer's user as the system says, never as the request says.
//! - CONTROL-2: no bytes, no silence and no slowness of a client stop the instance or another client.

mod client;
mod place;
mod server;
#[cfg(test)]
mod tests;
mod wire;

pub(super) use client::Client;
#[cfg(test)]
pub(super) use place::is_there;
pub(super) use place::listen;
pub(super) use server::serve;
pub(super) use wire::{Line, read_line};
