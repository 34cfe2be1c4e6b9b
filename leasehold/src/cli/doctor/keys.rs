//! Whether the environment holds what models and tools need. Names alone: DOCTOR-2.

use super::Finding;

/// A variable that something needs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::cli) struct Key {
    /// Its name.
    pub(in crate::cli) name: String,
    /// What needs it.
    pub(in crate::cli) needed_by: String,
    /// Whether it is set, and not empty.
    pub(in crate::cli) is_set: bool,
}

/// One finding a variable; a missing one only fails the calls that need it.
pub(in crate::cli) fn keys(keys: &[Key]) -> Vec<Finding> {
    if keys.is_empty() {
        return vec![Finding::ok("keys", "no model and no tool needs one")];
    }
    let finding = |key: &Key| {
        let Key {
            name, needed_by, ..
        } = key;
        if key.is_set {
            return Finding::ok("keys", format!("{name} is set, for {needed_by}"));
        }
        Finding::warning(
            "keys",
            "[doctor.key-missing]",
            format!("{name} is not set; {needed_by} needs it"),
            "set it in the environment of the instance; what needs it fails until then",
        )
    };
    keys.iter().map(finding).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    // RELIABILITY PR18
    #[test]
    fn a_key_is_named_and_its_value_is_not() {
        let key = |is_set| Key {
            name: "STRIPE_KEY".to_owned(),
            needed_by: "refund-card-tool".to_owned(),
            is_set,
        };
        let told = keys(&[key(true), key(false)]);
        assert_eq!(told[0].found, "STRIPE_KEY is set, for refund-card-tool");
        assert_eq!(told[1].code, Some("[doctor.key-missing]"));
        assert_eq!(keys(&[]).len(), 1);
    }
}
