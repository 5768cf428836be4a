//! Prints a file of the first root that has it.

use mapstack_loader::{Roots, SaltPath, read};

fn content(roots: &[String], path: &str) -> Result<String, Box<dyn std::error::Error>> {
    let bytes = read(&Roots::of(roots)?, &SaltPath::parse(path)?)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments
        .next()
        .ok_or("usage: two_roots salt://PATH ROOT...")?;
    print!("{}", content(&arguments.collect::<Vec<_>>(), &path)?);
    Ok(())
}

#[test]
fn the_first_root_wins_and_what_is_missing_is_named() {
    let roots = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let given: Vec<String> = roots
        .iter()
        .map(|root| root.path().display().to_string())
        .collect();
    std::fs::write(roots[1].path().join("a.yaml"), "second").unwrap();
    assert_eq!(content(&given, "salt://a.yaml").unwrap(), "second");
    std::fs::write(roots[0].path().join("a.yaml"), "first").unwrap();
    assert_eq!(content(&given, "salt://a.yaml").unwrap(), "first");
    let error = content(&given, "salt://b.yaml").unwrap_err().to_string();
    assert_eq!(error, "salt://b.yaml does not exist in saltenv base");
    let error = content(&["/nonexistent".into()], "salt://a.yaml")
        .unwrap_err()
        .to_string();
    assert_eq!(error, "/nonexistent: there is no such directory");
}
