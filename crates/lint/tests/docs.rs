//! The documents say what the rules are.

use mapstack_lint::Rule;

#[test]
fn the_table_of_rules_is_that_of_the_program() {
    let rows: Vec<String> = Rule::ALL
        .iter()
        .map(|rule| format!("| `{rule}` | {} | {} |", rule.level().name(), rule.about()))
        .collect();
    let text = include_str!("../../../docs/lint.md");
    let written: Vec<&str> = text
        .lines()
        .filter(|line| line.starts_with("| `") && line.matches('|').count() == 4)
        .collect();
    assert_eq!(written, rows);
}

#[test]
fn every_rule_has_its_page() {
    let pages: Vec<String> = Rule::ALL.iter().map(|rule| rule.page()).collect();
    let text = format!(
        "# The rules of lint\n\nWhat each rule finds, why it matters, and what to do. `mapstack lint --explain RULE` prints \
         the page of one;\n[lint.md](lint.md) has the table of all.\n\n{}",
        pages.join("\n")
    );
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/lint-rules.md");
    if std::env::var_os("SNAPSHOTS").is_some_and(|how| how == "overwrite") {
        std::fs::write(path, text).unwrap();
        return;
    }
    assert!(
        std::fs::read_to_string(path).unwrap() == text,
        "SNAPSHOTS=overwrite writes docs/lint-rules.md"
    );
}

#[test]
fn examples_are_of_the_language_that_they_show() {
    for rule in Rule::ALL {
        assert!(
            rule.why().ends_with('.') && rule.cure().ends_with('.'),
            "{rule}"
        );
        assert!(!rule.example().trim().is_empty(), "{rule}");
    }
}
