//! What an agent may ask: the Model trait, providers, prices.
