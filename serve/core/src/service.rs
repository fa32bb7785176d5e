//! What a host makes once and asks for every request: a store, the cache over it, and what the host says of itself.

use std::sync::Arc;

use crate::{Cache, Request, Store};

/// What a host says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// What links start with (`https://archive.example`), without a slash at the end; empty where the host isn't reached by URL.
    pub public_url: String,
    /// Hosts, as a `Host` header names them without a port, that requests may name beside the loopback ones.
    pub allowed_hosts: Vec<String>,
    /// The program's version and, where it is known, its build id: for `serverInfo`, never for documents.
    pub version: String,
}

/// A store to answer from, shared by all requests of a host.
#[derive(Debug)]
pub struct Service<S> {
    store: S,
    cache: Arc<Cache>,
    config: Config,
}

impl<S: Store> Service<S> {
    /// A service with an empty cache.
    pub fn new(store: S, config: Config) -> Self {
        Self { store, cache: Arc::default(), config }
    }

    /// A new question: it has a budget of its own, and shares the cache.
    pub fn request(&self) -> Request<&S> {
        Request::cached(&self.store, Arc::clone(&self.cache))
    }

    /// The store.
    pub fn store(&self) -> &S {
        &self.store
    }

    /// What the host says of itself.
    pub fn config(&self) -> &Config {
        &self.config
    }
}
