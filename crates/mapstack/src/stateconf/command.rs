//! The arguments of the renderer, and what ends the part of a text that is read first.

use mapstack_value::pytext::classes::is_space;

use crate::stateconf::{Error, Result};

/// The arguments of the renderer in a `#!` line.
///
/// ```
/// use mapstack::stateconf::Arguments;
/// let command = Arguments::parse("-G yaml . mako -x").unwrap();
/// assert!(!command.has_goal);
/// let pipe = command.pipe.unwrap();
/// assert_eq!((&*pipe.template.name, &*pipe.template.argline), ("mako", "-x"));
/// assert!(Arguments::parse("-q").is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arguments {
    /// True if a state follows that requires all others; `-G` says no.
    pub has_goal: bool,
    /// `-o`: each state requires the one before it.
    pub is_ordered: bool,
    /// `-s`: a state is made that all others follow.
    pub has_start: bool,
    /// The renderers of the text; `None` for `-p`, which takes data.
    pub pipe: Option<Renderers>,
}

/// The renderers of a text: first the template, then the data that it prints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Renderers {
    /// The renderer that reads the output of the template.
    pub data: RendererCall,
    /// The renderer of the text.
    pub template: RendererCall,
}

/// A renderer and its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RendererCall {
    /// The renderer's name.
    pub name: String,
    /// The text that follows the name.
    pub argline: String,
}

/// The pipe of those who name none.
const DEFAULT: &str = "yaml . jinja";

impl Arguments {
    /// Read the arguments.
    ///
    /// # Errors
    /// The option is unknown, or the renderers are not two with a dot between them.
    pub fn parse(argline: &str) -> Result<Self> {
        let mut words = argline.split(is_space).filter(|word| !word.is_empty());
        let mut command = Arguments {
            has_goal: true,
            is_ordered: false,
            has_start: false,
            pipe: None,
        };
        let (mut takes_data, mut rest) = (false, Vec::new());
        for word in words.by_ref() {
            let options = word.strip_prefix('-').filter(|rest| !rest.is_empty());
            let Some(options) = options else {
                rest.push(word);
                break;
            };
            if options == "-" {
                break;
            }
            for option in options.chars() {
                match option {
                    'G' => command.has_goal = false,
                    'o' => command.is_ordered = true,
                    's' => command.has_start = true,
                    'p' => takes_data = true,
                    _ => {
                        let message = format!("the renderer 'stateconf' has no option '{word}'");
                        return Err(Error::Usage(message));
                    }
                }
            }
        }
        rest.extend(words);
        if !takes_data {
            let pipe = match rest.is_empty() {
                true => DEFAULT.to_owned(),
                false => rest.join(" "),
            };
            command.pipe = Some(Renderers::parse(&pipe)?);
        }
        match &command.pipe {
            Some(pipe) if command.is_ordered && pipe.data.name != "yaml" => {
                let message = "the option -o of 'stateconf' needs the renderer yaml";
                Err(Error::Usage(message.to_owned()))
            }
            _ => Ok(command),
        }
    }
}

impl Renderers {
    /// Words with single blanks between them.
    fn parse(text: &str) -> Result<Self> {
        let stage = |part: &str| {
            let part = part.trim_matches(is_space).replace("\\.", ".");
            let (name, argline) = part.split_once(' ').unwrap_or((&part, ""));
            RendererCall {
                name: name.to_owned(),
                argline: argline.trim_matches(is_space).to_owned(),
            }
        };
        match text.split_once(" . ") {
            Some((data, template)) => Ok(Renderers {
                data: stage(data),
                template: stage(template),
            }),
            None => Err(Error::Usage(format!(
                "the renderer 'stateconf' takes a data renderer, a dot and a template renderer, not '{text}'"
            ))),
        }
    }
}

/// The end of the part of a text that is read first, for what it sets; `None` if nothing marks its end.
///
/// ```
/// use mapstack::stateconf::end_marker;
/// assert_eq!(end_marker("a: 1\n# -- end of state config --\n"), Some(5));
/// assert_eq!(end_marker("# end of state config\n"), None);
/// ```
#[must_use]
pub fn end_marker(text: &str) -> Option<usize> {
    let dashes = |text: &'_ str| -> Option<usize> {
        let inside = text.trim_start_matches(is_space);
        let behind = inside.trim_start_matches('-');
        (behind.len() < inside.len()).then(|| text.len() - behind.len())
    };
    let ends = |text: &str| -> Option<()> {
        let behind = text.get(dashes(text)?..)?.trim_start_matches(is_space);
        dashes(behind.strip_prefix("end of state config")?).map(drop)
    };
    text.match_indices('#')
        .find(|(at, _)| ends(&text[at + 1..]).is_some())
        .map(|(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_come_first() {
        let of = |line: &str| {
            let command = Arguments::parse(line).unwrap();
            let pipe = command.pipe.map(|pipe| {
                let of = |stage: RendererCall| format!("{}({})", stage.name, stage.argline);
                format!("{} {}", of(pipe.data), of(pipe.template))
            });
            let flags = [command.has_goal, command.is_ordered, command.has_start];
            (flags, pipe.unwrap_or_default())
        };
        for (line, flags, pipe) in [
            ("", [true, false, false], "yaml() jinja()"),
            ("-G -o", [false, true, false], "yaml() jinja()"),
            ("-Gos", [false, true, true], "yaml() jinja()"),
            ("-p", [true, false, false], ""),
            ("-p anything", [true, false, false], ""),
            (
                "yaml  -x .  mako a b",
                [true, false, false],
                "yaml(-x) mako(a b)",
            ),
            ("-- json . py", [true, false, false], "json() py()"),
            ("a\\.b . c\\.d", [true, false, false], "a.b() c.d()"),
            ("yaml . a . b", [true, false, false], "yaml() a(. b)"),
        ] {
            assert_eq!(of(line), (flags, pipe.to_owned()), "{line}");
        }
        for line in [
            "-x",
            "--goal",
            "yaml",
            "yaml .",
            ". jinja",
            "-o json . jinja",
            "-",
        ] {
            assert!(
                matches!(Arguments::parse(line), Err(Error::Usage(_))),
                "{line}"
            );
        }
    }

    #[test]
    fn only_a_comment_between_dashes_ends_the_first_part() {
        for (text, at) in [
            ("x\n#---end of state config---", Some(2)),
            ("#\n-\nend of state config\t-", Some(0)),
            ("## - end of state config -", Some(1)),
            ("# - # -- end of state config --", Some(4)),
            ("# - end of state config", None),
            ("- end of state config -", None),
            ("# - end  of state config -", None),
            ("", None),
        ] {
            assert_eq!(end_marker(text), at, "{text}");
        }
    }
}
