//! The built-in prices: a table to be read beside the providers' public price pages. Holds no logic.

use crate::Price;

/// The day the pages were read.
pub(crate) const READ_ON: &str = "2025-12-01";

pub(crate) const BUILT_IN: &[(&str, Price)] = &[("ollama/*", Price::FREE)];
