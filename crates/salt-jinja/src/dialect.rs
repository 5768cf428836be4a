//! Salt's environments as dialects of Jinja2.

use std::sync::Arc;

use mapstack_jinja::ast::Template;
use mapstack_jinja::{
    Builtins, Conversion, DO, Dialect, Host, LOOP_CONTROLS, NamedFunction, Request, SourceMap,
    Syntax, SyntaxError, Tag, TagForm, Vm, load_below,
};
use mapstack_pyobject::{Error, ErrorKind, Obj, OperandReads, Result};
use mapstack_value::Str;

use crate::serial::DataFormat;
use crate::{builtins, filters, header, load, print, serial};

/// Salt's environment (Salt: `render_jinja_tmpl`): sandboxed, with all of Salt's tags, filters, tests and globals.
#[derive(Debug, Clone, Copy, Default)]
pub struct Salt;

/// Jinja2's own environment with `do` and Salt's serialisers, as PillarStack sets it up: no loop controls,
/// Jinja2's `min`, `max`, `unique` and `tojson`, templates by paths from one directory; the newline at the end of a
/// template is dropped.
#[derive(Debug, Clone, Copy, Default)]
pub struct PillarStack;

/// A tag that reads what its body prints.
const fn load_tag(name: &'static str) -> Tag {
    let form = TagForm::Load { end: &["endload"] };
    Tag { name, form }
}

/// A tag that reads what a template prints.
const fn import_tag(name: &'static str) -> Tag {
    let form = TagForm::ImportData;
    Tag { name, form }
}

const PROFILE: Tag = Tag {
    name: "profile",
    form: TagForm::Labelled {
        end: &["endprofile"],
    },
};

const STACK_TAGS: [Tag; 8] = [
    DO,
    import_tag("import_json"),
    import_tag("import_text"),
    import_tag("import_yaml"),
    load_tag("load_json"),
    load_tag("load_text"),
    load_tag("load_yaml"),
    PROFILE,
];

const SALT_TAGS: [Tag; 10] = {
    let [a, b, c, d, e, f, g, h] = STACK_TAGS;
    let [i, j] = LOOP_CONTROLS;
    [a, b, c, d, e, f, g, h, i, j]
};

impl Dialect for Salt {
    fn name(&self) -> &'static str {
        "salt"
    }

    fn tags(&self) -> &'static [Tag] {
        &SALT_TAGS
    }

    fn builtins(&self) -> &'static Builtins {
        &builtins::SALT
    }

    fn is_sandboxed(&self) -> bool {
        true
    }

    fn keeps_final_newline(&self) -> bool {
        true
    }

    fn prepare(&self, source: &mut Arc<str>, syntax: &mut Syntax, warn: &dyn Fn(&str)) {
        header::apply(source, syntax, warn);
    }

    fn load(&self, vm: &Vm<'_>, name: &Str) -> Result<(Str, Arc<str>)> {
        load::from_file_server(vm, name)
    }

    fn print(&self, object: &Obj) -> Result<String> {
        print::finalize(object)
    }

    fn read(&self, vm: &Vm<'_>, tag: &str, text: &Obj, map: &SourceMap) -> Result<Obj> {
        read(vm, tag, text, map)
    }

    fn about_import(&self, tag: &str, file: &str) -> Option<String> {
        about_import(tag, file)
    }

    fn reads(&self, kind: NamedFunction, name: &str) -> OperandReads {
        filters::reads(kind, name)
    }

    fn converts(&self, filter: &str) -> Option<Conversion> {
        filters::converts(filter)
    }
}

impl Dialect for PillarStack {
    fn name(&self) -> &'static str {
        "pillarstack"
    }

    fn tags(&self) -> &'static [Tag] {
        &STACK_TAGS
    }

    fn builtins(&self) -> &'static Builtins {
        &builtins::PILLAR_STACK
    }

    fn load(&self, vm: &Vm<'_>, name: &Str) -> Result<(Str, Arc<str>)> {
        load_below(vm, name, "the directory of the config file")
    }

    fn print(&self, object: &Obj) -> Result<String> {
        print::finalize(object)
    }

    fn read(&self, vm: &Vm<'_>, tag: &str, text: &Obj, map: &SourceMap) -> Result<Obj> {
        read(vm, tag, text, map)
    }

    fn about_import(&self, tag: &str, file: &str) -> Option<String> {
        about_import(tag, file)
    }

    fn converts(&self, filter: &str) -> Option<Conversion> {
        filters::converts(filter)
    }
}

/// The value that a tag reads from text (Salt: `SerializerExtension`).
fn read(vm: &Vm<'_>, tag: &str, text: &Obj, map: &SourceMap) -> Result<Obj> {
    match DataFormat::of_tag(tag) {
        Some(format) => serial::load_mapped(vm, format, text, map),
        None => Err(Error::new(
            ErrorKind::Syntax,
            format!("the tag '{tag}' reads no data"),
        )),
    }
}

/// A note for data that does not parse: it names the imported file, which has the mistake.
fn about_import(tag: &str, file: &str) -> Option<String> {
    let format = DataFormat::of_tag(tag)?.name();
    Some(format!(
        "salt://{file} was rendered and then read as {format}"
    ))
}

/// A request with Salt's settings: strict, default syntax and limits, no variables.
pub fn request<'r>(source: impl Into<Arc<str>>, host: &'r dyn Host) -> Request<'r> {
    Request {
        strict: true,
        ..Request::new(&Salt, source, host)
    }
}

/// [`mapstack_jinja::compile`] for templates of Salt: with their `#jinja2:` header.
///
/// # Errors
/// An error of Jinja's compiler, with the place in the source.
///
/// ```
/// use mapstack_salt_jinja::{Syntax, compile};
/// let e = compile(None, "a\n{{ x|to_bol }}".into(), &Syntax::default()).unwrap_err();
/// assert_eq!(e.to_string(), "Jinja syntax error: No filter named 'to_bol'.");
/// assert_eq!(e.help.as_deref(), Some("did you mean 'to_bool'?"));
/// ```
pub fn compile(name: Option<&Str>, source: Arc<str>, syntax: &Syntax) -> Result<Arc<Template>> {
    mapstack_jinja::compile(&Salt, name, source, syntax, true)
}

/// [`mapstack_jinja::parse`] with Salt's tags.
///
/// # Errors
/// The text is not a template.
pub fn parse(source: &str, name: Option<&str>, syntax: &Syntax) -> Result<Template, SyntaxError> {
    mapstack_jinja::parse(source, name, syntax, &SALT_TAGS)
}
