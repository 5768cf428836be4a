//! The files of the formulas that are templates to Jinja with Salt's tags, and to us.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use xshell::cmd;

use super::sides::{Formula, Sides, answers, json_lines};
use super::tally::{Judgement, Tally};
use crate::Result;

pub fn compare(sides: &Sides, formulas: &[Formula]) -> Result<Tally> {
    let sh = sides.sh;
    let (mut paths, mut questions) = (Vec::new(), Vec::new());
    let mut tally = Tally::default();
    for formula in formulas {
        for path in templates(sides, &formula.root)? {
            let name = path.strip_prefix(&formula.root).unwrap_or(&path).display();
            let name = format!("{}/{name}", formula.name);
            match String::from_utf8(sh.read_binary_file(&path)?) {
                Ok(source) if is_template(&path, &source) => {
                    questions.push(json!({"op": "parse", "path": name, "source": source}));
                    paths.push(name);
                }
                Ok(_) => {}
                Err(_) => tally.add(
                    &name,
                    Judgement::NotComparable("the file is not UTF-8".into()),
                ),
            }
        }
    }
    let theirs = sides.reference(&questions)?;
    let example = cmd!(
        sh,
        "cargo run --quiet --package mapstack-render --example parse"
    )
    .quiet();
    let ours = answers(&questions, &example.stdin(json_lines(&questions)).read()?)?;
    for ((path, ours), theirs) in paths.iter().zip(&ours).zip(&theirs) {
        tally.add(path, outcome(ours, theirs));
    }
    Ok(tally)
}

/// Files that may be templates, below a folder; hidden ones and links left out.
fn templates(sides: &Sides, directory: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in sides.sh.read_dir(directory)? {
        let hidden = super::file_name(&path).starts_with('.');
        if hidden || path.is_symlink() {
            continue;
        }
        if path.is_dir() {
            files.extend(templates(sides, &path)?);
        } else if matches!(extension(&path), Some("jinja" | "j2" | "sls" | "yaml")) {
            files.push(path);
        }
    }
    Ok(files)
}

/// YAML is a template where it has the marks of one.
fn is_template(path: &Path, source: &str) -> bool {
    extension(path) != Some("yaml") || ["{{", "{%", "{#"].iter().any(|mark| source.contains(mark))
}

fn extension(path: &Path) -> Option<&str> {
    path.extension()?.to_str()
}

fn outcome(ours: &Value, theirs: &Value) -> Judgement {
    match (ours.get("ok"), theirs.get("ok")) {
        (Some(_), Some(_)) => Judgement::Equal,
        // Ours also says at which byte.
        (None, None)
            if ["error", "line"]
                .iter()
                .all(|k| ours.get(k) == theirs.get(k)) =>
        {
            Judgement::BothRefuse
        }
        _ => Judgement::Differs(format!("ours {ours}, theirs {theirs}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_agree_in_message_and_line() {
        let refusal = |line: u32| json!({"error": "no", "line": line});
        assert_eq!(outcome(&refusal(1), &refusal(1)), Judgement::BothRefuse);
        let mut placed = refusal(1);
        placed["start"] = 7.into();
        assert_eq!(outcome(&placed, &refusal(1)), Judgement::BothRefuse);
        for (ours, theirs) in [
            (refusal(1), refusal(2)),
            (refusal(1), json!({"ok": true})),
            (json!({"ok": true}), refusal(1)),
        ] {
            assert!(
                matches!(outcome(&ours, &theirs), Judgement::Differs(_)),
                "{ours} {theirs}"
            );
        }
    }

    #[test]
    fn yaml_without_marks_is_not_a_template() {
        assert!(!is_template(Path::new("a.yaml"), "a: {b: 1}"));
        assert!(is_template(Path::new("a.yaml"), "a: {{ b }}"));
        assert!(is_template(Path::new("a.sls"), "a: 1"));
    }
}
