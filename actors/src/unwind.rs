//! A build check: panics unwind, so that one tool's panic is one call's error and a supervisor goes on.
//!
//! Nothing is declared here. An application whose profile makes panics abort does not compile.

#[cfg(panic = "abort")]
compile_error!(
    "[build.panics-abort] a panic must end one call, not the process: remove `panic = \"abort\"` from the build profile"
);
