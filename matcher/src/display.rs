//! Printing a definition so that it parses back to itself.

use std::fmt;

use crate::{Definition, Matcher, Spelling};

impl fmt::Display for Definition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.spelling == Spelling::Prefix {
            f.write_str("Y!")?;
        }
        for (i, matcher) in self.matchers.iter().enumerate() {
            if i > 0 {
                f.write_str("|")?;
            }
            let legacy = i == 0 && self.spelling == Spelling::Legacy;
            // Behind the prefix an old `Y` would be a second word for the same thing.
            let plain = Matcher { bare: matcher.bare && !legacy, ..matcher.clone() };
            write(&plain, legacy, f)?;
        }
        Ok(())
    }
}

/// The matcher with its type.
impl fmt::Display for Matcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write(self, false, f)
    }
}

fn write(matcher: &Matcher, legacy: bool, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if matcher.bare {
        return f.write_str(&matcher.query);
    }
    if legacy {
        f.write_str("Y:")?;
    }
    write!(f, "{}", matcher.kind.letter())?;
    let options = matcher.options.join(",");
    let delimiter = &*matcher.delimiter;
    match (&*options, delimiter) {
        ("", ":") => {}
        (options, ":") => write!(f, ":{options}")?,
        // The old form has no options: its second piece is the type.
        ("", delimiter) if legacy => write!(f, ":{delimiter}")?,
        (options, delimiter) => write!(f, ":{options}:{delimiter}")?,
    }
    write!(f, "@{}", matcher.query)
}
