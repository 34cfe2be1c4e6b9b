//! How records are kept: the Journal, Inbox, Keys and Blobs traits, their contract suite and backends.
