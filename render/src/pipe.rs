//! Pipes: the `#!` line, which names the renderers of a file, and the names that these take.

use mapstack_diagnostic::nearest;
use mapstack_value::Value;

/// The renderer of a stage.
///
/// ```
/// use mapstack_render::pipe::Renderer;
/// assert!(Renderer::Yaml.makes_data() && !Renderer::Jinja.makes_data());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Renderer {
    /// Runs Jinja over text.
    Jinja,
    /// Runs Tera over text. Salt has no such renderer.
    Tera,
    /// Runs Mako over text.
    Mako,
    /// Runs a Python module and takes its data.
    Py,
    /// Runs a Python program whose objects describe states.
    Objects,
    /// A renderer of the tree, from `salt://_renderers`.
    Tree,
    /// Renders text by two others, and rewrites the states that it makes.
    Stateconf,
    /// Parses text as YAML.
    Yaml,
    /// Parses text as YAML whose repeated keys are joined.
    Yamlex,
    /// Parses text as JSON.
    Json,
    /// Parses text as TOML.
    Toml,
    /// Refuses every text, as in the reference: MessagePack is bytes.
    Msgpack,
    /// Decrypts texts in data: `gpg` or `nacl`.
    Ciphertext,
}

/// All renderers by name. As in Salt, an unknown name makes the whole pipe empty.
const RENDERERS: &[(&str, Renderer)] = &[
    ("jinja", Renderer::Jinja),
    ("tera", Renderer::Tera),
    ("yaml", Renderer::Yaml),
    ("yamlex", Renderer::Yamlex),
    ("json", Renderer::Json),
    ("toml", Renderer::Toml),
    ("msgpack", Renderer::Msgpack),
    ("mako", Renderer::Mako),
    ("py", Renderer::Py),
    ("stateconf", Renderer::Stateconf),
    ("pyobjects", Renderer::Objects),
    ("gpg", Renderer::Ciphertext),
    ("nacl", Renderer::Ciphertext),
];

/// Renderers of older versions of Salt, which 3008 does not know.
const GONE: [&str; 9] = [
    "aws_kms",
    "cheetah",
    "dson",
    "genshi",
    "hjson",
    "json5",
    "pass",
    "wempy",
    "yaml_odict",
];

impl Renderer {
    /// A renderer that is built in, by its name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        RENDERERS
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, renderer)| *renderer)
    }

    /// True if the renderer makes data. The others make text, though what the tree has can make both.
    #[must_use]
    pub fn makes_data(self) -> bool {
        !matches!(
            self,
            Renderer::Jinja
                | Renderer::Tera
                | Renderer::Mako
                | Renderer::Tree
                | Renderer::Ciphertext
        )
    }
}

/// A stage of a pipe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PipeStage {
    /// The renderer.
    pub renderer: Renderer,
    /// The name in the line.
    pub name: String,
    /// The text after the name.
    pub argline: String,
}

/// A parsed pipe.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Pipe {
    /// The stages, in order.
    pub stages: Vec<PipeStage>,
    /// Names that the options forbid. Their stages are left out.
    pub disallowed: Vec<String>,
    /// An unknown name, which made the pipe empty.
    pub unknown: Option<String>,
}

/// Salt's `renderer_whitelist` and `renderer_blacklist`.
#[derive(Debug, Clone, Default)]
pub struct Allowed {
    /// The renderers that may run; all of them if it is empty.
    pub whitelist: Value,
    /// Those that may not.
    pub blacklist: Value,
}

impl Allowed {
    fn allows(&self, name: &str) -> bool {
        let is_outside = self.whitelist.truthy() && !holds(&self.whitelist, name);
        let is_forbidden = self.blacklist.truthy() && holds(&self.blacklist, name);
        !is_outside && !is_forbidden
    }
}

/// Python's `name in container`.
fn holds(container: &Value, name: &str) -> bool {
    match container {
        Value::Str(text) => text.contains(name),
        Value::List(items) => items.iter().any(|item| item.as_str() == Some(name)),
        Value::Tuple(items) => items.iter().any(|item| item.as_str() == Some(name)),
        Value::Map(map) => map.contains_key(name),
        _ => false,
    }
}

/// Old names of pipes (Salt: `OLD_STYLE_RENDERERS`, including its typing errors).
const OLD_NAMES: &[(&str, &str)] = &[
    ("yaml_jinja", "jinja|yaml"),
    ("yaml_mako", "mako|yaml"),
    ("yaml_wempy", "wempy|yaml"),
    ("json_jinja", "jinja|json"),
    ("json_mako", "mako|json"),
    ("json_wempy", "wempy|json"),
    ("yamlex_jinja", "jinja|yamlex"),
    ("yamlexyamlex_mako", "mako|yamlexyamlex"),
    ("yamlexyamlex_wempy", "wempy|yamlexyamlex"),
];

/// The pipe in the first line of a text (Salt: `template_shebang`).
///
/// ```
/// use mapstack_render::pipe::shebang;
/// assert_eq!(shebang("#!jinja|yaml"), Some("jinja|yaml"));
/// assert_eq!(shebang("#!/bin/sh"), None);
/// ```
#[must_use]
pub fn shebang(first_line: &str) -> Option<&str> {
    if first_line.starts_with("#!/") {
        return None;
    }
    first_line.strip_prefix("#!")?;
    Some(&strip(first_line)[2..])
}

/// The first line, as Python reads it in text mode.
#[must_use]
pub fn first_line(text: &str) -> &str {
    text.split(['\n', '\r']).next().unwrap_or(text)
}

/// Python's `str.strip`.
#[must_use]
pub fn strip(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// Python's `str.split()[0]`.
#[must_use]
pub fn first_word(text: &str) -> Option<&str> {
    text.split(is_space).find(|word| !word.is_empty())
}

fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\x1c'..='\x1f').contains(&c)
}

impl PipeStage {
    /// Names of variables that the renderer cannot be given: what it is called with and passes on has them, and Python
    /// refuses duplicates.
    ///
    /// ```
    /// use mapstack_render::pipe::{Allowed, Pipe};
    /// let pipe = Pipe::parse("jinja|yaml", &Allowed::default(), &|_, _| None);
    /// let refused = pipe.stages.iter().map(|stage| stage.refuses("salt"));
    /// assert_eq!(refused.collect::<Vec<_>>(), [true, false]);
    /// ```
    #[must_use]
    pub fn refuses(&self, name: &str) -> bool {
        OF_LOADER.contains(&name) || self.taken().split(' ').any(|taken| taken == name)
    }

    /// The names that only this renderer takes.
    fn taken(&self) -> &'static str {
        match self.renderer {
            Renderer::Jinja | Renderer::Tera => {
                "template_file to_str salt grains opts pillar proxy from_str tmplsrc"
            }
            Renderer::Mako => "template_file to_str salt grains opts pillar tmplsrc",
            Renderer::Py => {
                "sfn string salt grains opts pillar __salt__ __grains__ __opts__ __pillar__ __env__ __sls__"
            }
            Renderer::Stateconf => "input",
            Renderer::Yaml => "yaml_data",
            Renderer::Json => "json_data",
            Renderer::Toml | Renderer::Yamlex => "sls_data",
            Renderer::Msgpack => "msgpack_data",
            Renderer::Ciphertext if self.name == "gpg" => "gpg_data",
            Renderer::Ciphertext => "nacl_data",
            // Python itself lists what a renderer of the tree takes.
            Renderer::Objects | Renderer::Tree => "",
        }
    }
}

/// Names that no function of the reference can be given: its loader has them (Salt: `LoadedFunc.__call__`).
const OF_LOADER: [&str; 2] = ["self", "_func_or_method"];

/// Names that no pipe can be given: what runs it has them (Salt: `compile_template`).
pub const TAKEN: [&str; 5] = ["template", "renderers", "default", "blacklist", "whitelist"];

impl Pipe {
    /// Parse a pipe (Salt: `check_render_pipe_str`).
    ///
    /// An unknown name makes the pipe empty. `in_tree`: whether the tree has a renderer, if it says anything about the
    /// name; it gets the name, and whether Salt has one.
    ///
    /// ```
    /// use mapstack_render::pipe::{Allowed, Pipe};
    /// let pipe = Pipe::parse("jinja -s | yaml", &Allowed::default(), &|_, _| None);
    /// assert_eq!((&*pipe.stages[0].name, &*pipe.stages[0].argline), ("jinja", "-s"));
    /// ```
    #[must_use]
    pub fn parse(
        text: &str,
        allowed: &Allowed,
        in_tree: &dyn Fn(&str, bool) -> Option<bool>,
    ) -> Self {
        let mut pipe = Pipe::default();
        // An old name with spaces around it is not recognized.
        let text = OLD_NAMES
            .iter()
            .find(|(old, _)| *old == text)
            .map_or(text, |(_, new)| new);
        for part in text.split('|').map(strip) {
            let (name, argline) = part.split_once(' ').unwrap_or((part, ""));
            if !allowed.allows(name) {
                pipe.disallowed.push(name.into());
                continue;
            }
            let own = Renderer::named(name);
            let renderer = match in_tree(name, own.is_some()) {
                Some(has) => has.then_some(Renderer::Tree),
                None => own,
            };
            let Some(renderer) = renderer else {
                pipe.stages.clear();
                pipe.unknown = Some(name.into());
                break;
            };
            pipe.stages.push(PipeStage {
                renderer,
                name: name.into(),
                argline: strip(argline).into(),
            });
        }
        pipe
    }

    /// The renderer whose name is most similar to an unknown one.
    #[must_use]
    pub fn nearest(unknown: &str) -> Option<&'static str> {
        nearest(unknown, RENDERERS.iter().map(|(name, _)| *name))
            .and_then(|near| RENDERERS.iter().find(|(name, _)| *name == near))
            .map(|(name, _)| *name)
    }

    /// True if older versions of Salt have a renderer of a name.
    #[must_use]
    pub fn is_gone(unknown: &str) -> bool {
        GONE.contains(&unknown)
    }

    /// The names of the renderers, for messages.
    #[must_use]
    pub fn present() -> String {
        let names: Vec<_> = RENDERERS.iter().map(|(name, _)| *name).collect();
        names.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Pipe {
        Pipe::parse(
            text,
            &Allowed {
                whitelist: Value::None,
                blacklist: Value::None,
            },
            &|_, _| None,
        )
    }

    #[test]
    fn only_a_line_with_a_name_is_a_pipe() {
        for (line, pipe) in [
            ("#!jinja|yaml", Some("jinja|yaml")),
            ("#!jinja | yaml  \t", Some("jinja | yaml")),
            ("#! jinja", Some(" jinja")),
            ("#!", Some("")),
            ("#!/bin/sh", None),
            (" #!yaml", None),
            ("# yaml", None),
            ("", None),
        ] {
            assert_eq!(shebang(line), pipe, "{line}");
        }
    }

    #[test]
    fn arguments_stand_behind_a_blank() {
        let pipe = parse("jinja -s  x | yaml");
        let shown: Vec<_> = pipe
            .stages
            .iter()
            .map(|s| (&*s.name, &*s.argline))
            .collect();
        assert_eq!(shown, [("jinja", "-s  x"), ("yaml", "")]);
    }

    #[test]
    fn an_unknown_name_empties_the_pipe() {
        for (text, unknown) in [
            ("jinja|ymal", "ymal"),
            ("jinja|", ""),
            ("Jinja", "Jinja"),
            ("jinja\t-s", "jinja\t-s"),
        ] {
            let pipe = parse(text);
            assert_eq!(
                (pipe.stages.len(), pipe.unknown.as_deref()),
                (0, Some(unknown)),
                "{text}"
            );
        }
        assert_eq!(Pipe::nearest("ymal"), Some("yaml"));
        assert_eq!(Pipe::nearest("cheetah"), None);
    }

    #[test]
    fn lists_leave_stages_out() {
        let list = |names: &[&str]| names.iter().copied().collect::<Value>();
        for (whitelist, blacklist, left) in [
            (list(&["yaml"]), Value::None, vec!["yaml"]),
            (list(&[]), list(&["yaml"]), vec!["jinja"]),
            (list(&["yaml", "jinja"]), list(&["jinja"]), vec!["yaml"]),
            (Value::None, "jinja-and-more".into(), vec!["yaml"]),
        ] {
            let pipe = Pipe::parse(
                "jinja|yaml",
                &Allowed {
                    whitelist,
                    blacklist,
                },
                &|_, _| None,
            );
            assert_eq!(
                pipe.stages.iter().map(|s| &*s.name).collect::<Vec<_>>(),
                left
            );
            assert_eq!(pipe.stages.len() + pipe.disallowed.len(), 2);
        }
    }
}
