//! A store that counts what is read from it, and the assertion that promise 6 of the archive is.
//!
//! Other crates' tests use this file by its path.

use std::{
    io,
    sync::atomic::{AtomicUsize, Ordering},
};

use elfscope_core::{Budget, Store};
use elfscope_schema::limits;

/// Counts the reads of the store inside.
pub struct CountingStore<S> {
    inner: S,
    reads: AtomicUsize,
}

impl<S> CountingStore<S> {
    /// A store that nothing was read from.
    pub fn new(inner: S) -> Self {
        Self { inner, reads: AtomicUsize::new(0) }
    }

    /// The store inside.
    pub fn into_inner(self) -> S {
        self.inner
    }

    /// The reads since the last call.
    pub fn take_reads(&self) -> usize {
        self.reads.swap(0, Ordering::Relaxed)
    }
}

impl<S: Store> Store for CountingStore<S> {
    async fn get(&self, path: &str) -> io::Result<Option<Vec<u8>>> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.inner.get(path).await
    }

    async fn get_range(&self, path: &str, offset: u64, length: u64) -> io::Result<Option<Vec<u8>>> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.inner.get_range(path, offset, length).await
    }
}

/// Asserts that a request stayed within promise 6, and that it counted its reads as the store did.
#[track_caller]
pub fn assert_bounded<S>(store: &CountingStore<S>, budget: Budget, what: &str) {
    let reads = store.take_reads();
    assert_eq!(reads, budget.reads, "{what}: the request counted {} reads", budget.reads);
    assert!(reads <= limits::REQUEST_READS, "{what}: {reads} reads");
    assert!(budget.json <= limits::REQUEST_JSON, "{what}: {} bytes of JSON", budget.json);
}
