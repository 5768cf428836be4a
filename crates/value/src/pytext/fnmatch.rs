//! Shell patterns as Python's `fnmatch` reads them on Unix.

/// True if a text has anything that is special in a pattern.
///
/// ```
/// use mapstack_value::pytext::has_magic;
/// assert!(has_magic("web[12]") && !has_magic("web{1,2}"));
/// ```
#[must_use]
pub fn has_magic(text: &str) -> bool {
    text.contains(['*', '?', '['])
}

/// A pattern, ready to be matched.
///
/// `*` is any text, `?` any character, `[a-c]` one of a set, `[!a-c]` one outside of it. Nothing is
/// special in a set but `]`, `-` and a leading `!`; a bracket that is not closed is plain text.
///
/// ```
/// use mapstack_value::pytext::Fnmatch;
/// assert!(Fnmatch::new("web[0-9]*").matches("web12.example.org"));
/// assert!(!Fnmatch::new("web[!0-9]").matches("web1"));
/// ```
pub struct Fnmatch(Vec<PatternPart>);

enum PatternPart {
    Many,
    One,
    Char(char),
    Set {
        negated: bool,
        ranges: Vec<(char, char)>,
    },
}

impl Fnmatch {
    /// Reads a pattern; every text is one.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let chars: Vec<char> = text.chars().collect();
        let mut parts = Vec::new();
        let mut at = 0;
        while let Some(&c) = chars.get(at) {
            at += 1;
            parts.push(match c {
                '*' => {
                    if matches!(parts.last(), Some(PatternPart::Many)) {
                        continue;
                    }
                    PatternPart::Many
                }
                '?' => PatternPart::One,
                '[' => match set_end(&chars, at) {
                    Some(end) => {
                        let inside = chars.get(at..end).unwrap_or_default();
                        at = end + 1;
                        set(inside)
                    }
                    None => PatternPart::Char('['),
                },
                c => PatternPart::Char(c),
            });
        }
        Fnmatch(parts)
    }

    /// True if the pattern matches all of a text; upper and lower case differ.
    #[must_use]
    pub fn matches(&self, name: &str) -> bool {
        let name: Vec<char> = name.chars().collect();
        fits(
            &self.0,
            &name,
            |part| matches!(part, PatternPart::Many),
            |part, c| part.takes(*c),
        )
    }
}

/// True if a pattern matches all of a text, as [`Fnmatch`] does. It is quicker for a pattern that is needed once.
///
/// ```
/// use mapstack_value::pytext::fnmatch;
/// assert!(fnmatch("web*.example.org", "web12.example.org") && !fnmatch("web?", "web12"));
/// ```
#[must_use]
pub fn fnmatch(pattern: &str, name: &str) -> bool {
    if pattern.contains('[') || !name.is_ascii() {
        return Fnmatch::new(pattern).matches(name);
    }
    let (pattern, name) = (pattern.as_bytes(), name.as_bytes());
    let takes = |part: &u8, byte: &u8| *part == b'?' || part == byte;
    fits(pattern, name, |part| *part == b'*', takes)
}

/// True if the parts of a pattern match all of a text.
fn fits<P, C>(
    parts: &[P],
    name: &[C],
    is_many: impl Fn(&P) -> bool,
    takes: impl Fn(&P, &C) -> bool,
) -> bool {
    let (mut part, mut at) = (0, 0);
    // The position to return to if the text after the last `*` does not match: it takes one more character.
    let mut retry: Option<(usize, usize)> = None;
    loop {
        let fits = match (parts.get(part), name.get(at)) {
            (None, None) => return true,
            (Some(many), _) if is_many(many) => {
                retry = Some((part + 1, at));
                part += 1;
                continue;
            }
            (Some(one), Some(c)) => takes(one, c),
            _ => false,
        };
        if fits {
            (part, at) = (part + 1, at + 1);
            continue;
        }
        let Some((after, taken)) = retry.filter(|(_, taken)| *taken < name.len()) else {
            return false;
        };
        retry = Some((after, taken + 1));
        (part, at) = (after, taken + 1);
    }
}

impl PatternPart {
    fn takes(&self, c: char) -> bool {
        match self {
            PatternPart::Many => false,
            PatternPart::One => true,
            PatternPart::Char(own) => *own == c,
            PatternPart::Set { negated, ranges } => {
                ranges.iter().any(|(low, high)| (*low..=*high).contains(&c)) != *negated
            }
        }
    }
}

/// The end of the set that starts at `at`. Its first character is part of it, whatever it is.
fn set_end(chars: &[char], at: usize) -> Option<usize> {
    let negated = chars.get(at) == Some(&'!');
    let first = at + usize::from(negated);
    let from = first + usize::from(chars.get(first) == Some(&']'));
    chars
        .iter()
        .skip(from)
        .position(|c| *c == ']')
        .map(|i| from + i)
}

fn set(set: &[char]) -> PatternPart {
    let mut chunks = chunks(set);
    // A range that ends before it begins has no members, not even its ends.
    for i in (1..chunks.len()).rev() {
        let empty = matches!((chunks[i - 1].last(), chunks[i].first()), (Some(low), Some(high)) if low > high);
        if empty {
            let rest = chunks.remove(i);
            chunks[i - 1].pop();
            chunks[i - 1].extend(rest.into_iter().skip(1));
        }
    }
    let negated = chunks
        .first()
        .is_some_and(|chunk| chunk.first() == Some(&'!'));
    if let (true, Some(first)) = (negated, chunks.first_mut()) {
        first.remove(0);
    }
    let mut ranges: Vec<(char, char)> = chunks.iter().flatten().map(|c| (*c, *c)).collect();
    for pair in chunks.windows(2) {
        if let (Some(low), Some(high)) = (pair[0].last(), pair[1].first()) {
            ranges.push((*low, *high));
        }
    }
    PatternPart::Set { negated, ranges }
}

/// A set cut at the hyphens that make ranges: each is between two characters.
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
            ("[a-c-e]", "-", true),
            ("[a-c-e]", "d", false),
            ("[z-a-c]", "b", false),
            ("[z-a-c]", "-", true),
            ("[z-ac]", "c", true),
            ("[!z-a]", "q", true),
            ("[--/]", ".", true),
            ("[a--]", "a", false),
            ("[!-a]", "-", false),
            ("[a-c-]", "-", true),
            ("[]-a]", "^", true),
            ("A", "a", false),
            ("", "", true),
            ("*", "", true),
            ("\\*", "\\x", true),
        ] {
            let matches = [Fnmatch::new(pattern).matches(name), fnmatch(pattern, name)];
            assert_eq!(matches, [expected; 2], "{pattern} {name}");
        }
    }

    #[test]
    fn a_pattern_of_many_stars_ends_soon() {
        let pattern = Fnmatch::new(&"*a".repeat(40));
        assert!(!pattern.matches(&"a".repeat(39)));
        assert!(!pattern.matches(&format!("{}b", "a".repeat(20_000))));
    }
}
