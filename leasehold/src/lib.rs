//! Runs AI agents the way a bank runs payments.
