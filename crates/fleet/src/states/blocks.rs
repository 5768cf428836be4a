//! The conditions and loops around a place of a Jinja template, found without running it.

/// A tag that decides if what it encloses is printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Block {
    /// The first byte of the tag.
    pub start: usize,
    /// The statement on one line, such as `if ssh.root`.
    pub statement: String,
}

/// The most of a statement that is shown, in characters.
const SHOWN: usize = 80;

/// The conditions and loops around a byte of a template, the innermost first.
pub(super) fn blocks_around(source: &str, at: usize) -> Vec<Block> {
    let mut open: Vec<(String, Block)> = Vec::new();
    let mut rest = 0;
    while let Some((start, tag)) = next_tag(source, rest) {
        rest = start + tag.len();
        if rest > at {
            break;
        }
        let Some(inner) = tag.strip_prefix("{%") else {
            continue;
        };
        let statement = one_line(inner.trim_end_matches("%}"));
        let word = statement.split([' ', '(']).next().unwrap_or_default();
        let block = |statement: String| Block { start, statement };
        match word {
            "raw" => rest = after_raw(source, rest),
            "elif" => drop(replace(&mut open, block(statement.clone()))),
            "else" => {
                let of = open.last().map(|(_, block)| block.statement.clone());
                let of = of.unwrap_or_default();
                drop(replace(&mut open, block(format!("else of {of}"))));
            }
            "if" | "for" => open.push((word.to_owned(), block(statement.clone()))),
            // A `set` with a value has no end.
            "macro" | "call" | "filter" | "block" | "with" => {
                open.push((word.to_owned(), block(String::new())));
            }
            word => {
                if let Some(word) = word.strip_prefix("end")
                    && let Some(at) = open.iter().rposition(|(known, _)| known == word)
                {
                    open.truncate(at);
                }
            }
        }
    }
    let around = open.into_iter().rev().map(|(_, block)| block);
    around.filter(|block| !block.statement.is_empty()).collect()
}

/// Have another branch of the innermost condition or loop.
fn replace(open: &mut [(String, Block)], branch: Block) -> Option<Block> {
    let (_, block) = open.last_mut()?;
    Some(std::mem::replace(block, branch))
}

/// The next tag, expression or comment from a byte on; one without an end ends with the text.
fn next_tag(source: &str, from: usize) -> Option<(usize, &str)> {
    let rest = source.get(from..)?;
    let starts = ["{%", "{{", "{#"].map(|start| rest.find(start));
    let start = starts.into_iter().flatten().min()?;
    let tag = rest.get(start..)?;
    let end = match tag.as_bytes().get(1) {
        Some(b'%') => "%}",
        Some(b'{') => "}}",
        _ => "#}",
    };
    let length = tag.find(end).map_or(tag.len(), |at| at + end.len());
    Some((from + start, tag.get(..length)?))
}

/// The end of a raw block that begins before a byte.
fn after_raw(source: &str, from: usize) -> usize {
    let rest = source.get(from..).unwrap_or_default();
    rest.find("endraw").map_or(source.len(), |at| from + at)
}

/// A statement without its dashes, on one line.
fn one_line(statement: &str) -> String {
    let inner = statement.trim_matches(['-', '+']);
    let words: Vec<&str> = inner.split_whitespace().collect();
    let text = words.join(" ");
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn around(source: &str) -> Vec<String> {
        let at = source.find('@').unwrap();
        let blocks = blocks_around(source, at).into_iter();
        blocks.map(|block| block.statement).collect()
    }

    #[test]
    fn the_innermost_block_comes_first() {
        assert_eq!(around("{% if a %}x{% endif %}@"), [""; 0]);
        assert_eq!(around("{%- if a -%}{{ '%}' }}@{% endif %}"), ["if a"]);
        let text = "{% for x in y %}{% if a %}1{% elif\n b %}@{% endif %}{% endfor %}";
        assert_eq!(around(text), ["elif b", "for x in y"]);
        assert_eq!(around("{% if a %}{% else %}@{% endif %}"), ["else of if a"]);
        assert_eq!(around("{% if a %}{% macro m() %}@{% endmacro %}"), ["if a"]);
    }

    #[test]
    fn what_is_no_tag_opens_nothing() {
        assert_eq!(around("{# {% if a %} #}@"), [""; 0]);
        assert_eq!(around("{% raw %}{% if a %}{% endraw %}@"), [""; 0]);
        assert_eq!(around("{% set x = 1 %}@"), [""; 0]);
        assert_eq!(around("{% if a @"), [""; 0]);
    }
}
