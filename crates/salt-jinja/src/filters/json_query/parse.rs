//! JMESPath's grammar.

use mapstack_pyobject::{Error, Result};
use mapstack_value::{Str, Value, json};

/// An expression.
#[derive(Debug)]
pub(super) enum Node {
    Current,
    Literal(Value),
    Field(Str),
    Index(i64),
    Slice {
        start: Option<i64>,
        stop: Option<i64>,
        step: Option<i64>,
    },
    Chain(Box<Node>, Box<Node>),
    Pipe(Box<Node>, Box<Node>),
    Flatten(Box<Node>),
    Project(Box<Node>, Box<Node>),
    ProjectValues(Box<Node>, Box<Node>),
    Filter {
        left: Box<Node>,
        right: Box<Node>,
        condition: Box<Node>,
    },
    List(Vec<Node>),
    Map(Vec<(Str, Node)>),
    Or(Box<Node>, Box<Node>),
    And(Box<Node>, Box<Node>),
    Not(Box<Node>),
    Compare(Comparator, Box<Node>, Box<Node>),
    Call(Str, Vec<Node>),
    Reference(Box<Node>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparator {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Name(Str),
    Quoted(Str),
    Literal(Value),
    Number(i64),
    Compare(Comparator),
    Dot,
    Star,
    Flatten,
    Filter,
    OpenBracket,
    CloseBracket,
    OpenBrace,
    CloseBrace,
    OpenParen,
    CloseParen,
    Comma,
    Colon,
    Pipe,
    Or,
    And,
    Not,
    Current,
    Reference,
    End,
}

impl Token {
    /// The power with which it binds its left operand.
    fn power(&self) -> u32 {
        match self {
            Token::Pipe => 1,
            Token::Or => 2,
            Token::And => 3,
            Token::Compare(_) => 5,
            Token::Flatten => 9,
            Token::Star => 20,
            Token::Filter => 21,
            Token::Dot => 40,
            Token::Not => 45,
            Token::OpenBrace => 50,
            Token::OpenBracket => 55,
            Token::OpenParen => 60,
            _ => 0,
        }
    }

    fn kind(&self) -> &'static str {
        match self {
            Token::Name(_) => "UNQUOTED_IDENTIFIER",
            Token::Quoted(_) => "QUOTED_IDENTIFIER",
            Token::Literal(_) => "LITERAL",
            Token::Number(_) => "NUMBER",
            Token::Compare(_) => "COMPARATOR",
            Token::Dot => "DOT",
            Token::Star => "STAR",
            Token::Flatten => "FLATTEN",
            Token::Filter => "FILTER",
            Token::OpenBracket => "LBRACKET",
            Token::CloseBracket => "RBRACKET",
            Token::OpenBrace => "LBRACE",
            Token::CloseBrace => "RBRACE",
            Token::OpenParen => "LPAREN",
            Token::CloseParen => "RPAREN",
            Token::Comma => "COMMA",
            Token::Colon => "COLON",
            Token::Pipe => "PIPE",
            Token::Or => "OR",
            Token::And => "AND",
            Token::Not => "NOT",
            Token::Current => "CURRENT",
            Token::Reference => "EXPREF",
            Token::End => "EOF",
        }
    }
}

/// Projections end before tokens that bind less.
const PROJECTION_STOP: u32 = 10;
/// Longer expressions are refused: they are evaluated by recursion.
const MAX_TOKENS: usize = 500;

/// Read an expression.
///
/// # Errors
/// In the words of the reference, with the column.
pub(super) fn parse(text: &str) -> Result<Node> {
    if text.is_empty() {
        return Err(Error::value_error(
            "Invalid JMESPath expression: cannot be empty.",
        ));
    }
    let tokens = Lexer { text, at: 0 }.tokens()?;
    if tokens.len() > MAX_TOKENS {
        return Err(Error::limit(format!(
            "a JMESPath expression of more than {MAX_TOKENS} parts"
        )));
    }
    let mut parser = Parser {
        text,
        tokens,
        at: 0,
    };
    let node = parser.expression(0)?;
    match parser.peek() {
        Token::End => Ok(node),
        _ => Err(parser.unexpected()),
    }
}

struct Lexer<'t> {
    text: &'t str,
    at: usize,
}

impl Lexer<'_> {
    fn tokens(mut self) -> Result<Vec<(Token, usize)>> {
        let mut tokens = Vec::new();
        while let Some(c) = self.text[self.at..].chars().next() {
            let start = self.at;
            self.at += c.len_utf8();
            let token = match c {
                ' ' | '\t' | '\n' | '\r' => continue,
                'a'..='z' | 'A'..='Z' | '_' => {
                    self.skip(|c| c.is_ascii_alphanumeric() || c == '_');
                    Token::Name(self.text[start..self.at].into())
                }
                '-' | '0'..='9' => {
                    self.skip(|c| c.is_ascii_digit());
                    let number = self.text[start..self.at]
                        .parse()
                        .map_err(|_| self.bad(start, "Unknown token"))?;
                    Token::Number(number)
                }
                '"' => self.quoted(start)?,
                '\'' => Token::Literal(self.until('\'', start)?.replace("\\'", "'").into()),
                '`' => self.literal(start)?,
                '.' => Token::Dot,
                '*' => Token::Star,
                ']' => Token::CloseBracket,
                '{' => Token::OpenBrace,
                '}' => Token::CloseBrace,
                '(' => Token::OpenParen,
                ')' => Token::CloseParen,
                ',' => Token::Comma,
                ':' => Token::Colon,
                '@' => Token::Current,
                '[' if self.eat(']') => Token::Flatten,
                '[' if self.eat('?') => Token::Filter,
                '[' => Token::OpenBracket,
                '|' if self.eat('|') => Token::Or,
                '|' => Token::Pipe,
                '&' if self.eat('&') => Token::And,
                '&' => Token::Reference,
                '<' if self.eat('=') => Token::Compare(Comparator::LessOrEqual),
                '<' => Token::Compare(Comparator::Less),
                '>' if self.eat('=') => Token::Compare(Comparator::GreaterOrEqual),
                '>' => Token::Compare(Comparator::Greater),
                '!' if self.eat('=') => Token::Compare(Comparator::NotEqual),
                '!' => Token::Not,
                '=' if self.eat('=') => Token::Compare(Comparator::Equal),
                _ => return Err(self.bad(start, "Unknown token")),
            };
            tokens.push((token, start));
        }
        tokens.push((Token::End, self.text.len()));
        Ok(tokens)
    }

    /// A name in double quotes.
    fn quoted(&mut self, start: usize) -> Result<Token> {
        let inside = self.until('"', start)?;
        match json::loads(&format!("\"{inside}\"")) {
            Ok(Value::Str(name)) => Ok(Token::Quoted(name)),
            _ => Err(self.bad(start, "error decoding string")),
        }
    }

    /// JSON, or text, in backquotes.
    fn literal(&mut self, start: usize) -> Result<Token> {
        let inside = self.until('`', start)?.replace("\\`", "`");
        let inside = inside.trim_start();
        let read = json::loads(inside).or_else(|_| json::loads(&format!("\"{inside}\"")));
        read.map(Token::Literal)
            .map_err(|_| self.bad(start, "Bad token"))
    }

    fn eat(&mut self, wanted: char) -> bool {
        let found = self.text[self.at..].starts_with(wanted);
        self.at += if found { wanted.len_utf8() } else { 0 };
        found
    }

    fn skip(&mut self, inside: fn(char) -> bool) {
        let rest = &self.text[self.at..];
        self.at += rest.find(|c| !inside(c)).unwrap_or(rest.len());
    }

    /// The text before a closing quote; a backslash keeps the next character from being one.
    fn until(&mut self, quote: char, start: usize) -> Result<String> {
        let from = self.at;
        let mut escaped = false;
        for (i, c) in self.text[from..].char_indices() {
            if c == quote && !escaped {
                self.at = from + i + 1;
                return Ok(self.text[from..from + i].to_string());
            }
            escaped = c == '\\' && !escaped;
        }
        Err(self.bad(start, "Unclosed delimiter"))
    }

    fn bad(&self, at: usize, what: &str) -> Box<Error> {
        pointed(self.text, at, &format!("Bad jmespath expression: {what}:"))
    }
}

fn pointed(text: &str, at: usize, message: &str) -> Box<Error> {
    let column = text[..at].chars().count();
    Error::value_error(format!(
        "{message}\n\"{text}\"\n{}^",
        " ".repeat(column + 1)
    ))
}

struct Parser<'t> {
    text: &'t str,
    tokens: Vec<(Token, usize)>,
    at: usize,
}

fn boxed(node: Node) -> Box<Node> {
    Box::new(node)
}

impl Parser<'_> {
    fn peek(&self) -> &Token {
        self.tokens
            .get(self.at)
            .map_or(&Token::End, |(token, _)| token)
    }

    fn peek_second(&self) -> &Token {
        self.tokens
            .get(self.at + 1)
            .map_or(&Token::End, |(token, _)| token)
    }

    fn next(&mut self) -> Token {
        let token = self.peek().clone();
        if token != Token::End {
            self.at += 1;
        }
        token
    }

    fn expect(&mut self, wanted: &Token) -> Result<()> {
        if self.peek() == wanted {
            self.next();
            return Ok(());
        }
        Err(self.unexpected())
    }

    fn unexpected(&self) -> Box<Error> {
        let (token, at) = self
            .tokens
            .get(self.at)
            .cloned()
            .unwrap_or((Token::End, self.text.len()));
        if token == Token::End {
            return pointed(
                self.text,
                at,
                "Invalid jmespath expression: Incomplete expression:",
            );
        }
        let end = self
            .tokens
            .get(self.at + 1)
            .map_or(self.text.len(), |(_, end)| *end);
        let (shown, kind) = (self.text[at..end].trim_end(), token.kind());
        let column = self.text[..at].chars().count();
        let message = format!(
            "Invalid jmespath expression: Parse error at column {column}, token \"{shown}\" ({kind}), for expression:"
        );
        pointed(self.text, at, &message)
    }

    fn expression(&mut self, power: u32) -> Result<Node> {
        let mut left = self.prefix()?;
        while power < self.peek().power() {
            left = self.infix(left)?;
        }
        Ok(left)
    }

    fn prefix(&mut self) -> Result<Node> {
        let here = self.at;
        Ok(match self.next() {
            Token::Literal(value) => Node::Literal(value),
            Token::Name(name) => Node::Field(name),
            Token::Quoted(name) => {
                if *self.peek() == Token::OpenParen {
                    return Err(self.unexpected());
                }
                Node::Field(name)
            }
            Token::Current => Node::Current,
            Token::Star => {
                let right = match self.peek() {
                    Token::CloseBracket => Node::Current,
                    _ => self.projected(20)?,
                };
                Node::ProjectValues(boxed(Node::Current), boxed(right))
            }
            Token::Filter => self.filter(Node::Current)?,
            Token::Flatten => {
                let right = self.projected(9)?;
                Node::Project(boxed(Node::Flatten(boxed(Node::Current))), boxed(right))
            }
            Token::OpenBrace => self.map()?,
            Token::OpenParen => {
                let inner = self.expression(0)?;
                self.expect(&Token::CloseParen)?;
                inner
            }
            Token::Not => Node::Not(boxed(self.expression(45)?)),
            Token::Reference => Node::Reference(boxed(self.expression(0)?)),
            Token::OpenBracket => match (self.peek(), self.peek_second()) {
                (Token::Number(_) | Token::Colon, _) => self.index(Node::Current)?,
                (Token::Star, Token::CloseBracket) => {
                    self.at += 2;
                    let right = self.projected(20)?;
                    Node::Project(boxed(Node::Current), boxed(right))
                }
                _ => self.list()?,
            },
            _ => {
                self.at = here;
                return Err(self.unexpected());
            }
        })
    }

    fn infix(&mut self, left: Node) -> Result<Node> {
        let here = self.at;
        Ok(match self.next() {
            Token::Dot if *self.peek() == Token::Star => {
                self.next();
                let right = self.projected(40)?;
                Node::ProjectValues(boxed(left), boxed(right))
            }
            Token::Dot => {
                let right = self.after_dot(40)?;
                Node::Chain(boxed(left), boxed(right))
            }
            Token::Pipe => Node::Pipe(boxed(left), boxed(self.expression(1)?)),
            Token::Or => Node::Or(boxed(left), boxed(self.expression(2)?)),
            Token::And => Node::And(boxed(left), boxed(self.expression(3)?)),
            Token::Compare(comparator) => {
                Node::Compare(comparator, boxed(left), boxed(self.expression(5)?))
            }
            Token::OpenParen => {
                let Node::Field(name) = left else {
                    self.at = here;
                    return Err(self.unexpected());
                };
                let mut arguments = Vec::new();
                while *self.peek() != Token::CloseParen {
                    arguments.push(self.expression(0)?);
                    if *self.peek() == Token::Comma {
                        self.next();
                    } else if *self.peek() != Token::CloseParen {
                        return Err(self.unexpected());
                    }
                }
                self.next();
                Node::Call(name, arguments)
            }
            Token::Filter => self.filter(left)?,
            Token::Flatten => {
                let right = self.projected(9)?;
                Node::Project(boxed(Node::Flatten(boxed(left))), boxed(right))
            }
            Token::OpenBracket => {
                if matches!(self.peek(), Token::Number(_) | Token::Colon) {
                    return self.index(left);
                }
                self.expect(&Token::Star)?;
                self.expect(&Token::CloseBracket)?;
                let right = self.projected(20)?;
                Node::Project(boxed(left), boxed(right))
            }
            _ => {
                self.at = here;
                return Err(self.unexpected());
            }
        })
    }

    /// The node that a projection applies to each item.
    fn projected(&mut self, power: u32) -> Result<Node> {
        match self.peek() {
            token if token.power() < PROJECTION_STOP => Ok(Node::Current),
            Token::OpenBracket | Token::Filter => self.expression(power),
            Token::Dot => {
                self.next();
                self.after_dot(power)
            }
            _ => Err(self.unexpected()),
        }
    }

    fn after_dot(&mut self, power: u32) -> Result<Node> {
        match self.peek() {
            Token::Name(_) | Token::Quoted(_) | Token::Star => self.expression(power),
            Token::OpenBracket => {
                self.next();
                self.list()
            }
            Token::OpenBrace => {
                self.next();
                self.map()
            }
            _ => Err(self.unexpected()),
        }
    }

    fn filter(&mut self, left: Node) -> Result<Node> {
        let condition = self.expression(0)?;
        self.expect(&Token::CloseBracket)?;
        let right = if *self.peek() == Token::Flatten {
            Node::Current
        } else {
            self.projected(21)?
        };
        Ok(Node::Filter {
            left: boxed(left),
            right: boxed(right),
            condition: boxed(condition),
        })
    }

    /// An index or a slice; a slice is a projection.
    fn index(&mut self, left: Node) -> Result<Node> {
        let mut parts: [Option<i64>; 3] = [None; 3];
        let mut colons = 0;
        loop {
            match self.peek().clone() {
                Token::Number(n) if parts[colons].is_none() => parts[colons] = Some(n),
                Token::Colon if colons < 2 => colons += 1,
                Token::CloseBracket => break,
                _ => return Err(self.unexpected()),
            }
            self.next();
        }
        self.next();
        let [start, stop, step] = parts;
        if colons == 0 {
            return Ok(Node::Chain(
                boxed(left),
                boxed(Node::Index(start.unwrap_or(0))),
            ));
        }
        let slice = Node::Chain(boxed(left), boxed(Node::Slice { start, stop, step }));
        Ok(Node::Project(boxed(slice), boxed(self.projected(20)?)))
    }

    fn list(&mut self) -> Result<Node> {
        let mut nodes = Vec::new();
        loop {
            nodes.push(self.expression(0)?);
            if *self.peek() == Token::CloseBracket {
                self.next();
                return Ok(Node::List(nodes));
            }
            self.expect(&Token::Comma)?;
        }
    }

    fn map(&mut self) -> Result<Node> {
        let mut entries = Vec::new();
        loop {
            let (Token::Name(name) | Token::Quoted(name)) = self.peek().clone() else {
                return Err(self.unexpected());
            };
            self.next();
            self.expect(&Token::Colon)?;
            entries.push((name, self.expression(0)?));
            if *self.peek() == Token::CloseBrace {
                self.next();
                return Ok(Node::Map(entries));
            }
            self.expect(&Token::Comma)?;
        }
    }
}
