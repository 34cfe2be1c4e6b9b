//! Membership, placement, wakes, configuration and wiring.
