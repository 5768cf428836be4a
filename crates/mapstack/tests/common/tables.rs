//! The tables of a page of the documentation.

/// A row of a table: the code of each of its cells, and of the paragraph above the table.
pub struct Row {
    pub above: Vec<String>,
    pub cells: Vec<Vec<String>>,
}

/// The rows of all tables of a page that have a header.
pub fn rows(page: &str, header: &str) -> Vec<Row> {
    let paragraphs: Vec<&str> = page.split("\n\n").collect();
    let pairs = paragraphs.windows(2);
    let tables = pairs.filter(|pair| pair[1].starts_with(header));
    let row = |above: &str, line: &str| Row {
        above: code(above),
        cells: line
            .replace("\\|", "\0")
            .split('|')
            .skip(1)
            .map(code)
            .collect(),
    };
    tables
        .flat_map(|pair| pair[1].lines().skip(2).map(move |line| row(pair[0], line)))
        .collect()
}

/// The pieces of code in a text.
fn code(text: &str) -> Vec<String> {
    let pieces = text.split('`').skip(1).step_by(2);
    pieces.map(|piece| piece.replace('\0', "|")).collect()
}
