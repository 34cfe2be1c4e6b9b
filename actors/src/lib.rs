//! The shells that run: node, tree, execution and call actors, supervisors.
