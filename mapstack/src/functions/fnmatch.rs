//! Shell patterns as Python's `fnmatch` reads them.
//!
//! `*` is any text, `?` any character, `[a-c]` one of a set, `[!a-c]` one outside it. Nothing is
//! special in a set but `]`, `-` and a leading `!`, and a bracket that is not closed is a character.

/// Whether a text matches a pattern as a whole; upper and lower case differ.
pub(super) fn fnmatch(text: &str, pattern: &str) -> bool {
    let pattern = parse(&pattern.chars().collect::<Vec<_>>());
    let text: Vec<char> = text.chars().collect();
    let (mut at, mut piece) = (0, 0);
    // Where to go on when the rest does not match: behind the last star, one character further.
    let mut retry = None;
    loop {
        match pattern.get(piece) {
            Some(Piece::Any) => {
                piece += 1;
                retry = Some((piece, at));
                continue;
            }
            Some(one) if text.get(at).is_some_and(|c| one.is(*c)) => {
                piece += 1;
                at += 1;
                continue;
            }
            None if at == text.len() => return true,
            _ => {}
        }
        match retry {
            Some((behind_star, from)) if from < text.len() => {
                piece = behind_star;
                at = from + 1;
                retry = Some((behind_star, at));
            }
            _ => return false,
        }
    }
}

/// A part of a pattern.
enum Piece {
    /// `*`
    Any,
    /// `?`
    One,
    Char(char),
    Set {
        negated: bool,
        ranges: Vec<(char, char)>,
    },
}

impl Piece {
    fn is(&self, c: char) -> bool {
        match self {
            Piece::Any => false,
            Piece::One => true,
            Piece::Char(wanted) => *wanted == c,
            Piece::Set { negated, ranges } => ranges.iter().any(|(low, high)| (low..=high).contains(&&c)) != *negated,
        }
    }
}

fn parse(pattern: &[char]) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut rest = pattern;
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        pieces.push(match first {
            '*' => Piece::Any,
            '?' => Piece::One,
            '[' => match set_length(rest) {
                Some(length) => {
                    let (set, after) = rest.split_at(length);
                    rest = after.get(1..).unwrap_or_default();
                    parse_set(set)
                }
                None => Piece::Char('['),
            },
            c => Piece::Char(*c),
        });
    }
    pieces
}

/// How much stands before the bracket that closes a set; `None` if there is none.
fn set_length(rest: &[char]) -> Option<usize> {
    let negated = usize::from(rest.first() == Some(&'!'));
    // A bracket right at the start is a member.
    let start = negated + usize::from(rest.get(negated) == Some(&']'));
    rest.iter().skip(start).position(|c| *c == ']').map(|found| start + found)
}

fn parse_set(set: &[char]) -> Piece {
    let mut chunks = chunks(set);
    // A range that ends before it begins is no member, and its ends are none either.
    for i in (1..chunks.len()).rev() {
        let empty = matches!((chunks[i - 1].last(), chunks[i].first()), (Some(low), Some(high)) if low > high);
        if empty {
            let rest = chunks.remove(i);
            chunks[i - 1].pop();
            chunks[i - 1].extend(rest.into_iter().skip(1));
        }
    }
    let negated = chunks.first().is_some_and(|chunk| chunk.first() == Some(&'!'));
    if let (true, Some(first)) = (negated, chunks.first_mut()) {
        first.remove(0);
    }
    let mut ranges: Vec<(char, char)> = chunks.iter().flatten().map(|c| (*c, *c)).collect();
    for pair in chunks.windows(2) {
        if let (Some(low), Some(high)) = (pair[0].last(), pair[1].first()) {
            ranges.push((*low, *high));
        }
    }
    Piece::Set { negated, ranges }
}

/// A set cut at the hyphens that make ranges: each stands between two characters.
fn chunks(set: &[char]) -> Vec<Vec<char>> {
    let mut chunks: Vec<Vec<char>> = Vec::new();
    let mut start = 0;
    let mut from = if set.first() == Some(&'!') { 2 } else { 1 };
    while let Some(hyphen) = (from..set.len()).find(|i| set[*i] == '-') {
        chunks.push(set[start..hyphen].to_vec());
        start = hyphen + 1;
        from = hyphen + 3;
    }
    match (chunks.last_mut(), &set[start.min(set.len())..]) {
        (Some(last), []) => last.push('-'),
        (_, rest) => chunks.push(rest.to_vec()),
    }
    chunks
}
