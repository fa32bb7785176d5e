//! Word of how far long work is, for whoever shows it.

/// Told as work goes on, from any thread.
pub trait Progress: Sync {
    /// How many files there are in all.
    fn total(&self, files: u64) {
        let _ = files;
    }
    /// A file is begun that has so many bodies.
    fn start(&self, name: &str, bodies: u64) {
        let _ = (name, bodies);
    }
    /// So many more of its bodies are told.
    fn advance(&self, bodies: u64) {
        let _ = bodies;
    }
    /// The file is done.
    fn done(&self) {}
}

/// Nobody watches.
impl Progress for () {}
