//! The bytes that plans lead to.

use mapstack::loader::SaltPath;
use mapstack::value::pytext::split::{is_line_break, lines};
use mapstack::{Error, ErrorKind, File, ManagedTemplate, Run};

use crate::content::{Content, of_error};
use crate::minion_files::{AllListed, encoded};
use crate::plan::{ContentPlan, FragmentOrder, From, Marks, Template};
use crate::texts::is_binary;

/// The way in which the bytes of a file are made.
#[derive(Clone, Copy)]
pub enum ContentMethod<'f> {
    /// They are those of a file of the file server, whose URL this is.
    Served(&'f str),
    /// A template makes them.
    Template(Rendering<'f>),
    /// They are made of arguments of the state.
    Arguments,
    /// There are none, or they are not known.
    Nothing,
}

/// The render of a template.
#[derive(Clone, Copy)]
pub struct Rendering<'f>(&'f Template);

impl<'f> Rendering<'f> {
    pub(crate) fn of(template: &'f Template) -> Self {
        Rendering(template)
    }

    /// The file with the template and what it gets, in a run of the saltenv of its state.
    ///
    /// # Errors
    /// The file is not served.
    pub fn parts(self, run: &Run<'_>) -> Result<(File, ManagedTemplate<'f>), Error> {
        let template = self.0;
        let file = match source(run, template) {
            Ok(file) => file,
            Err(Content::Failed(error)) => return Err(*error),
            Err(_) => return Err(Error::new(ErrorKind::File, "the template is not known")),
        };
        Ok((file, managed_template(template)))
    }
}

/// The content that a plan leads to, in a run of the saltenv of its state.
pub(crate) fn content(run: &Run<'_>, plan: &ContentPlan) -> Content {
    match made(run, plan) {
        Ok(Some(bytes)) => Content::Bytes(bytes.into()),
        Ok(None) => Content::Nothing,
        Err(content) => content,
    }
}

fn made(run: &Run<'_>, plan: &ContentPlan) -> Result<Option<Vec<u8>>, Content> {
    match plan {
        ContentPlan::Nothing => Ok(None),
        ContentPlan::Bytes(bytes) => Ok(Some(bytes.to_vec())),
        ContentPlan::Unknown(unknown) => Err(Content::Unknown(unknown.clone())),
        ContentPlan::Failed(why) => Err(failed(Error::new(ErrorKind::DataSource, why.clone()))),
        ContentPlan::Served(url) => served(run, url).map(|file| Some(file.bytes.to_vec())),
        ContentPlan::Template(template) => rendered(run, template).map(Some),
        ContentPlan::Texts(parts, joined) => {
            let mut all = Vec::new();
            for part in parts {
                let made = made(run, part)?;
                if let (ContentPlan::Template(template), Some([])) = (part, made.as_deref()) {
                    return Err(failed(empty(template)));
                }
                all.extend(made);
            }
            Ok(Some(together(&all, joined)))
        }
    }
}

/// The file with a template.
pub(crate) fn source(run: &Run<'_>, template: &Template) -> Result<File, Content> {
    match &template.from {
        From::Url(url) => served(run, url),
        From::Text(text) => Ok(File {
            path: String::new(),
            shown: template.shown.clone(),
            bytes: text.as_bytes().into(),
        }),
    }
}

/// The engine and the variables of a template.
pub(crate) fn managed_template(template: &Template) -> ManagedTemplate<'_> {
    ManagedTemplate {
        engine: &template.engine,
        variables: template.variables.clone(),
        context: template.context.clone(),
    }
}

fn rendered(run: &Run<'_>, template: &Template) -> Result<Vec<u8>, Content> {
    let file = source(run, template)?;
    let is_file = matches!(template.from, From::Url(_));
    // Salt does not render values other than text.
    if is_file && std::str::from_utf8(&file.bytes).is_err() && is_binary(&file.bytes) {
        return Ok(file.bytes.to_vec());
    }
    let text = run
        .managed_text(&file, &managed_template(template))
        .map_err(of_error)?;
    match &template.encoding {
        None => Ok(text.into_bytes()),
        Some((encoding, errors)) => encoded(&text, encoding, errors).map_err(|plan| match plan {
            ContentPlan::Unknown(unknown) => Content::Unknown(unknown),
            ContentPlan::Failed(why) => failed(Error::new(ErrorKind::DataSource, why)),
            _ => Content::Nothing,
        }),
    }
}

fn served(run: &Run<'_>, url: &str) -> Result<File, Content> {
    match run.served_file(url) {
        Ok(Some(file)) => Ok(file),
        Ok(None) => Err(failed(not_served(run, url))),
        Err(error) => Err(of_error(error)),
    }
}

/// The error of a source that the file server does not have, with the reason if it is known.
fn not_served(run: &Run<'_>, url: &str) -> Error {
    let asked = SaltPath::parse(url);
    let saltenv = asked.as_ref().ok().and_then(SaltPath::saltenv);
    let saltenv = saltenv.unwrap_or(run.saltenv()).to_owned();
    let message = format!("the source {url} does not exist in saltenv {saltenv}");
    let mut error = Error::new(ErrorKind::File, message);
    for warning in run.warnings() {
        error = error.note(warning.message);
    }
    let listed = run.engine().extension::<AllListed>();
    let listed = listed.of(run.engine(), &saltenv);
    let path = asked.map(|path| path.to_string()).unwrap_or_default();
    match mapstack_diagnostic::nearest(&path, &listed.files) {
        Some(near) => error.help(format!("did you mean salt://{near}?")),
        None => error,
    }
}

/// The error of a template that prints nothing, where Salt wants a text.
fn empty(template: &Template) -> Error {
    let from = match &template.from {
        From::Url(url) => url,
        From::Text(_) => &template.shown,
    };
    let message = format!("the template {from} prints nothing");
    Error::new(ErrorKind::DataSource, message)
}

fn failed(error: Error) -> Content {
    Content::Failed(Box::new(error))
}

/// The texts of a fragment as one.
fn together(parts: &[Vec<u8>], joined: &FragmentOrder) -> Vec<u8> {
    match joined {
        FragmentOrder::Lines => parts.iter().flat_map(|part| each_line(part)).collect(),
        FragmentOrder::Between(marks) => between(&parts.concat(), marks),
    }
}

/// A text whose lines end as those that Salt adds.
fn each_line(part: &[u8]) -> Vec<u8> {
    match std::str::from_utf8(part) {
        Ok(text) => {
            let lines = lines(text, false, is_line_break).into_iter();
            lines
                .flat_map(|line| [line, "\n"])
                .collect::<String>()
                .into()
        }
        Err(_) => part.to_vec(),
    }
}

/// A block with its marks.
fn between(text: &[u8], marks: &Marks) -> Vec<u8> {
    let text = String::from_utf8_lossy(text).replace("\r\n", "\n");
    let ends = marks.newline.unwrap_or(!text.ends_with('\n'));
    let newline = if ends { "\n" } else { "" };
    let end = marks.end.trim_end_matches(['\r', '\n']);
    format!("{}\n{text}{newline}{end}\n", marks.start).into()
}
