//! The rows that tests prove: the lists they come from, and which ids each list has.
//!
//! A row's text is not here: `docs/reliability.md` says which lists there are and what each is for.

/// A list of rows, named as tags name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum List {
    /// What the runtime must do.
    Contract,
    /// What broke in systems like this one.
    Case,
    /// Rules, promises, oracles and the matrix of faults.
    Reliability,
    /// What a bad input must lead to.
    BadInput,
}

/// The numbers that the list of cases has; the others were never given to a case.
const CASES: [u32; 92] = [
    1, 2, 3, 4, 5, 7, 9, 10, 12, 13, 14, 16, 17, 18, 19, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30,
    31, 32, 33, 35, 37, 38, 41, 43, 44, 45, 46, 47, 48, 49, 52, 53, 54, 55, 56, 58, 59, 61, 63, 64,
    65, 67, 68, 70, 71, 72, 75, 76, 78, 79, 80, 81, 82, 83, 85, 86, 87, 88, 90, 92, 93, 94, 97, 99,
    100, 101, 103, 105, 106, 108, 109, 113, 114, 115, 116, 118, 119, 121, 123, 124, 126, 129, 130,
];

/// Sections of the contract, and how many rows each has.
const CONTRACT: [(&str, u32); 6] = [
    ("T", 22),
    ("A", 16),
    ("S", 7),
    ("P", 14),
    ("R", 11),
    ("O", 8),
];

/// Sections of the matrix of faults, and how many rows each has.
const MATRIX: [(&str, u32); 10] = [
    ("L", 32),
    ("C", 10),
    ("JS", 22),
    ("ES", 12),
    ("NW", 11),
    ("TM", 6),
    ("AP", 18),
    ("FX", 10),
    ("U", 9),
    ("SEC", 12),
];

/// What a tag may name besides the matrix: rules, oracles and promises.
const NAMED_ONLY: [(&str, u32); 3] = [("D", 20), ("OR", 15), ("PR", 20)];

/// How many bad inputs there are.
const BAD_INPUTS: u32 = 74;

impl List {
    /// All lists.
    pub const ALL: [Self; 4] = [
        Self::Contract,
        Self::Case,
        Self::Reliability,
        Self::BadInput,
    ];

    /// The word a tag begins with.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Contract => "CONTRACT",
            Self::Case => "CASE",
            Self::Reliability => "RELIABILITY",
            Self::BadInput => "BAD INPUT",
        }
    }

    /// The rows that must be tested, or said why not, in the list's order.
    #[must_use]
    pub fn ids(self) -> Vec<String> {
        match self {
            Self::Contract => sections(&CONTRACT),
            Self::Case => CASES.iter().map(ToString::to_string).collect(),
            Self::Reliability => sections(&MATRIX),
            Self::BadInput => (1..=BAD_INPUTS).map(|id| id.to_string()).collect(),
        }
    }

    /// Whether a tag of this list may name `id`.
    #[must_use]
    pub fn has(self, id: &str) -> bool {
        let named_only = match self {
            Self::Contract | Self::Case | Self::BadInput => Vec::new(),
            Self::Reliability => sections(&NAMED_ONLY),
        };
        self.ids()
            .iter()
            .chain(&named_only)
            .any(|known| known == id)
    }

    /// The ids that `text` names: `C2`, or `JS1–JS22` for all from one to the other.
    #[must_use]
    pub fn expand(self, text: &str) -> Vec<String> {
        let Some((first, last)) = text.split_once('–') else {
            return vec![text.to_owned()];
        };
        let ids = self.ids();
        let place = |id: &str| ids.iter().position(|known| known == id);
        match (place(first), place(last)) {
            (Some(first), Some(last)) if first < last => ids[first..=last].to_vec(),
            (_, _) => vec![text.to_owned()],
        }
    }
}

fn sections(sections: &[(&str, u32)]) -> Vec<String> {
    sections
        .iter()
        .flat_map(|(section, last)| (1..=*last).map(move |row| format!("{section}{row}")))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::List;

    #[test]
    fn a_range_stands_for_all_rows_of_its_list_between_its_ends() {
        assert_eq!(List::Case.expand("4–9"), ["4", "5", "7", "9"]);
        assert_eq!(
            List::Reliability.expand("ES11–NW1"),
            ["ES11", "ES12", "NW1"]
        );
        assert_eq!(List::Contract.expand("T7"), ["T7"]);
        assert_eq!(List::Contract.expand("T9–T7"), ["T9–T7"]);
    }

    #[test]
    fn a_list_has_its_own_rows_only() {
        assert!(List::Contract.has("O8") && !List::Contract.has("O9"));
        assert!(List::Case.has("130") && !List::Case.has("6"));
        assert!(List::Reliability.has("OR14") && !List::Reliability.has("T1"));
        assert!(List::BadInput.has("74") && !List::BadInput.has("75"));
    }
}
