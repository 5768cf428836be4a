//! Inventory queries such as `$[ exports:port if exports:role == web ]`: what they ask of the exports of all nodes
//! (reclass: `values.invitem`).

use mapstack_value::{Int, Key, Value};

use super::keys::split;
use super::settings::ReclassSettings;

/// A query, read.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    /// As it is written, between its sentinels.
    pub text: String,
    /// Nodes of all environments are asked, instead of those of the node's own.
    pub all_environments: bool,
    /// An export whose references lead to nothing is left out, instead of failing.
    pub ignores_errors: bool,
    /// The path of the answer in a node's exports; without it, the answer is the names of nodes.
    pub(super) value: Option<Vec<Key>>,
    /// The tests that a node has to pass: all of them, if nothing separates them.
    pub(super) tests: Vec<Test>,
    /// The operator between each test and those before it.
    pub(super) joined_by: Vec<Join>,
}

/// A comparison of an export.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Test {
    pub(super) export: Vec<Key>,
    pub(super) other: Operand,
    pub(super) is_equal: bool,
}

/// The operand that an export is compared with.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Operand {
    /// A parameter of the node that asks.
    Parameter(String),
    Literal(Value),
    /// Another export, or nothing, which reclass reads and cannot compare.
    None,
}

/// Tests count from left to right.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Join {
    And,
    Or,
}

/// A word of a query.
#[derive(Debug, Clone, PartialEq)]
enum Word {
    Text(String),
    Number(Value),
}

impl Query {
    /// Read the text between the sentinels.
    ///
    /// # Errors
    /// It is not a query, or a test compares no export.
    pub fn read(text: &str, settings: &ReclassSettings) -> Result<Self, String> {
        let mut words = Words(text);
        let (mut ignores_errors, mut all_environments) = (false, false);
        loop {
            if words.take_caseless("+IgnoreErrors") {
                ignores_errors = true;
            } else if words.take_caseless("+AllEnvs") {
                all_environments = true;
            } else {
                break;
            }
        }
        let Some((value, comparisons)) = words.expression() else {
            return Err(format!(
                "`{}` is not an inventory query; write `exports:a`, `exports:a if exports:b == c` or `if exports:b == c`",
                text.trim()
            ));
        };
        let mut query = Query {
            text: text.into(),
            all_environments,
            ignores_errors,
            // The first part of the path is `exports`, whatever it says.
            value: value.map(|path| split(&path, &settings.delimiter).split_off(1)),
            tests: Vec::new(),
            joined_by: Vec::new(),
        };
        for (join, comparison) in comparisons {
            query.joined_by.extend(join);
            query.tests.push(comparison.test(settings)?);
        }
        Ok(query)
    }

    /// The parameters of the node that asks, as names of references.
    pub fn references(&self) -> impl Iterator<Item = &str> {
        self.tests.iter().filter_map(|test| match &test.other {
            Operand::Parameter(name) => Some(&**name),
            Operand::Literal(_) | Operand::None => None,
        })
    }

    /// The exports that the query looks at.
    pub fn exports(&self) -> impl Iterator<Item = &[Key]> {
        let tested = self.tests.iter().map(|test| &*test.export);
        tested.chain(self.value.as_deref())
    }

    /// The number of comparisons that a node costs.
    pub fn tests(&self) -> usize {
        1 + self.tests.len()
    }
}

/// Two words and the sign between them.
struct Comparison {
    sides: [Word; 2],
    is_equal: bool,
}

impl Comparison {
    fn test(self, settings: &ReclassSettings) -> Result<Test, String> {
        let (mut export, mut parameter, mut literal) = (None, None, None);
        for side in self.sides {
            let text = match side {
                Word::Text(text) => text,
                Word::Number(number) => {
                    literal = Some(number);
                    continue;
                }
            };
            let path = split(&text, &settings.delimiter);
            let (first, rest) = path
                .split_first()
                .map_or((String::new(), &[][..]), |(first, rest)| {
                    (first.to_string().to_lowercase(), rest)
                });
            match &*first {
                "exports" => export = Some(rest.to_vec()),
                "self" => {
                    let rest: Vec<String> = rest.iter().map(ToString::to_string).collect();
                    parameter = Some(rest.join(&settings.delimiter));
                }
                "true" => literal = Some(true.into()),
                "false" => literal = Some(false.into()),
                _ => literal = Some(text.into()),
            }
        }
        Ok(Test {
            export: export.ok_or(
                "a test of an inventory query compares no export; one side must be `exports:…`",
            )?,
            other: parameter
                .map(Operand::Parameter)
                .or(literal.map(Operand::Literal))
                .unwrap_or(Operand::None),
            is_equal: self.is_equal,
        })
    }
}

/// Comparisons, each with what joins it to those before it.
type Comparisons = Vec<(Option<Join>, Comparison)>;

/// The rest of a query's text.
#[derive(Clone, Copy)]
struct Words<'t>(&'t str);

impl Words<'_> {
    /// `expression = word "if" tests | word | "if" tests`
    fn expression(self) -> Option<(Option<String>, Comparisons)> {
        let mut after_word = self;
        let word = after_word.word();
        if let Some(word) = word {
            let mut rest = after_word;
            if let Some(tests) = rest.condition() {
                return Some((Some(word), tests));
            }
            if after_word.is_at_end() {
                return Some((Some(word), Vec::new()));
            }
        }
        let mut rest = self;
        rest.condition().map(|tests| (None, tests))
    }

    /// `condition = "if" test (("and" | "or") test)* end`
    fn condition(&mut self) -> Option<Comparisons> {
        if !self.take_caseless("if") {
            return None;
        }
        let mut tests = vec![(None, self.comparison()?)];
        while !self.is_at_end() {
            let join = if self.take_caseless("and") {
                Join::And
            } else if self.take_caseless("or") {
                Join::Or
            } else {
                return None;
            };
            tests.push((Some(join), self.comparison()?));
        }
        Some(tests)
    }

    /// `test = operand ("==" | "!=") operand`
    fn comparison(&mut self) -> Option<Comparison> {
        let left = self.operand()?;
        let is_equal = match () {
            () if self.take("==") => true,
            () if self.take("!=") => false,
            () => return None,
        };
        Some(Comparison {
            sides: [left, self.operand()?],
            is_equal,
        })
    }

    /// A number, or else a word.
    fn operand(&mut self) -> Option<Word> {
        self.skip_blanks();
        match number(self.0) {
            Some((value, length)) => {
                self.0 = &self.0[length..];
                Some(Word::Number(value))
            }
            None => self.word().map(Word::Text),
        }
    }

    /// Characters of ASCII up to a blank.
    fn word(&mut self) -> Option<String> {
        self.skip_blanks();
        let end = self
            .0
            .find(|c: char| !c.is_ascii_graphic())
            .unwrap_or(self.0.len());
        let (word, rest) = self.0.split_at(end);
        self.0 = rest;
        (!word.is_empty()).then(|| word.into())
    }

    fn take(&mut self, sign: &str) -> bool {
        self.skip_blanks();
        let rest = self.0.strip_prefix(sign);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    /// Nothing has to separate it from what follows.
    fn take_caseless(&mut self, sign: &str) -> bool {
        self.skip_blanks();
        let found = self
            .0
            .get(..sign.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(sign));
        if found {
            self.0 = &self.0[sign.len()..];
        }
        found
    }

    fn is_at_end(&mut self) -> bool {
        self.skip_blanks();
        self.0.is_empty()
    }

    fn skip_blanks(&mut self) {
        self.0 = self.0.trim_start_matches([' ', '\n', '\t', '\r']);
    }
}

/// The number at the start of a text, and how long it is. Only an integer has to end there.
fn number(text: &str) -> Option<(Value, usize)> {
    let digits = |from: usize| text[from..].bytes().take_while(u8::is_ascii_digit).count();
    let sign = usize::from(text.starts_with('-'));
    let whole = digits(sign);
    let end = sign + whole;
    let next = text[end..].chars().next();
    if whole > 0 && !next.is_some_and(|c| c.is_ascii_graphic()) {
        return Some((text[..end].parse::<Int>().ok()?.into(), end));
    }
    if next != Some('.') {
        return None;
    }
    let fraction = digits(end + 1);
    let end = end + 1 + fraction;
    (whole + fraction > 0).then(|| {
        text[..end]
            .parse::<f64>()
            .ok()
            .map(|number| (number.into(), end))
    })?
}

#[cfg(test)]
mod tests {
    use mapstack_value::Map;

    use super::super::keys::shown_path;
    use super::*;

    fn read(text: &str) -> Result<String, String> {
        let query = Query::read(text, &ReclassSettings::new(&Map::new())?)?;
        let operand = |operand: &Operand| match operand {
            Operand::Parameter(name) => format!("self:{name}"),
            Operand::Literal(value) => value.repr(),
            Operand::None => "nothing".into(),
        };
        let test = |test: &Test| {
            let sign = if test.is_equal { "==" } else { "!=" };
            format!(
                "{} {sign} {}",
                shown_path(&test.export),
                operand(&test.other)
            )
        };
        let parts = [
            query.ignores_errors.then(|| "ignores".to_owned()),
            query.all_environments.then(|| "all".to_owned()),
            query
                .value
                .as_deref()
                .map(|path| format!("<{}>", shown_path(path))),
        ];
        let tests = query.tests.iter().map(test);
        let joined_by = query.joined_by.iter().map(|join| format!("{join:?}"));
        let parts = parts.into_iter().flatten().chain(tests).chain(joined_by);
        Ok(parts.collect::<Vec<_>>().join(", "))
    }

    /// Queries with what reclass 2.0 reads in them.
    const READ: &[(&str, &str)] = &[
        ("exports:a", "<a>"),
        (" exports:a:b ", "<a:b>"),
        ("a:b", "<b>"),
        ("exports", "<>"),
        ("+AllEnvs exports:a", "all, <a>"),
        ("+allenvs+IgnoreErrorsexports:a", "ignores, all, <a>"),
        ("exports:a if exports:b == 5", "<a>, b == 5"),
        ("exports:a IF exports:b ==5abc", "<a>, b == '5abc'"),
        (
            "if exports:b == 1.5 and self:x:y != exports:c",
            "b == 1.5, c != self:x:y, And",
        ),
        (
            "if exports:a == .5 OR exports:a == 5.",
            "a == 0.5, a == 5.0, Or",
        ),
        (
            "if exports:a == -3 or exports:a != 007",
            "a == -3, a != 7, Or",
        ),
        (
            "if exports:a == - oror == exports:b",
            "a == '-', b == 'or', Or",
        ),
        (
            "if TRUE == exports:a and False != EXPORTS:b",
            "a == True, b != False, And",
        ),
        ("if if exports:a == 1", "<>, a == 1"),
        ("if exports:a == exports:b", "b == nothing"),
        ("exports:a ifexports:b == 1e5", "<a>, b == '1e5'"),
        ("exports:a\n\tif exports:b\r==\n1", "<a>, b == 1"),
    ];

    #[test]
    fn queries_are_read_as_reclass_reads_them() {
        for (text, wanted) in READ {
            assert_eq!(read(text).as_deref(), Ok(*wanted), "{text:?}");
        }
        for text in [
            "",
            " ",
            "a b",
            "exports:a if",
            "exports:b == 1",
            "if exports:a==5",
            "if exports:a == 1.5abc",
            "if exports:a == é",
            "é",
            "if exports:a == 5 and",
            "if exports:a == 5 exports:b == 1",
            "exports:a if exports:b == - 5",
            "+AllEnvs",
            "exports:a +AllEnvs",
        ] {
            let error = read(text).unwrap_err();
            assert!(
                error.contains("is not an inventory query"),
                "{text:?}: {error}"
            );
        }
        let error = read("if a == self:b").unwrap_err();
        assert!(error.contains("compares no export"), "{error}");
    }
}
