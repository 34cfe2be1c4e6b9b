//! What an execution is: records, the pure machine that folds them and says what comes next.
