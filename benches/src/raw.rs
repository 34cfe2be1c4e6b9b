//! The disk's own limit for group commit: one thread, a prepared file, one write and one fdatasync a batch. No actors, no queue.

use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Duration;

use rustix::fs::fdatasync;

use crate::machine::monotonic;

const FILE_BYTES: u64 = 32 << 20;

/// Records a second, in batches of `batch` records of `record_bytes` each.
pub(crate) fn records_per_second(
    directory: &Path,
    batch: usize,
    record_bytes: usize,
    time: Duration,
) -> anyhow::Result<f64> {
    let path = directory.join(format!("leasehold-raw-{}", std::process::id()));
    let file = OpenOptions::new()
        .create(true)
        .truncate(true)
        .read(true)
        .write(true)
        .open(&path)?;
    let zeros = vec![0_u8; 1 << 20];
    for at in (0..FILE_BYTES).step_by(zeros.len()) {
        file.write_all_at(&zeros, at)?;
    }
    file.sync_all()?;
    let bytes = vec![b'x'; batch * record_bytes];
    let (started, mut batches, mut at) = (monotonic(), 0_u32, 0_u64);
    while monotonic() - started < time {
        if at + bytes.len() as u64 > FILE_BYTES {
            at = 0;
        }
        file.write_all_at(&bytes, at)?;
        fdatasync(&file)?;
        at += bytes.len() as u64;
        batches += 1;
    }
    let elapsed = (monotonic() - started).as_secs_f64();
    std::fs::remove_file(&path)?;
    Ok(f64::from(batches) * f64::from(u32::try_from(batch)?) / elapsed)
}
