//! The margin of blocks of Python code.

/// Remove the indentation of the first line of code from all lines that are not inside of strings.
pub(super) fn without_margin(text: &str) -> String {
    let mut state = StatementLines::default();
    let mut margin: Option<String> = None;
    let mut out = Vec::new();
    for line in text.split('\n') {
        let line = line.strip_suffix('\r').unwrap_or(line);
        if state.continues(line) {
            out.push(line.to_owned());
            continue;
        }
        let line = expand_tabs(line);
        if margin.is_none() {
            let code = line.trim_start_matches(' ');
            if !code.is_empty() && !code.starts_with('#') {
                margin = Some(line[..line.len() - code.len()].to_owned());
            }
        }
        let stripped = margin
            .as_deref()
            .and_then(|margin| line.strip_prefix(margin));
        out.push(stripped.map_or(line.clone(), str::to_owned));
    }
    out.join("\n")
}

/// Follows whether a line begins inside of a statement that spans lines.
#[derive(Default)]
struct StatementLines {
    backslash: bool,
    quotes: Option<&'static str>,
}

impl StatementLines {
    fn continues(&mut self, line: &str) -> bool {
        let inside = self.backslash || self.quotes.is_some();
        self.backslash = line.ends_with('\\');
        let mut rest = line;
        while !rest.is_empty() {
            if let Some(quotes) = self.quotes {
                match rest.find(quotes) {
                    Some(at) => {
                        rest = &rest[at + quotes.len()..];
                        self.quotes = None;
                    }
                    None => break,
                }
                continue;
            }
            if rest.starts_with('#') {
                break;
            }
            if let Some(quotes) = ["\"\"\"", "'''"]
                .into_iter()
                .find(|quotes| rest.starts_with(quotes))
            {
                self.quotes = Some(quotes);
                rest = &rest[quotes.len()..];
                continue;
            }
            let next = ["\"\"\"", "'''", "#"]
                .into_iter()
                .filter_map(|mark| rest.find(mark))
                .min();
            rest = next.map_or("", |at| &rest[at..]);
        }
        inside
    }
}

/// Tabs as spaces up to the next multiple of eight.
fn expand_tabs(line: &str) -> String {
    let (mut out, mut column) = (String::with_capacity(line.len()), 0usize);
    for c in line.chars() {
        if c == '\t' {
            let width = 8 - column % 8;
            out.push_str(&"        "[..width]);
            column += width;
        } else {
            out.push(c);
            column += 1;
        }
    }
    out
}
