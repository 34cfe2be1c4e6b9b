//! For tests, of applications and of Leasehold itself: test clock, scripted models, builders, fault points.
