//! Inputs near the seeds: the same ones for the same number to begin with.

use fastrand::Rng;

/// Pieces that formats give a meaning.
const TOKENS: &[&str] = &[
    "{{",
    "}}",
    "{%",
    "%}",
    "{#",
    "-%}",
    "{% if x %}",
    "{% endif %}",
    "{% for i in list %}",
    "{% endfor %}",
    "|",
    "||",
    "@",
    "Y!",
    "SUB",
    "::",
    ": ",
    "- ",
    "? ",
    "&a ",
    "*a",
    "<<: ",
    "!!binary ",
    "!!set ",
    "!!omap ",
    "|2-\n",
    ">\n",
    "%TAG ! x\n",
    "---\n",
    "...\n",
    "\n---\n",
    "\"",
    "'",
    "\\",
    "\\u",
    "[",
    "]",
    "{",
    "}",
    ",",
    "__: merge-first",
    "aggregate",
    "0",
    "-1",
    "1e999",
    "NaN",
    "null",
    "true",
    "99999999999999999999",
    "\u{85}",
    "\u{2028}",
    "\u{feff}",
    "é",
    "😀",
    "\0",
    "\t",
    "\r\n",
    "#",
    "\n  ",
    "# mapstack-lint: disable=",
    "values:",
    "refs/heads/",
    "40000 ",
    "100644 ",
    "../",
    "\x7f",
    "(",
    ")",
    "[0]",
    ".x",
    " * 99",
];

/// Longer inputs are cut.
const MAX_LENGTH: usize = 4096;

/// One input near the seeds.
///
/// ```
/// let seeds = [b"a: 1".to_vec()];
/// let input = |seed| mapstack_fuzz::mutate::input(&seeds, &mut fastrand::Rng::with_seed(seed));
/// assert_eq!(input(1), input(1));
/// ```
#[must_use]
pub fn input(seeds: &[Vec<u8>], random: &mut Rng) -> Vec<u8> {
    let mut bytes = random.choice(seeds).cloned().unwrap_or_default();
    for _ in 0..=random.usize(0..6) {
        change(&mut bytes, seeds, random);
    }
    bytes.truncate(MAX_LENGTH);
    bytes
}

fn change(bytes: &mut Vec<u8>, seeds: &[Vec<u8>], random: &mut Rng) {
    let at = random.usize(0..=bytes.len());
    let range = at..random.usize(at..=bytes.len().min(at + 16));
    match random.u8(0..8) {
        0 => drop(bytes.drain(range)),
        1 => drop(bytes.splice(at..at, random.choice(TOKENS).unwrap_or(&"").bytes())),
        2 => drop(bytes.splice(range, random.choice(TOKENS).unwrap_or(&"").bytes())),
        3 => {
            let piece = bytes[range].repeat(random.usize(1..40));
            bytes.splice(at..at, piece);
        }
        4 => bytes.insert(at, random.u8(..)),
        5 if at < bytes.len() => bytes[at] ^= 1 << random.u8(0..8),
        6 if at < bytes.len() => bytes[at] = random.u8(..),
        _ => {
            let other = random.choice(seeds).cloned().unwrap_or_default();
            let from = random.usize(0..=other.len());
            let until = random.usize(from..=other.len());
            bytes.splice(at..at, other[from..until].iter().copied());
        }
    }
}
