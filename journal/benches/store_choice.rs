//! Which store keeps the frames: redb, fjall, or the segment log, against what the disk can do.
fn main() {}
