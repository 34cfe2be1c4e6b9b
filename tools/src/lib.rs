//! What an agent may call: names, schemas, arguments, results, result limits.
