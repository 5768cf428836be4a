//! The options of `file.find` that name files: one reading for the files of a checkout and those of the machine.

/// The regular expression for the option `name` of `file.find`, a pattern in which `*` and `?` are wild.
///
/// ```
/// assert_eq!(mapstack_functions::regex_of_name("*.conf"), r".*\.conf$");
/// ```
#[must_use]
pub fn regex_of_name(pattern: &str) -> String {
    pattern
        .replace('.', r"\.")
        .replace('?', ".?")
        .replace('*', ".*")
        + "$"
}

/// The letters of the option `type` of `file.find`.
///
/// ```
/// assert_eq!(mapstack_functions::types_of_files("f, d").as_deref(), Ok("fd"));
/// ```
///
/// # Errors
/// A letter is not one of a type, in the reference's words.
pub fn types_of_files(option: &str) -> Result<String, String> {
    let is_letter = |c: &char| !c.is_whitespace() && *c != ',';
    let types: String = option.chars().filter(is_letter).collect();
    match types.chars().find(|c| !"bcdflps".contains(*c)) {
        Some(unknown) => Err(format!("invalid file type \"{unknown}\"")),
        None => Ok(types),
    }
}
