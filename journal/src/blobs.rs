//! The `Blobs` trait: bodies too large for a frame, by tree and hash.

use leasehold_types::{BoxFuture, Digest, TreeId};

use crate::JournalError;

/// The most bytes of one blob: 64 MiB, what one result may hold in memory twice without hurting its neighbours.
pub const BLOB_BYTES_MAX: usize = 64 * 1_024 * 1_024;

/// Why a blob cannot be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BlobError {
    /// It is not there, or what is there has another hash.
    #[error("[journal.payload-unavailable] PayloadUnavailable: tree {tree}, blob {digest}: {why}")]
    Unavailable {
        /// The tree it belongs to.
        tree: TreeId,
        /// Its hash.
        digest: Digest,
        /// Missing, or altered.
        why: &'static str,
    },
    /// The store cannot do it.
    #[error(transparent)]
    Store(#[from] JournalError),
}

/// Bodies by tree and hash: durable before the frame that names them, deleted with the tree.
pub trait Blobs: Send + Sync + std::fmt::Debug {
    /// Stores a body, at most [`BLOB_BYTES_MAX`], and returns its hash. Durable before `Ok`; storing it twice is storing it once.
    fn put_blob(&self, tree: TreeId, body: Vec<u8>) -> BoxFuture<'_, Result<Digest, JournalError>>;

    /// Reads a body and checks its hash.
    fn blob(&self, tree: TreeId, digest: Digest) -> BoxFuture<'_, Result<Vec<u8>, BlobError>>;

    /// Deletes all bodies of a tree.
    fn delete_blobs(&self, tree: TreeId) -> BoxFuture<'_, Result<(), JournalError>>;
}

/// What a backend found, held against the hash it was asked for.
pub(crate) fn checked(
    tree: TreeId,
    digest: Digest,
    found: Option<Vec<u8>>,
) -> Result<Vec<u8>, BlobError> {
    let why = match found {
        Some(body) if Digest::of(&body) == digest => return Ok(body),
        Some(_) => "its bytes have another hash",
        None => "it is not in the store",
    };
    Err(BlobError::Unavailable { tree, digest, why })
}
