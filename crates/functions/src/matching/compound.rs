//! Compound targets: `G@os:Debian and web* or ( L@db1,db2 and not I@role:test )`.

use mapstack_pyobject::{Obj, Result};
use mapstack_value::Value;

use super::expression::{MatchResult, Token, evaluate};
use super::nodegroup::{OPERATORS, expand};
use super::{Expected, Matcher};
use crate::OPTS_OF_FUNCTIONS;
use crate::tree_plugins::{has_tree_matcher, tree_matcher};

/// One word, taken apart (Salt: `salt.utils.minions.parse_target`).
#[derive(Debug, PartialEq, Eq)]
struct Word<'w> {
    /// The letter before the `@`.
    engine: Option<char>,
    /// The character between the letter and the `@`.
    delimiter: Option<&'w str>,
    pattern: &'w str,
}

impl<'w> Word<'w> {
    /// `[letter [delimiter] "@"] pattern`; only grains and pillar have a delimiter.
    fn parse(word: &'w str) -> Self {
        let plain = Word {
            engine: None,
            delimiter: None,
            pattern: word,
        };
        let line = word.strip_suffix('\n').unwrap_or(word);
        let Some(engine) = line.chars().next().filter(|c| "GPIJLNSERTM".contains(*c)) else {
            return plain;
        };
        if line.contains('\n') {
            return plain;
        }
        let rest = &line[1..];
        if "GPIJ".contains(engine)
            && let Some(delimiter) = rest.chars().next()
            && let (delimiter, rest) = rest.split_at(delimiter.len_utf8())
            && let Some(pattern) = rest.strip_prefix('@').filter(|pattern| !pattern.is_empty())
        {
            return Word {
                engine: Some(engine),
                delimiter: Some(delimiter),
                pattern,
            };
        }
        match rest.strip_prefix('@').filter(|pattern| !pattern.is_empty()) {
            Some(pattern) => Word {
                engine: Some(engine),
                delimiter: None,
                pattern,
            },
            None => plain,
        }
    }
}

impl Matcher<'_, '_> {
    /// True if the minion is in a compound target; `Err` is what makes the reference's matcher
    /// raise, and a malformed target is a warning and false.
    pub(super) fn compound(&self, target: &Value) -> Result<Obj> {
        let words: Vec<String> = match target {
            Value::Str(text) => text.split_whitespace().map(Into::into).collect(),
            Value::List(items) => match items
                .iter()
                .map(|item| item.as_str().map(Into::into))
                .collect()
            {
                Some(words) => words,
                None => return Ok(self.malformed(target, "its words must be text")),
            },
            _ => return Ok(self.malformed(target, "it must be text, or a list of words")),
        };
        match self.tokens(words)? {
            Ok(tokens) => Ok(evaluate(&tokens).map_or_else(
                || {
                    self.malformed(
                        target,
                        "write it as `a and b`, `a or not b`, `( a or b ) and c`, with spaces",
                    )
                },
                Obj::from,
            )),
            Err(problem) => Ok(self.malformed(target, &problem)),
        }
    }

    /// The words with their results; the inner error is what is wrong with the target.
    fn tokens(&self, words: Vec<String>) -> Result<Result<Vec<Token>, String>> {
        let mut tokens: Vec<Token> = Vec::with_capacity(words.len());
        let mut words: Vec<String> = words.into_iter().rev().collect();
        while let Some(word) = words.pop() {
            self.vm.burn(4)?;
            if OPERATORS.contains(&word.as_str()) {
                if let Err(problem) = operate(&word, &mut tokens) {
                    return Ok(Err(problem));
                }
                continue;
            }
            let parsed = Word::parse(&word);
            if parsed.engine == Some('N') {
                let groups = self.run.option("nodegroups");
                let Some(group) = groups
                    .as_map()
                    .and_then(|groups| expand(parsed.pattern, groups).ok())
                else {
                    return Ok(Err(format!(
                        "the nodegroup '{}' is not a target",
                        parsed.pattern
                    )));
                };
                if words.len() + group.len() > MAX_WORDS {
                    return Ok(Err("its nodegroups expand to too many words".into()));
                }
                self.vm.burn(group.len())?;
                words.extend(group.into_iter().rev());
                continue;
            }
            match self.engine(&parsed, &word)? {
                Some(answer) => tokens.push(Token::Is(answer)),
                None => return Ok(Err(format!("'{word}' names an unknown engine"))),
            }
        }
        Ok(Ok(tokens))
    }

    fn engine(&self, word: &Word<'_>, whole: &str) -> Result<Option<MatchResult>> {
        let delimiter = word.delimiter.unwrap_or(":");
        let bool = |answer: bool| Some(MatchResult::Bool(answer));
        let pattern = word.pattern;
        if let Some(is_match) = self.of_tree(word, whole)? {
            return Ok(bool(is_match));
        }
        Ok(match word.engine {
            None => bool(self.glob(whole)),
            Some('G') => bool(self.grain(pattern, delimiter, Expected::Glob)?),
            Some('P') => bool(self.grain(pattern, delimiter, Expected::Regex)?),
            Some('I') => bool(self.pillar(pattern, delimiter, Expected::Glob)?),
            Some('J') => bool(self.pillar(pattern, delimiter, Expected::Regex)?),
            Some('L') => bool(self.list(&pattern.into())),
            Some('E') => bool(self.pcre(pattern)?),
            Some('S') => Some(
                self.ipcidr(&Obj::from(pattern))?
                    .map_or(MatchResult::EmptyList, MatchResult::Bool),
            ),
            // Without such targets, the word is the name of a minion.
            Some('T' | 'M') if !self.has_resources() => bool(self.glob(whole)),
            Some('T') => bool(self.resource(pattern)),
            Some('M') => bool(*self.id == *pattern),
            Some(_) => None,
        })
    }

    /// The answer of the tree's matcher for a word, if it has one.
    fn of_tree(&self, word: &Word<'_>, whole: &str) -> Result<Option<bool>> {
        let name = match word.engine {
            None => "glob",
            Some('G') => "grain",
            Some('P') => "grain_pcre",
            Some('I') => "pillar",
            Some('J') => "pillar_pcre",
            Some('L') => "list",
            Some('E') => "pcre",
            Some('S') => "ipcidr",
            Some(_) => return Ok(None),
        };
        let Some(tree) = self.tree.filter(|tree| has_tree_matcher(*tree, name)) else {
            return Ok(None);
        };
        let mut arguments = vec![Value::from(match word.engine {
            None => whole,
            Some(_) => word.pattern,
        })];
        if matches!(word.engine, Some('G' | 'P' | 'I' | 'J')) {
            arguments.push(word.delimiter.unwrap_or(":").into());
        }
        let opts = tree.module_fact(OPTS_OF_FUNCTIONS)?;
        let keywords = vec![
            ("opts".into(), opts),
            ("minion_id".into(), self.id.clone().into()),
        ];
        tree_matcher(tree, self.vm, name, arguments, keywords)
    }
}

/// The most words that nodegroups which name each other expand to in one target.
const MAX_WORDS: usize = 200_000;

/// Put an operator behind what is there.
fn operate(word: &str, tokens: &mut Vec<Token>) -> Result<(), String> {
    let token = match word {
        "and" => Token::And,
        "or" => Token::Or,
        "not" => Token::Not,
        "(" => Token::Open,
        _ => Token::Close,
    };
    match (tokens.last(), token) {
        (None, Token::Open | Token::Not) => {}
        (None, _) => return Err(format!("it begins with '{word}'")),
        (Some(Token::Open), Token::And | Token::Or) => {
            return Err(format!("'{word}' is right after '('"));
        }
        // `a not b` is `a and not b`.
        (Some(before), Token::Not) if !matches!(before, Token::And | Token::Or | Token::Open) => {
            tokens.push(Token::And);
        }
        _ => {}
    }
    tokens.push(token);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_taken_apart() {
        let cases = [
            ("web*", None, None, "web*"),
            ("G@os:Debian", Some('G'), None, "os:Debian"),
            ("G|@os|Debian", Some('G'), Some("|"), "os|Debian"),
            ("G@@os", Some('G'), Some("@"), "os"),
            ("G@@", Some('G'), None, "@"),
            ("G@", None, None, "G@"),
            ("Gé@x", Some('G'), Some("é"), "x"),
            ("L|@a", None, None, "L|@a"),
            ("X@a", None, None, "X@a"),
            ("E@a@b", Some('E'), None, "a@b"),
        ];
        for (word, engine, delimiter, pattern) in cases {
            assert_eq!(
                Word::parse(word),
                Word {
                    engine,
                    delimiter,
                    pattern
                },
                "{word}"
            );
        }
    }
}
