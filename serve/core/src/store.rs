//! The one way to the outside: a store of files by path.

use std::{future::Future, io};

/// What holds an archive: a folder, a bucket, a test's memory.
///
/// The methods are native async functions without a `Send` bound, on purpose. A Worker's futures hold JavaScript values and
/// can never be `Send`, so the trait must not ask for it; a local host that spawns onto threads needs it, and gets it
/// without the trait's help: every function here is generic over the store, so with a concrete store whose futures are `Send` the
/// compiler sees that the whole request is `Send` too. For that to hold, [`crate::Request`] has no interior mutability and keeps
/// nothing across an `await` that is not `Send`; a test says so.
pub trait Store {
    /// The whole of a file, or `None` where there is none.
    fn get(&self, path: &str) -> impl Future<Output = io::Result<Option<Vec<u8>>>>;

    /// `length` bytes of a file from `offset`, fewer where it ends before, or `None` where there is no such file.
    fn get_range(
        &self,
        path: &str,
        offset: u64,
        length: u64,
    ) -> impl Future<Output = io::Result<Option<Vec<u8>>>>;
}

impl<S: Store> Store for &S {
    async fn get(&self, path: &str) -> io::Result<Option<Vec<u8>>> {
        (**self).get(path).await
    }

    async fn get_range(&self, path: &str, offset: u64, length: u64) -> io::Result<Option<Vec<u8>>> {
        (**self).get_range(path, offset, length).await
    }
}
