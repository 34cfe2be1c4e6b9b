//! The cases of the `Blobs` trait.

use std::sync::Arc;

use leasehold_types::Digest;

use super::world::tree;
use crate::{BLOB_BYTES_MAX, BlobError, JournalError, Store};

/// Case.
pub async fn a_blob_reads_back_by_tree_and_hash(store: Arc<dyn Store>) {
    let tree = tree("blob", 0);
    for bytes in [0, 1, 300_000, 3_000_000] {
        let body: Vec<u8> = (0..bytes)
            .map(|at| u8::try_from(at % 249).unwrap())
            .collect();
        let digest = store.put_blob(tree, body.clone()).await.unwrap();
        assert_eq!(digest, Digest::of(&body));
        assert_eq!(store.put_blob(tree, body.clone()).await, Ok(digest));
        assert!(store.blob(tree, digest).await == Ok(body));
    }
}

/// Case.
pub async fn a_blob_that_is_not_there_is_unavailable(store: Arc<dyn Store>) {
    let (tree, other) = (tree("no blob", 0), tree("no blob", 1));
    let digest = store.put_blob(tree, b"body".to_vec()).await.unwrap();
    for (tree, digest) in [(tree, Digest::of(b"another")), (other, digest)] {
        let missing = store.blob(tree, digest).await;
        assert!(matches!(missing, Err(BlobError::Unavailable { .. })));
    }
}

/// Case.
pub async fn the_blobs_of_one_tree_are_deleted_together(store: Arc<dyn Store>) {
    let (tree, other) = (tree("delete blobs", 0), tree("delete blobs", 1));
    let mut digests = Vec::new();
    for body in [b"a", b"b", b"c"] {
        digests.push(store.put_blob(tree, body.to_vec()).await.unwrap());
        store.put_blob(other, body.to_vec()).await.unwrap();
    }
    store.delete_blobs(tree).await.unwrap();
    store.delete_blobs(tree).await.unwrap();
    for digest in digests {
        assert!(store.blob(tree, digest).await.is_err());
        assert!(store.blob(other, digest).await.is_ok());
    }
}

/// Case.
pub async fn a_blob_over_the_limit_is_refused(store: Arc<dyn Store>) {
    let body = vec![0; BLOB_BYTES_MAX + 1];
    let refused = store.put_blob(tree("blob limit", 0), body).await;
    assert!(matches!(refused, Err(JournalError::TooLarge { .. })));
}
