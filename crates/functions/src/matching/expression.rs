//! The evaluation of a compound target, from the results of its parts.
//!
//! The reference joins the words of a target, each replaced by its result, and lets Python evaluate
//! that text. So a target is a Python expression of `and`, `or`, `not`, brackets and constants:
//! `()` is an empty tuple, and `True ( False )` is a call, which fails when it is reached.

use mapstack_pyobject::Obj;

/// A word of a target once its result is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token {
    Is(MatchResult),
    And,
    Or,
    Not,
    Open,
    Close,
}

/// A result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MatchResult {
    Bool(bool),
    /// The reference's value for an address it cannot read.
    EmptyList,
    /// The value of a pair of brackets without content.
    EmptyTuple,
}

impl MatchResult {
    fn truthy(self) -> bool {
        self == MatchResult::Bool(true)
    }
}

impl From<MatchResult> for Obj {
    fn from(answer: MatchResult) -> Self {
        match answer {
            MatchResult::Bool(b) => Obj::Bool(b),
            MatchResult::EmptyList => Obj::list([]),
            MatchResult::EmptyTuple => Obj::tuple(Vec::new()),
        }
    }
}

/// Brackets nest this deep at most, as in Python.
const MAX_DEPTH: usize = 200;

/// Evaluate an expression; `None` if the tokens do not form one, or if it fails.
pub(super) fn evaluate(tokens: &[Token]) -> Option<MatchResult> {
    let mut parser = Parser { tokens, depth: 0 };
    let expression = parser.or()?;
    if parser.tokens.is_empty() {
        expression.value()
    } else {
        None
    }
}

enum Expression {
    Is(MatchResult),
    /// The first that is false, else the last.
    All(Vec<Expression>),
    /// The first that is true, else the last.
    Any(Vec<Expression>),
    Not(Box<Expression>),
    /// Constants cannot be called.
    Call,
}

impl Expression {
    fn value(&self) -> Option<MatchResult> {
        match self {
            Expression::Is(answer) => Some(*answer),
            Expression::All(parts) => Self::first(parts, |answer| !answer.truthy()),
            Expression::Any(parts) => Self::first(parts, MatchResult::truthy),
            Expression::Not(inner) => inner
                .value()
                .map(|answer| MatchResult::Bool(!answer.truthy())),
            Expression::Call => None,
        }
    }

    fn first(parts: &[Expression], ends: impl Fn(MatchResult) -> bool) -> Option<MatchResult> {
        let mut last = None;
        for part in parts {
            let answer = part.value()?;
            if ends(answer) {
                return Some(answer);
            }
            last = Some(answer);
        }
        last
    }
}

struct Parser<'t> {
    tokens: &'t [Token],
    depth: usize,
}

impl Parser<'_> {
    fn take(&mut self, token: Token) -> bool {
        match self.tokens.split_first() {
            Some((first, rest)) if *first == token => {
                self.tokens = rest;
                true
            }
            _ => false,
        }
    }

    /// `and ("or" and)*`
    fn or(&mut self) -> Option<Expression> {
        let mut parts = vec![self.and()?];
        while self.take(Token::Or) {
            parts.push(self.and()?);
        }
        Some(Expression::Any(parts))
    }

    /// `not ("and" not)*`
    fn and(&mut self) -> Option<Expression> {
        let mut parts = vec![self.not()?];
        while self.take(Token::And) {
            parts.push(self.not()?);
        }
        Some(Expression::All(parts))
    }

    /// `"not"* call`
    fn not(&mut self) -> Option<Expression> {
        // The words `not not` never come here: an `and` is put between them.
        if self.take(Token::Not) {
            return self.call().map(|inner| Expression::Not(Box::new(inner)));
        }
        self.call()
    }

    /// `atom brackets*`
    fn call(&mut self) -> Option<Expression> {
        let mut expression = self.atom()?;
        while self.tokens.first() == Some(&Token::Open) {
            self.brackets()?;
            expression = Expression::Call;
        }
        Some(expression)
    }

    /// `constant | brackets`
    fn atom(&mut self) -> Option<Expression> {
        match self.tokens.split_first()? {
            (Token::Is(answer), rest) => {
                self.tokens = rest;
                Some(Expression::Is(*answer))
            }
            _ => self.brackets(),
        }
    }

    /// `"(" or? ")"`
    fn brackets(&mut self) -> Option<Expression> {
        if !self.take(Token::Open) || self.depth == MAX_DEPTH {
            return None;
        }
        self.depth += 1;
        let inner = match self.tokens.first() {
            Some(Token::Close) => Expression::Is(MatchResult::EmptyTuple),
            _ => self.or()?,
        };
        self.depth -= 1;
        self.take(Token::Close).then_some(inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The value of a text with `T`, `F`, `[]`, `and`, `or`, `not` and brackets as words.
    fn value(text: &str) -> Option<MatchResult> {
        let tokens: Vec<Token> = text
            .split_whitespace()
            .map(|word| match word {
                "T" => Token::Is(MatchResult::Bool(true)),
                "F" => Token::Is(MatchResult::Bool(false)),
                "[]" => Token::Is(MatchResult::EmptyList),
                "and" => Token::And,
                "or" => Token::Or,
                "not" => Token::Not,
                "(" => Token::Open,
                _ => Token::Close,
            })
            .collect();
        evaluate(&tokens)
    }

    #[test]
    fn not_binds_tighter_than_and_than_or() {
        assert_eq!(value("T or T and F"), Some(MatchResult::Bool(true)));
        assert_eq!(value("( T or T ) and F"), Some(MatchResult::Bool(false)));
        assert_eq!(value("not F and F"), Some(MatchResult::Bool(false)));
        assert_eq!(value("not ( F and F )"), Some(MatchResult::Bool(true)));
    }

    #[test]
    fn a_result_is_the_operand_that_decided() {
        assert_eq!(value("T and []"), Some(MatchResult::EmptyList));
        assert_eq!(value("[] or ( )"), Some(MatchResult::EmptyTuple));
        assert_eq!(value("not ( )"), Some(MatchResult::Bool(true)));
    }

    #[test]
    fn calls_fail_only_where_they_are_reached() {
        assert_eq!(value("T ( F )"), None);
        assert_eq!(value("T or T ( F )"), Some(MatchResult::Bool(true)));
        assert_eq!(value("F and T ( ) ( T )"), Some(MatchResult::Bool(false)));
    }

    #[test]
    fn invalid_expressions_have_no_value() {
        for text in [
            "",
            "T F",
            "T and",
            "and T",
            "( T",
            "T )",
            "( and T )",
            "T or T ( and )",
        ] {
            assert_eq!(value(text), None, "{text}");
        }
        let nested = |depth: usize| format!("{}T{}", "( ".repeat(depth), " )".repeat(depth));
        assert_eq!(value(&nested(MAX_DEPTH)), Some(MatchResult::Bool(true)));
        assert_eq!(value(&nested(MAX_DEPTH + 1)), None);
    }
}
