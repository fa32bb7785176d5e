//! One bounded cache of decoded documents, shared by the requests of a host.
//!
//! Only documents of an edition are kept: they never change (promise 2 of the archive), so nothing here can be stale.
//! `index*` and `current.json` are read again by every request. What is found here counts against a request's budget as if it
//! had been read and parsed: how far an answer goes, and so its cursor, must not depend on what was asked before.

use std::{
    any::Any,
    collections::{BTreeMap, VecDeque},
    sync::{Arc, Mutex, PoisonError},
};

/// Most bytes of documents, as inflated, that a cache keeps (`surface.md`: 16 MiB of decoded documents in all). What they take
/// decoded is two to four times that.
pub const MOST: usize = 16 * 1024 * 1024;

/// A document: the path of its file, and its ordinal there.
pub(crate) type Slot = (String, u64);
/// A decoded document of whatever type.
pub(crate) type Decoded = Arc<dyn Any + Send + Sync>;

/// A cache of decoded documents.
#[derive(Debug)]
pub struct Cache {
    held: Mutex<Held>,
    most: usize,
}

#[derive(Debug, Default)]
struct Held {
    documents: BTreeMap<Slot, Entry>,
    /// In the order in which they came or, met while used since, were put off.
    queue: VecDeque<Slot>,
    bytes: usize,
}

#[derive(Debug)]
struct Entry {
    document: Decoded,
    bytes: usize,
    used: bool,
}

impl Default for Cache {
    fn default() -> Self {
        Self::of(MOST)
    }
}

impl Cache {
    /// A cache that keeps at most so many bytes of documents, as inflated.
    #[must_use]
    pub fn of(most: usize) -> Self {
        Self { held: Mutex::default(), most }
    }

    /// How many bytes of documents it keeps now.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).bytes
    }

    pub(crate) fn get(&self, slot: &Slot) -> Option<Decoded> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = held.documents.get_mut(slot)?;
        entry.used = true;
        Some(Arc::clone(&entry.document))
    }

    /// Keeps a document; those that were not used since they came go first (second chance).
    pub(crate) fn put(&self, slot: &Slot, document: Decoded, bytes: usize) {
        if bytes > self.most {
            return;
        }
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if held.documents.contains_key(slot) {
            return;
        }
        while held.bytes + bytes > self.most {
            let Some(oldest) = held.queue.pop_front() else { break };
            let Some(entry) = held.documents.get_mut(&oldest) else { continue };
            if std::mem::take(&mut entry.used) {
                held.queue.push_back(oldest);
            } else {
                held.bytes -= entry.bytes;
                held.documents.remove(&oldest);
            }
        }
        held.bytes += bytes;
        held.queue.push_back(slot.clone());
        held.documents.insert(slot.clone(), Entry { document, bytes, used: false });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_used_stays_and_the_bound_holds() {
        let cache = Cache::of(10);
        let slot = |number| ("a".to_owned(), number);
        for number in 0..3 {
            cache.put(&slot(number), Arc::new(number), 3);
        }
        assert!(cache.get(&slot(0)).is_some());
        cache.put(&slot(3), Arc::new(3_u64), 3);
        assert!(cache.get(&slot(0)).is_some(), "it was used");
        assert!(cache.get(&slot(1)).is_none(), "it was not");
        assert_eq!(cache.bytes(), 9);
        cache.put(&slot(9), Arc::new(9_u64), 11);
        assert!(cache.get(&slot(9)).is_none(), "larger than all of the cache");
        assert_eq!(cache.bytes(), 9);
    }
}
