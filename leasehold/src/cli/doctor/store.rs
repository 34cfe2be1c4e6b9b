//! Whether a store can live where it is: its directory, who holds it, the file system, the room on it, what an fsync costs.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use leasehold_types::Clock;
use rustix::fs::{StatVfsMountFlags, statfs, statvfs};

use super::Finding;
use crate::escape::grouped;

/// Free space that the store leaves alone, and that must be there at least.
const FREE_MIN: u64 = 64 * 1_024 * 1_024;
/// Free space below which an operator should know: some segments of a store.
const FREE_LOW: u64 = 512 * 1_024 * 1_024;
/// An fsync that is faster than this reached no disk. Source: the latency of flash writes is some 20 µs at best.
const FSYNC_SUSPICIOUS: Duration = Duration::from_micros(20);
/// An fsync that is slower than this makes every step wait noticeably.
const FSYNC_SLOW: Duration = Duration::from_millis(50);
/// How often an fsync is measured: enough that the median is no accident.
const FSYNC_ROUNDS: usize = 25;
/// What is written in each round: a small frame.
const FSYNC_BYTES: usize = 2_048;

/// Who has the store open, as far as that can be seen from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) enum Held {
    /// An instance that answers on its socket.
    Answers,
    /// A process that does not answer.
    Silent {
        /// Its id; 0 where nobody knows.
        pid: u32,
    },
    /// Nobody.
    Free,
}

/// Looks at the store in `directory`; `held` was found out before.
pub(in crate::cli) fn store(
    directory: &Path,
    held: Option<Held>,
    clock: &dyn Clock,
) -> Vec<Finding> {
    let mut findings = vec![place(directory)];
    findings.extend(held.map(holder));
    let Some(there) = nearest(directory) else {
        return findings;
    };
    findings.extend(statfs(&there).ok().and_then(|found| {
        // Magic numbers have 32 bits.
        file_system(u64::try_from(found.f_type).unwrap_or(0) & 0xffff_ffff)
    }));
    findings.push(match statvfs(&there) {
        Ok(found) if found.f_flag.contains(StatVfsMountFlags::RDONLY) => read_only(),
        Ok(found) => room(found.f_bavail.saturating_mul(found.f_frsize)),
        Err(error) => unknown(&io::Error::from(error)),
    });
    findings.push(match fsync_latency(&there, clock) {
        Ok(latency) => fsync(latency),
        Err(error) => not_writable(&error),
    });
    findings
}

fn place(directory: &Path) -> Finding {
    let shown = directory.display();
    let meta = match std::fs::symlink_metadata(directory) {
        Ok(meta) => meta,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Finding::ok(
                "store",
                format!("{shown} is not there yet; the first start makes it"),
            );
        }
        Err(error) => return unknown(&error),
    };
    if !meta.is_dir() {
        return Finding::error(
            "store",
            "[doctor.store-not-a-directory]",
            format!("{shown} is no directory"),
            "name another place for the store with --store or in the configuration",
        );
    }
    let own = rustix::process::geteuid().as_raw();
    if meta.uid() != own {
        return Finding::error(
            "store",
            "[doctor.store-wrong-owner]",
            format!("{shown} belongs to user {}, this is user {own}", meta.uid()),
            "run as its owner, or change it with chown",
        );
    }
    if meta.mode() & 0o077 != 0 {
        return Finding::warning(
            "store",
            "[doctor.store-open-to-others]",
            format!(
                "{shown} has mode {:o}: other users may look into it",
                meta.mode() & 0o777
            ),
            "chmod 700 it: prompts, results and pauses' secrets are in there",
        );
    }
    Finding::ok("store", format!("{shown} is there and its owner's alone"))
}

fn holder(held: Held) -> Finding {
    match held {
        Held::Answers => Finding::ok("lock", "an instance runs and answers on its socket"),
        Held::Free => Finding::ok("lock", "no instance runs"),
        Held::Silent { pid } => Finding::error(
            "lock",
            "[doctor.store-locked]",
            format!("process {pid} has the store open and does not answer on its socket"),
            "wait if it is starting or stopping, else look at that process",
        ),
    }
}

/// The directory itself, or the nearest above it that is there.
fn nearest(directory: &Path) -> Option<PathBuf> {
    let whole = std::path::absolute(directory).ok()?;
    whole
        .ancestors()
        .find(|above| above.is_dir())
        .map(Path::to_owned)
}

/// Magic numbers of `statfs`. Source: Linux, `include/uapi/linux/magic.h`, and `statfs(2)`.
fn file_system(magic: u64) -> Option<Finding> {
    let network = match magic {
        0x0102_1994 | 0x8584_58f6 => {
            return Some(Finding::warning(
                "disk",
                "[doctor.disk-in-memory]",
                "the store is on a file system in memory",
                "nothing there outlives the machine: keep it on a disk",
            ));
        }
        0x6969 => "NFS",
        0xff53_4d42 | 0xfe53_4d42 | 0x517b => "SMB",
        0x0102_1997 => "9P",
        0x00c3_6400 => "Ceph",
        0x794c_7630 => {
            return Some(Finding::warning(
                "disk",
                "[doctor.disk-overlay]",
                "the store is on an overlay, as in a container without a volume",
                "it is gone with the container: mount a volume for it",
            ));
        }
        _ => return None,
    };
    Some(Finding::warning(
        "disk",
        "[doctor.disk-network]",
        format!("the store is on {network}"),
        "its fsync and locks may not hold what they promise: keep it on a local disk",
    ))
}

fn room(free: u64) -> Finding {
    let found = format!("{} MB are free", grouped(free / (1_024 * 1_024)));
    if free < FREE_MIN {
        return Finding::error(
            "disk",
            "[doctor.disk-full]",
            found,
            "free some space: below 64 MB the store takes nothing more",
        );
    }
    if free < FREE_LOW {
        let way_out = "free some space before the store is full: below 64 MB it takes nothing more";
        return Finding::warning("disk", "[doctor.disk-low]", found, way_out);
    }
    Finding::ok("disk", found)
}

fn read_only() -> Finding {
    Finding::error(
        "disk",
        "[doctor.disk-read-only]",
        "the file system is mounted for reading",
        "mount it for writing",
    )
}

fn fsync(latency: Duration) -> Finding {
    let found = format!(
        "an fsync takes {} µs",
        grouped(u64::try_from(latency.as_micros()).unwrap_or(u64::MAX))
    );
    if latency < FSYNC_SUSPICIOUS {
        return Finding::warning(
            "disk",
            "[doctor.fsync-suspicious]",
            found,
            "no disk is that fast: something says that it is durable and is not; look at mount options and the hypervisor",
        );
    }
    if latency > FSYNC_SLOW {
        let way_out = "every step waits for one: use a local SSD";
        return Finding::warning("disk", "[doctor.fsync-slow]", found, way_out);
    }
    Finding::ok("disk", found)
}

fn not_writable(error: &io::Error) -> Finding {
    Finding::error(
        "disk",
        "[doctor.disk-not-writable]",
        format!("nothing can be written there: {error}"),
        "change the owner or the mode of the directory, or free some space",
    )
}

fn unknown(error: &io::Error) -> Finding {
    Finding::error(
        "store",
        "[doctor.store-unknown]",
        format!("it cannot be looked at: {error}"),
        "change the mode of the directories above it",
    )
}

/// A file that is gone when this is dropped: DOCTOR-1.
struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        let _best_effort = std::fs::remove_file(&self.0);
    }
}

/// The median time of an fsync after a small write.
fn fsync_latency(directory: &Path, clock: &dyn Clock) -> io::Result<Duration> {
    let path = directory.join(format!(".doctor.{}", std::process::id()));
    let mut file: File = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&path)?;
    let _scratch = Scratch(path);
    let mut rounds = Vec::with_capacity(FSYNC_ROUNDS);
    for _ in 0..FSYNC_ROUNDS {
        let begin = clock.uptime();
        file.write_all(&[0x5a; FSYNC_BYTES])?;
        file.sync_data()?;
        rounds.push(clock.uptime().since(begin));
    }
    rounds.sort_unstable();
    Ok(rounds.get(FSYNC_ROUNDS / 2).copied().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use leasehold_actors::SystemClock;
    use std::os::unix::fs::PermissionsExt as _;

    const MB: u64 = 1_024 * 1_024;

    #[test]
    fn what_a_disk_is_like_is_told() {
        let cases = [
            (room(63 * MB), Some("[doctor.disk-full]")),
            (room(64 * MB), Some("[doctor.disk-low]")),
            (room(512 * MB), None),
            (
                fsync(Duration::from_micros(19)),
                Some("[doctor.fsync-suspicious]"),
            ),
            (fsync(Duration::from_micros(20)), None),
            (
                fsync(Duration::from_millis(51)),
                Some("[doctor.fsync-slow]"),
            ),
            (
                holder(Held::Silent { pid: 7 }),
                Some("[doctor.store-locked]"),
            ),
            (holder(Held::Answers), None),
        ];
        for (finding, code) in cases {
            assert_eq!(finding.code, code, "{finding:?}");
        }
        let kinds = [
            (0x0102_1994, "[doctor.disk-in-memory]"),
            (0x6969, "[doctor.disk-network]"),
            (0x794c_7630, "[doctor.disk-overlay]"),
        ];
        for (magic, code) in kinds {
            assert_eq!(
                file_system(magic).and_then(|finding| finding.code),
                Some(code)
            );
        }
        assert_eq!(file_system(0xef53), None, "ext4");
    }

    #[test]
    fn a_directory_is_looked_at_and_left_as_it_was() {
        let made = tempfile::tempdir().unwrap();
        let directory = made.path().join("store");
        assert!(
            store(&directory, None, &SystemClock)
                .iter()
                .all(|finding| finding.about != "lock")
        );
        assert!(!directory.exists(), "DOCTOR-1");
        std::fs::create_dir(&directory).unwrap();
        let mode =
            |mode| std::fs::set_permissions(&directory, std::fs::Permissions::from_mode(mode));
        mode(0o755).unwrap();
        assert_eq!(
            place(&directory).code,
            Some("[doctor.store-open-to-others]")
        );
        mode(0o700).unwrap();
        assert_eq!(place(&directory).code, None);
        assert!(fsync_latency(&directory, &SystemClock).is_ok());
        assert_eq!(
            std::fs::read_dir(&directory).unwrap().count(),
            0,
            "DOCTOR-1"
        );
        let file = made.path().join("file");
        std::fs::write(&file, "x").unwrap();
        assert_eq!(place(&file).code, Some("[doctor.store-not-a-directory]"));
    }
}
