//! How messages travel between instances: subjects, the Bus trait and backends.
