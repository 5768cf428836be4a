//! Evaluates a definition over facts of one's own.

use std::collections::HashMap;

use mapstack_matcher::{Definition, MatcherKind};

fn paths(definition: &str) -> Result<Option<Vec<String>>, Box<dyn std::error::Error>> {
    let grains = HashMap::from([("os_family", vec!["Debian"]), ("roles", vec!["web", "db"])]);
    let definition: Definition = definition.parse()?;
    Ok(definition.paths(|matcher| match matcher.kind() {
        MatcherKind::Grains => Some(
            grains
                .get(matcher.query())?
                .iter()
                .map(|&v| v.into())
                .collect(),
        ),
        _ => None,
    })?)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let definition = std::env::args()
        .nth(1)
        .unwrap_or("Y!G@os_family|G@roles".into());
    println!("{:#?}", paths(&definition)?);
    Ok(())
}

#[test]
fn a_chain_leads_to_the_paths_of_all_combinations() {
    assert_eq!(
        paths("Y!G@os_family|G@roles").unwrap().unwrap(),
        ["os_family/Debian/roles/web", "os_family/Debian/roles/db"]
    );
    assert_eq!(paths("Y!G@os").unwrap(), None);
    assert!(paths("X@os").is_err());
}
