//! The Python packages have the version of the workspace and require each other in this version.

/// The lines of a `pyproject.toml` with another version, of the package itself or of one that it requires.
pub fn check(file: &str, text: &str, version: &str) -> Vec<String> {
    let mut problems = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let own = line
            .strip_prefix("version = \"")
            .and_then(|rest| rest.strip_suffix('"'));
        let asked = line
            .split('"')
            .filter(|part| part.starts_with("mapstack"))
            .filter_map(|part| Some(part.split_once("==")?.1));
        for other in own
            .into_iter()
            .chain(asked)
            .filter(|other| *other != version)
        {
            problems.push(format!(
                "{file}:{}: the version {other} is not that of the workspace, {version}",
                number + 1
            ));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_version_of_ours_is_that_of_the_workspace() {
        let text = "version = \"1.2.3\"\ndependencies = [\"mapstack-x==1.2.3\", \"salt>=3006\", \"other==9\"]\n";
        assert_eq!(check("p", text, "1.2.3"), [""; 0]);
        assert_eq!(
            check("p", text, "1.2.4"),
            [
                "p:1: the version 1.2.3 is not that of the workspace, 1.2.4",
                "p:2: the version 1.2.3 is not that of the workspace, 1.2.4",
            ]
        );
    }
}
