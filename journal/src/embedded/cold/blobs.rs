//! Blobs in redb.

use leasehold_types::{BoxFuture, Digest, TreeId};
use redb::TableDefinition;

use crate::blobs::{BLOB_BYTES_MAX, checked};
use crate::embedded::EmbeddedStore;
use crate::{BlobError, Blobs, JournalError};

/// Bodies: by tree and hash. The hash is their checksum.
pub(super) const BLOBS: TableDefinition<'_, (u128, [u8; 32]), &[u8]> =
    TableDefinition::new("blobs");

impl Blobs for EmbeddedStore {
    fn put_blob(&self, tree: TreeId, body: Vec<u8>) -> BoxFuture<'_, Result<Digest, JournalError>> {
        Box::pin(async move {
            JournalError::within("blob", body.len(), BLOB_BYTES_MAX)?;
            let digest = Digest::of(&body);
            let done = self.cold.change(move |transaction| {
                let mut blobs = transaction.open_table(BLOBS)?;
                blobs.insert((tree.as_u128(), *digest.as_bytes()), body.as_slice())?;
                Ok(digest)
            });
            Ok(done.await?)
        })
    }

    fn blob(&self, tree: TreeId, digest: Digest) -> BoxFuture<'_, Result<Vec<u8>, BlobError>> {
        Box::pin(async move {
            let cold = self.cold.clone();
            let found = self.aside(move || {
                cold.read(|transaction| {
                    let blobs = transaction.open_table(BLOBS)?;
                    let found = blobs.get((tree.as_u128(), *digest.as_bytes()))?;
                    Ok(found.map(|body| body.value().to_vec()))
                })
            });
            checked(tree, digest, found.await?)
        })
    }

    fn delete_blobs(&self, tree: TreeId) -> BoxFuture<'_, Result<(), JournalError>> {
        Box::pin(async move {
            let done = self.cold.change(move |transaction| {
                let mut blobs = transaction.open_table(BLOBS)?;
                let first = (tree.as_u128(), [0; 32]);
                let last = (tree.as_u128(), [u8::MAX; 32]);
                blobs.retain_in(first..=last, |_, _| false)?;
                Ok(())
            });
            Ok(done.await?)
        })
    }
}
