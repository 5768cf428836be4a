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
