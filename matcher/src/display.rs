//! Printing a definition so that it parses back to itself.

use std::fmt;

use crate::{Definition, Matcher, Spelling};

impl fmt::Display for Definition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.spelling {
            Spelling::Prefix => "Y!",
            Spelling::Legacy => "Y:",
            Spelling::Plain => "",
        })?;
        for (i, matcher) in self.matchers.iter().enumerate() {
            if i > 0 {
                f.write_str("|")?;
            }
            write(matcher, i == 0 && self.spelling == Spelling::Legacy, f)?;
        }
        Ok(())
    }
}

/// The matcher with its type, if it is written with one.
impl fmt::Display for Matcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write(self, false, f)
    }
}

/// `legacy` is the place behind `Y:`, where the delimiter follows the type.
fn write(matcher: &Matcher, legacy: bool, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if !matcher.typed {
        return f.write_str(&matcher.query);
    }
    write!(f, "{}", matcher.kind.letter())?;
    let options = matcher.options.join(",");
    match (&*options, &*matcher.delimiter) {
        ("", ":") => {}
        (options, ":") => write!(f, ":{options}")?,
        ("", delimiter) if legacy => write!(f, ":{delimiter}")?,
        (options, delimiter) => write!(f, ":{options}:{delimiter}")?,
    }
    write!(f, "@{}", matcher.query)
}
