//! What no file of the repository says: placeholders, paths of one machine, hosts of registries.

use leasehold_tests::sources;

/// Words in two halves, so that this file does not hold them.
const REFUSED: [(&str, &str); 11] = [
    ("todo", "!("),
    ("unimple", "mented!("),
    ("#[ig", "nore"),
    ("/ro", "ot/"),
    ("/wo", "rk/"),
    ("/Us", "ers/"),
    ("static.cra", "tes.io"),
    ("index.cra", "tes.io"),
    ("py", "pi.org"),
    ("registry.n", "pmjs"),
    ("deb.deb", "ian.org"),
];

#[test]
fn no_file_holds_a_placeholder_a_path_of_one_machine_or_a_registrys_host() {
    let mut found = Vec::new();
    for file in sources::all().unwrap() {
        for (number, line) in file.text.lines().enumerate() {
            for (half, other) in REFUSED {
                if line.contains(&format!("{half}{other}")) {
                    found.push(format!("{}:{}: {line}", file.path, number + 1));
                }
            }
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}
