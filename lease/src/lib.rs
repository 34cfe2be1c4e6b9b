//! Who may move an execution tree, and until when: the LeaseStore trait, the lease machine and backends.
