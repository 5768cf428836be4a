//! Shell patterns for one name, as Python's `fnmatch` reads them on Unix.

/// Whether a text has anything that is special in a pattern.
pub(crate) fn has_magic(text: &str) -> bool {
    text.contains(['*', '?', '['])
}

/// A pattern, ready to be matched.
///
/// `*` and `?` match anything, `[a-c]` one of a set and `[!a-c]` one outside of it. A bracket that
/// is not closed stands for itself, and so does everything else.
pub(crate) struct Pattern(Vec<Part>);

enum Part {
    Many,
    One,
    Char(char),
    Set { negated: bool, ranges: Vec<(char, char)> },
}

impl Pattern {
    pub(crate) fn new(text: &str) -> Self {
        let chars: Vec<char> = text.chars().collect();
        let mut parts = Vec::new();
        let mut at = 0;
        while let Some(&c) = chars.get(at) {
            at += 1;
            parts.push(match c {
                '*' => {
                    if matches!(parts.last(), Some(Part::Many)) {
                        continue;
                    }
                    Part::Many
                }
                '?' => Part::One,
                '[' => match set_end(&chars, at) {
                    Some(end) => {
                        let inside = chars.get(at..end).unwrap_or_default();
                        at = end + 1;
                        set(inside)
                    }
                    None => Part::Char('['),
                },
                c => Part::Char(c),
            });
        }
        Pattern(parts)
    }

    pub(crate) fn matches(&self, name: &str) -> bool {
        let name: Vec<char> = name.chars().collect();
        let (mut part, mut at) = (0, 0);
        // Where to go on when what follows the last `*` does not fit: it takes one more character.
        let mut retry: Option<(usize, usize)> = None;
        loop {
            let fits = match (self.0.get(part), name.get(at)) {
                (None, None) => return true,
                (Some(Part::Many), _) => {
                    retry = Some((part + 1, at));
                    part += 1;
                    continue;
                }
                (Some(one), Some(&c)) => one.takes(c),
                _ => false,
            };
            if fits {
                (part, at) = (part + 1, at + 1);
                continue;
            }
            let Some((after, taken)) = retry.filter(|(_, taken)| *taken < name.len()) else { return false };
            retry = Some((after, taken + 1));
            (part, at) = (after, taken + 1);
        }
    }
}

impl Part {
    fn takes(&self, c: char) -> bool {
        match self {
            Part::Many => false,
            Part::One => true,
            Part::Char(own) => *own == c,
            Part::Set { negated, ranges } => ranges.iter().any(|(low, high)| (*low..=*high).contains(&c)) != *negated,
        }
    }
}

/// Where the set that starts at `at` is closed. Its first character is part of it, whatever it is.
fn set_end(chars: &[char], at: usize) -> Option<usize> {
    let negated = chars.get(at) == Some(&'!');
    let first = at + usize::from(negated);
    let from = first + usize::from(chars.get(first) == Some(&']'));
    chars.iter().skip(from).position(|c| *c == ']').map(|i| from + i)
}

fn set(inside: &[char]) -> Part {
    let negated = inside.first() == Some(&'!');
    let mut rest = if negated { inside.get(1..).unwrap_or_default() } else { inside };
    let mut ranges = Vec::new();
    loop {
        rest = match rest {
            [] => break,
            // A range the wrong way round has nothing in it.
            [low, '-', high, after @ ..] => {
                ranges.push((*low, *high));
                after
            }
            [one, after @ ..] => {
                ranges.push((*one, *one));
                after
            }
        };
    }
    Part::Set { negated, ranges }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each row was checked with Python's `fnmatch.fnmatchcase`.
    #[test]
    fn patterns_match_as_in_python() {
        for (pattern, name, expected) in [
            ("*.yml", "a.yml", true),
            ("*.yml", ".yml", true),
            ("*.yml", "a.yaml", false),
            ("a*b*c", "aXbYbZc", true),
            ("a*b*c", "aXcYb", false),
            ("**", "anything", true),
            ("a**b", "ab", true),
            ("?", "ü", true),
            ("?", "", false),
            ("a?c", "abc", true),
            ("[ab].yml", "b.yml", true),
            ("[ab].yml", "c.yml", false),
            ("[!ab]", "c", true),
            ("[!ab]", "a", false),
            ("[^ab]", "^", true),
            ("[^ab]", "c", false),
            ("[a-c]x", "bx", true),
            ("[c-a]", "b", false),
            ("[!c-a]", "b", true),
            ("[a-]", "-", true),
            ("[-a]", "-", true),
            ("[]]", "]", true),
            ("[]a]", "a", true),
            ("[!]]", "]", false),
            ("[!]", "[!]", true),
            ("[", "[", true),
            ("[ab", "[ab", true),
            ("[]", "[]", true),
            ("a[", "a[", true),
            ("{a,b}", "a", false),
            ("{a,b}", "{a,b}", true),
            ("[[]a", "[a", true),
            ("[a-b-c]", "-", true),
            ("A", "a", false),
            ("", "", true),
            ("*", "", true),
            ("\\*", "\\x", true),
        ] {
            assert_eq!(Pattern::new(pattern).matches(name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn a_pattern_of_many_stars_ends_soon() {
        let pattern = Pattern::new(&"*a".repeat(40));
        assert!(!pattern.matches(&"a".repeat(39)));
        assert!(!pattern.matches(&format!("{}b", "a".repeat(20_000))));
    }
}
