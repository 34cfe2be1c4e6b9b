//! Blobs in memory.

use leasehold_types::{BoxFuture, Digest, TreeId};

use crate::blobs::{BLOB_BYTES_MAX, checked};
use crate::{BlobError, Blobs, JournalError, MemoryStore, unpoisoned};

impl Blobs for MemoryStore {
    fn put_blob(&self, tree: TreeId, body: Vec<u8>) -> BoxFuture<'_, Result<Digest, JournalError>> {
        if let Err(error) = JournalError::within("blob", body.len(), BLOB_BYTES_MAX) {
            return super::ready(Err(error));
        }
        let digest = Digest::of(&body);
        unpoisoned(&self.state).blobs.insert((tree, digest), body);
        super::ready(Ok(digest))
    }

    fn blob(&self, tree: TreeId, digest: Digest) -> BoxFuture<'_, Result<Vec<u8>, BlobError>> {
        let found = unpoisoned(&self.state).blobs.get(&(tree, digest)).cloned();
        super::ready(checked(tree, digest, found))
    }

    fn delete_blobs(&self, tree: TreeId) -> BoxFuture<'_, Result<(), JournalError>> {
        let mut state = unpoisoned(&self.state);
        state.blobs.retain(|(owner, _), _| *owner != tree);
        super::ready(Ok(()))
    }
}
