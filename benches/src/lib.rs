//! Whole-system benchmarks.
