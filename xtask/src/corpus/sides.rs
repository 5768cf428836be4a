//! The two sides of a comparison, and their answers.

use std::path::{Path, PathBuf};

use serde_json::Value;
use xshell::{Shell, cmd};

use crate::Result;

/// A checkout.
pub struct Formula {
    pub name: String,
    pub root: PathBuf,
}

/// The two sides of every comparison.
pub struct Sides<'a> {
    pub sh: &'a Shell,
    pub python: PathBuf,
    pub minions: Vec<PathBuf>,
    /// The command; nothing where only the reference is asked.
    pub mapstack: Option<PathBuf>,
    pub answers: Option<PathBuf>,
}

impl Sides<'_> {
    /// The reference's answers, one to each question, by one process.
    pub fn reference(&self, questions: &[Value]) -> Result<Vec<Value>> {
        let (sh, python) = (self.sh, &self.python);
        let script = cmd!(sh, "{python} xtask/reference/corpus.py")
            .quiet()
            .ignore_stderr();
        answers(questions, &script.stdin(json_lines(questions)).read()?)
    }
}

/// The one answer that a list of questions of length one gets, per question.
pub fn lists(answers: Vec<Value>) -> Vec<Vec<Value>> {
    answers
        .into_iter()
        .map(|mut answer| {
            answer["ok"]
                .as_array_mut()
                .map(std::mem::take)
                .unwrap_or_default()
        })
        .collect()
}

pub fn json_lines(questions: &[Value]) -> String {
    questions
        .iter()
        .map(|question| format!("{question}\n"))
        .collect()
}

/// One answer a line.
pub fn answers(questions: &[Value], printed: &str) -> Result<Vec<Value>> {
    let answers: Vec<Value> = printed
        .lines()
        .map(serde_json::from_str)
        .collect::<std::result::Result<_, _>>()?;
    if answers.len() == questions.len() {
        return Ok(answers);
    }
    Err(format!("{} questions, {} answers", questions.len(), answers.len()).into())
}

/// The name of a minion's file, which names it in reports.
pub fn stem(path: &Path) -> String {
    path.file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_question_needs_its_answer() {
        let questions = [json!({"op": "parse"}), json!({"op": "parse"})];
        assert_eq!(
            answers(&questions, "{\"ok\":1}\n{\"ok\":2}\n").unwrap()[1],
            json!({"ok": 2})
        );
        assert_eq!(
            answers(&questions, "{}\n").unwrap_err().to_string(),
            "2 questions, 1 answers"
        );
        assert_eq!(
            lists(vec![json!({"ok": [1, 2]}), json!({"error": "no"})]),
            [vec![json!(1), json!(2)], vec![]]
        );
    }
}
