//! The memory limit for reading the content of a file.

use crate::field::file::container::Chunk;
use crate::field::file::error::Cause;
use crate::field::file::error::FileError;

/// Memory taken so far, and the limit.
pub(crate) struct Budget {
    pub(crate) used: u64,
    pub(crate) limit: u64,
}

impl Budget {
    /// Counts memory for the content of a chunk before it is allocated.
    pub(crate) fn take(
        &mut self,
        what: &'static str,
        bytes: u64,
        chunk: &Chunk,
    ) -> Result<(), FileError> {
        let needed = self.used.saturating_add(bytes);
        if needed > self.limit {
            return Err(chunk.error(Cause::Limit {
                what,
                needed,
                limit: self.limit,
            }));
        }
        self.used = needed;
        Ok(())
    }
}
