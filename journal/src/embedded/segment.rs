//! Segment files: zero-filled before use, so that a write needs no change of the file system's own records to be durable.
//!
//! - SEG-1: a segment is whole on the disk, name included, before the first record is written to it.
//!
//! A store's identity stands in the file `STORE` and in the first page of each segment: product 16 bytes, major and minor
//! version `u16`, store id 16 bytes, bytes of a segment `u64`, number of the segment `u64` (0 in `STORE`), CRC-32 of all this.
//! The place of product and version never changes, whatever the version. Positions in the log count through all segments:
//! number of the segment times its size, plus the place in the file.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use super::config::StoreOpenError;

/// Bytes before a segment's first record: one page.
pub(super) const FIRST_OFFSET: u64 = 4_096;
/// The version that is written, and the newest major that is read.
pub(super) const VERSION: (u16, u16) = (1, 0);

const PRODUCT: &[u8; 16] = b"leasehold.store\n";
const IDENTITY_BYTES: usize = 56;
const FILL_BYTES: usize = 1_024 * 1_024;
/// After so many pieces of zeros they are synced, so that no long queue of them delays the appends.
const FILLS_A_SYNC: u64 = 4;

/// What a store is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Identity {
    pub(super) store: u128,
    pub(super) segment_bytes: u64,
}

/// Why bytes name no store that can be opened.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum IdentityError {
    OtherProduct,
    Newer(u16, u16),
    Damaged,
}

impl Identity {
    fn write(self, number: u64) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(IDENTITY_BYTES + 4);
        bytes.extend_from_slice(PRODUCT);
        bytes.extend_from_slice(&VERSION.0.to_be_bytes());
        bytes.extend_from_slice(&VERSION.1.to_be_bytes());
        bytes.extend_from_slice(&[0; 4]);
        bytes.extend_from_slice(&self.store.to_be_bytes());
        bytes.extend_from_slice(&self.segment_bytes.to_be_bytes());
        bytes.extend_from_slice(&number.to_be_bytes());
        let checksum = crc32fast::hash(&bytes);
        bytes.extend_from_slice(&checksum.to_be_bytes());
        bytes
    }

    pub(super) fn read(bytes: &[u8]) -> Result<Self, IdentityError> {
        if !bytes.starts_with(PRODUCT) {
            return Err(IdentityError::OtherProduct);
        }
        let damaged = IdentityError::Damaged;
        let fields = bytes.get(..IDENTITY_BYTES).ok_or(IdentityError::Damaged)?;
        let u16_at = |at: usize| u16::from_be_bytes([fields[at], fields[at + 1]]);
        let (major, minor) = (u16_at(16), u16_at(18));
        if major > VERSION.0 {
            return Err(IdentityError::Newer(major, minor));
        }
        let checksum = bytes.get(IDENTITY_BYTES..IDENTITY_BYTES + 4);
        if checksum != Some(&crc32fast::hash(fields).to_be_bytes()) {
            return Err(damaged);
        }
        let number = |range: std::ops::Range<usize>| {
            fields[range]
                .iter()
                .fold(0_u128, |value, byte| (value << 8) | u128::from(*byte))
        };
        Ok(Self {
            store: number(24..40),
            segment_bytes: u64::try_from(number(40..48)).map_err(|_| damaged)?,
        })
    }

    /// Finds out what the store in `directory` is; `None` where there is none.
    pub(super) fn find(directory: &Path) -> Result<Option<Self>, StoreOpenError> {
        let own = read_start(&directory.join("STORE"))?;
        let own = own.map(|bytes| Self::read(&bytes));
        if let Some(Ok(identity)) = own {
            return Ok(Some(identity));
        }
        for number in segment_numbers(directory)? {
            let start = read_start(&directory.join(segment_name(number)))?;
            if let Some(Ok(identity)) = start.map(|bytes| Self::read(&bytes)) {
                return Ok(Some(identity));
            }
        }
        match own {
            Some(Err(IdentityError::Newer(major, minor))) => Err(StoreOpenError::NewerVersion {
                major,
                minor,
                supported: VERSION.0,
            }),
            Some(Err(IdentityError::Damaged)) => Err(StoreOpenError::Damaged(
                "neither STORE nor any segment says what it is".to_owned(),
            )),
            Some(Err(IdentityError::OtherProduct)) => {
                Err(StoreOpenError::OtherProduct(directory.to_owned()))
            }
            Some(Ok(_)) | None => Self::none_in(directory),
        }
    }

    fn none_in(directory: &Path) -> Result<Option<Self>, StoreOpenError> {
        let what = || format!("list {}", directory.display());
        for entry in std::fs::read_dir(directory).map_err(super::config::io(what()))? {
            let name = entry.map_err(super::config::io(what()))?.file_name();
            // A mount point of its own has `lost+found`.
            let is_ours = name == "lock" || name == "lost+found" || is_unfinished(&name);
            if !is_ours {
                return Err(StoreOpenError::OtherProduct(directory.to_owned()));
            }
        }
        Ok(None)
    }

    /// Writes the file `STORE`.
    pub(super) fn save(self, directory: &Path) -> io::Result<()> {
        replace_file(directory, "STORE", &self.write(0))
    }
}

fn is_unfinished(name: &std::ffi::OsStr) -> bool {
    Path::new(name).extension().is_some_and(|end| end == "new")
}

fn read_start(path: &Path) -> Result<Option<Vec<u8>>, StoreOpenError> {
    let mut bytes = vec![0; IDENTITY_BYTES + 4];
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(super::config::io(format!("open {}", path.display()))(error)),
    };
    let read = read_up_to(&file, &mut bytes, 0)
        .map_err(super::config::io(format!("read {}", path.display())))?;
    bytes.truncate(read);
    Ok(Some(bytes))
}

/// Reads until the buffer is full or the file ends, and says how much.
pub(super) fn read_up_to(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match file.read_at(&mut buffer[filled..], offset + filled as u64) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// Writes a file whole or not at all: under another name first, synced, then renamed, then the directory synced.
pub(super) fn replace_file(directory: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    let unfinished = directory.join(format!("{name}.new"));
    let file = create(&unfinished)?;
    file.write_all_at(bytes, 0)?;
    file.sync_all()?;
    std::fs::rename(&unfinished, directory.join(name))?;
    sync_directory(directory)
}

fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path)
}

pub(super) fn sync_directory(directory: &Path) -> io::Result<()> {
    File::open(directory)?.sync_all()
}

pub(super) fn segment_name(number: u64) -> String {
    format!("segment-{number:010}.log")
}

/// The numbers of the segments that are there, in order.
pub(super) fn segment_numbers(directory: &Path) -> Result<Vec<u64>, StoreOpenError> {
    let what = || format!("list {}", directory.display());
    let mut numbers = Vec::new();
    for entry in std::fs::read_dir(directory).map_err(super::config::io(what()))? {
        let name = entry.map_err(super::config::io(what()))?.file_name();
        let number: Option<u64> = name
            .to_str()
            .and_then(|name| name.strip_prefix("segment-")?.strip_suffix(".log"))
            .and_then(|number| number.parse().ok());
        numbers.extend(number);
    }
    numbers.sort_unstable();
    Ok(numbers)
}

/// Makes segment `number`. An unfinished one is removed again.
pub(super) fn make_segment(directory: &Path, identity: Identity, number: u64) -> io::Result<File> {
    let name = segment_name(number);
    let unfinished = directory.join(format!("{name}.new"));
    fill(&unfinished, identity, number)
        .and_then(|file| {
            std::fs::rename(&unfinished, directory.join(name))?;
            sync_directory(directory)?;
            Ok(file)
        })
        .inspect_err(|_| {
            // What is left is overwritten or removed the next time; the first error is the one to tell.
            drop(std::fs::remove_file(&unfinished));
        })
}

fn fill(path: &Path, identity: Identity, number: u64) -> io::Result<File> {
    let file = create(path)?;
    zero(&file, 0, identity.segment_bytes)?;
    file.write_all_at(&identity.write(number), 0)?;
    file.sync_all()?;
    Ok(file)
}

/// Overwrites a part of a file with zeros. Not synced to the end.
pub(super) fn zero(file: &File, from: u64, to: u64) -> io::Result<()> {
    let zeros = vec![0; FILL_BYTES];
    let mut at = from;
    for count in 1_u64.. {
        if at >= to {
            break;
        }
        let piece = usize::try_from(to - at).map_or(FILL_BYTES, |left| left.min(FILL_BYTES));
        file.write_all_at(&zeros[..piece], at)?;
        at += piece as u64;
        if count.is_multiple_of(FILLS_A_SYNC) {
            file.sync_data()?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_reads_back_and_a_changed_byte_is_refused() {
        let identity = Identity {
            store: 9,
            segment_bytes: 1 << 20,
        };
        let bytes = identity.write(3);
        assert_eq!(Identity::read(&bytes), Ok(identity));
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            assert!(Identity::read(&changed).is_err(), "byte {at}");
            assert!(Identity::read(&bytes[..at]).is_err(), "cut at {at}");
        }
    }
}
