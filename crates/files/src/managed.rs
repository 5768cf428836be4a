//! `file.managed`.

use std::collections::HashSet;
use std::sync::LazyLock;

use mapstack::normalized_mode;
use mapstack_states::StateFunction;
use mapstack_value::{Map, Value};

use crate::accumulators::Accumulators;
use crate::arguments::Chunk;
use crate::attributes::Attributes;
use crate::contents::{ARGUMENTS, Contents, contents};
use crate::file::{ManagedFile, ManagedKind};
use crate::minion_files::{MinionFiles, encoded, is_of_file_server};
use crate::plan::{ContentPlan, From, Template};
use crate::source::FileSource;
use crate::source::{resolve, served, unread};
use crate::unknown::{Reason, Unknown};

/// Parameters of the functions that `file.managed` calls.
const CALLED: [&str; 5] = ["saltenv", "sfn", "ret", "source_sum", "keep_mode"];

/// The arguments that a template does not get as variables.
pub(crate) static PARAMETERS: LazyLock<HashSet<&str>> =
    LazyLock::new(|| parameters_of("managed").chain(CALLED).collect());

/// The parameters of a function of the state module `file`.
pub(crate) fn parameters_of(function: &str) -> impl Iterator<Item = &'static str> {
    let function = StateFunction::named("file", function);
    function
        .into_iter()
        .flat_map(|function| function.arguments().collect::<Vec<_>>())
}

/// Variables that Salt itself gives a template. It refuses arguments with these names.
const TAKEN: [&str; 5] = ["salt", "pillar", "grains", "opts", "tmplsrc"];

/// Salt's template engines.
const ENGINES: [&str; 6] = ["jinja", "mako", "py", "wempy", "genshi", "cheetah"];

/// The file of a state.
pub(crate) fn file(
    minion_files: &MinionFiles<'_>,
    chunk: Chunk<'_>,
    accumulators: &Accumulators,
) -> ManagedFile {
    let mut file = ManagedFile::of(chunk, ManagedKind::File, ContentPlan::Nothing);
    file.attributes = Attributes::owned(chunk.user(), chunk, minion_files);
    file.attributes.mode = mode(chunk, "mode");
    file.attributes.attrs = chunk.text("attrs");
    file.template = chunk.text("template").filter(|_| chunk.is_on("template"));
    file.notes.extend(notes(chunk));
    let (source, refused) = resolve(minion_files, chunk.get("source"), &chunk.saltenv());
    file.source = source;
    let wrong = wrong(minion_files, chunk);
    if wrong.is_none() && refused.is_none() {
        keep_mode(minion_files, chunk, &mut file);
    }
    let slot = || slot(chunk);
    let plan = match wrong.or_else(slot) {
        Some(plan) => plan,
        None => match content(minion_files, chunk, &file) {
            Ok(Some(plan)) | Err(plan) => plan,
            Ok(None) => refused.unwrap_or_else(|| of_source(chunk, &file, accumulators)),
        },
    };
    if matches!(plan, ContentPlan::Nothing) {
        file.notes
            .push("the content is not managed: a file that is missing is made empty".into());
    }
    file.plan = plan;
    file
}

/// The mode in an argument; `None` if it is missing or `keep`.
pub(crate) fn mode(chunk: Chunk<'_>, name: &str) -> Option<String> {
    let mode = chunk.text(name).filter(|_| !is_kept(chunk.get(name)));
    mode.map(|mode| normalized_mode(&mode))
}

fn is_kept(mode: &Value) -> bool {
    mode.as_str()
        .is_some_and(|mode| mode.eq_ignore_ascii_case("keep"))
}

/// Take the mode of the source if the state has `mode: keep`.
pub(crate) fn keep_mode(minion_files: &MinionFiles<'_>, chunk: Chunk<'_>, file: &mut ManagedFile) {
    let argument = match chunk.get("fun").as_str() {
        Some("recurse") => "file_mode",
        _ => "mode",
    };
    let url = file
        .source
        .as_ref()
        .and_then(|source| source.url.as_deref());
    let Some(url) = url.filter(|_| is_kept(chunk.get(argument))) else {
        return;
    };
    if !is_of_file_server(url) {
        file.mode_unknown = Some(unread(url));
        return;
    }
    file.keeps_mode = true;
    match minion_files.mode(url, &chunk.saltenv()) {
        Ok(mode) => file.attributes.mode = Some(mode),
        Err(unknown) => file.mode_unknown = Some(unknown),
    }
}

/// Notes about conditions under which the file is written.
pub(crate) fn notes(chunk: Chunk<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    if !chunk.is_not_off("replace") {
        notes.push("an existing file keeps its content ('replace' is off)".to_owned());
    }
    if !chunk.is_not_off("create") {
        notes.push("only an existing file is changed ('create' is off)".to_owned());
    }
    if let Some(command) = chunk.text("check_cmd") {
        notes.push(format!(
            "written only if '{command}' accepts it ('check_cmd')"
        ));
    }
    notes
}

/// The first reason for which Salt refuses the arguments.
fn wrong(minion_files: &MinionFiles<'_>, chunk: Chunk<'_>) -> Option<ContentPlan> {
    let is_given = |name: &str| !chunk.get(name).is_none();
    let given: Vec<&&str> = ARGUMENTS.iter().filter(|name| is_given(name)).collect();
    let path = chunk.path();
    let why = match &given[..] {
        _ if path.is_empty() => "the name is empty".to_owned(),
        _ if minion_files.is_on_windows() && is_given("mode") => {
            "'mode' is not supported on Windows".to_owned()
        }
        _ if minion_files.is_on_windows() && is_given("attrs") => {
            "'attrs' is not supported on Windows".to_owned()
        }
        [one, ..] if chunk.is_on("source") => format!("'source' and '{one}' exclude each other"),
        [one, ..] if is_kept(chunk.get("mode")) => {
            format!("'mode: keep' and '{one}' exclude each other")
        }
        [one, other, ..] => format!("'{one}' and '{other}' exclude each other"),
        _ if !minion_files.is_absolute(&path) => format!("{path} is not an absolute path"),
        _ => return wrong_variables(chunk),
    };
    Some(ContentPlan::failed(why))
}

/// The variables for which Salt refuses a file.
pub(crate) fn wrong_variables(chunk: Chunk<'_>) -> Option<ContentPlan> {
    let is_map = |name: &str| chunk.get(name).as_map().is_some();
    if !chunk.get("context").is_none() && !is_map("context") {
        return Some(ContentPlan::failed("'context' is not a mapping"));
    }
    let is_wrong = chunk.is_on("defaults") && !is_map("defaults");
    is_wrong.then(|| ContentPlan::failed("'defaults' is not a mapping"))
}

/// The plan of a state with a slot, an argument that a function computes when the state runs.
pub(crate) fn slot(chunk: Chunk<'_>) -> Option<ContentPlan> {
    let name = chunk.slot()?;
    let why = format!("'{name}' is computed by a function when the state runs");
    Some(ContentPlan::Unknown(Unknown::new(Reason::Slot, why)))
}

/// The encoding of a state, and its handling of characters that the encoding lacks.
pub(crate) fn encoding(chunk: Chunk<'_>) -> Option<(String, String)> {
    let encoding = chunk.text("encoding").filter(|_| chunk.is_on("encoding"))?;
    let errors = chunk
        .text("encoding_errors")
        .unwrap_or_else(|| "strict".into());
    Some((encoding, errors))
}

/// The bytes of a text in the encoding of a state.
pub(crate) fn in_encoding(text: &str, chunk: Chunk<'_>) -> Result<ContentPlan, ContentPlan> {
    Ok(ContentPlan::bytes(match encoding(chunk) {
        Some((encoding, errors)) => encoded(text, &encoding, &errors)?,
        None => text.as_bytes().to_vec(),
    }))
}

/// The content that an argument of the state gives.
fn content(
    minion_files: &MinionFiles<'_>,
    chunk: Chunk<'_>,
    file: &ManagedFile,
) -> Result<Option<ContentPlan>, ContentPlan> {
    let text = match contents(minion_files, chunk)? {
        None => return Ok(None),
        Some(Contents::Bytes(bytes)) => return Ok(Some(ContentPlan::bytes(bytes))),
        Some(Contents::Text(text)) => text,
    };
    let Some(engine) = &file.template else {
        return in_encoding(&text, chunk).map(Some);
    };
    if engine == "py" {
        return Err(ContentPlan::failed(
            "the template engine 'py' takes a source, not contents",
        ));
    }
    known(engine)?;
    Ok(Some(ContentPlan::Template(Box::new(Template {
        engine: engine.clone(),
        from: From::Text(text),
        shown: format!("the contents of '{}'", file.state.id),
        variables: Map::new(),
        context: context(chunk),
        encoding: encoding(chunk),
    }))))
}

/// Check that an engine exists, in Salt or here.
pub(crate) fn known(engine: &str) -> Result<(), ContentPlan> {
    match ENGINES.contains(&engine) || engine == "tera" {
        true => Ok(()),
        false => Err(ContentPlan::failed(format!(
            "Salt has no template engine '{engine}'"
        ))),
    }
}

/// The variables that override all others.
pub(crate) fn context(chunk: Chunk<'_>) -> Map {
    let given = ["defaults", "context"].into_iter();
    let given = given.filter_map(|name| chunk.get(name).as_map()).flatten();
    given
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

/// The plan for the bytes of the source.
fn of_source(chunk: Chunk<'_>, file: &ManagedFile, accumulators: &Accumulators) -> ContentPlan {
    let url = |source: &FileSource| source.url.clone();
    let Some(url) = file.source.as_ref().and_then(url) else {
        return ContentPlan::Nothing;
    };
    let others = chunk.others(&PARAMETERS);
    template_or_file(chunk, file, accumulators, &url, others)
}

/// The plan for the bytes of a source, which may be a template. Arguments that the function does not have are
/// variables.
pub(crate) fn template_or_file(
    chunk: Chunk<'_>,
    file: &ManagedFile,
    accumulators: &Accumulators,
    url: &str,
    others: Map,
) -> ContentPlan {
    let on = |name: &str| chunk.is_on(name);
    let plain = served(
        url,
        on("source_hash") || on("skip_verify") || on("use_etag"),
    );
    let Some(engine) = file
        .template
        .as_ref()
        .filter(|_| matches!(plain, ContentPlan::Served(_)))
    else {
        return plain;
    };
    if let Err(plan) = known(engine) {
        return plan;
    }
    if let Some(name) = TAKEN.iter().find(|name| others.contains_key(**name)) {
        return ContentPlan::failed(format!(
            "Salt has a variable '{name}' of its own, so the state cannot have it as an argument"
        ));
    }
    let mut variables = others;
    let mut set = |name: &str, value: Value| drop(variables.insert(name, value));
    set("name", file.path.clone().into());
    set("source", url.into());
    set("user", file.attributes.user.clone());
    set("group", file.attributes.group.clone());
    let mode = file
        .attributes
        .mode
        .clone()
        .filter(|_| !is_kept(chunk.get("mode")) && !is_kept(chunk.get("file_mode")));
    set("mode", mode.map_or(Value::None, Value::from));
    set("attrs", chunk.get("attrs").clone());
    let mut context = context(chunk);
    if let Some(texts) = accumulators.texts(&file.path) {
        context.insert("accumulator", texts);
    }
    ContentPlan::Template(Box::new(Template {
        engine: engine.clone(),
        from: From::Url(url.to_owned()),
        shown: String::new(),
        variables,
        context,
        encoding: None,
    }))
}
