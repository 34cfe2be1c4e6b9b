//! For tests, of applications and of Leasehold itself: test clock, scripted models, builders, fault points.
//!
//! It takes the application as it is and swaps its edges: models for scripts, time and chance for a test's own, channels for
//! hands that answer. No model, key or socket is reachable. Nothing that ships imports it.

mod app;
mod clock;
mod edges;
mod ending;
mod execution;
mod fail;
mod fault;
mod hand;
mod pause;
mod people;
mod pulse;
mod ran;
mod random;
mod reading;
mod run;
mod script;
mod slice;
mod stage;
mod store;
mod timeline;
mod world;

pub use leasehold_macros::test;

pub use app::TestApp;
pub use clock::TestClock;
pub use ending::Ending;
pub use execution::Execution;
pub use fault::{FaultPoint, after_answer_of, after_effect_of, before_effect_of};
pub use pause::{Doubt, Pause};
pub use people::principal;
pub use ran::{Failed, Ran};
pub use random::SeededRandom;
pub use run::run;
pub use script::{Script, call, call_raw, fails, hangs, say, together};
pub use slice::{SLICE_CALL_ID, ToolTest, test_tool};
pub use timeline::Timeline;
