//! Conditions on minions, written as an expression of Jinja.

use std::sync::Arc;

use mapstack_minion::Minion;
use mapstack_salt_jinja::{Syntax, ast::StmtKind, parse};

use crate::engine::Engine;
use crate::file::File;
use crate::render::{Job, Language};
use mapstack_diagnostic::{Error, ErrorKind, Place, Result};

/// An expression that is true for some minions: `grains.os_family == 'Debian' and 'web' in id`.
///
/// The variables are `grains`, `pillar`, `opts`, `id` and `salt`. Expressions can do what they can do in templates,
/// within the same limits. A missing fact is undefined: it is false and equal to nothing. Looking up something in a
/// missing fact is an error.
///
/// ```
/// use mapstack::{Condition, Engine, loader::MemoryFiles, minion::Minion};
/// let engine = Engine::new(MemoryFiles::new());
/// let minion = Minion::parse(b"id: web1\ngrains: {os: Debian, roles: [web]}\n", "web1.yaml").unwrap().complete();
/// let holds = |text| engine.holds(&Condition::parse(text).unwrap(), &minion).unwrap();
/// assert!(holds("grains.os == 'Debian' and 'web' in grains.roles"));
/// assert!(!holds("id is match('db') or grains.virtual"));
/// assert!(Condition::parse("grains.os = 'Debian'").is_err());
/// ```
#[derive(Debug, Clone)]
pub struct Condition {
    text: Arc<str>,
    template: Arc<File>,
}

/// The template around the expression.
const BEFORE: &str = "{% if ";
const AFTER: &str = " %}1{% endif %}";
/// The name of the template in errors.
const NAME: &str = "condition";

impl Condition {
    /// Parse an expression.
    ///
    /// # Errors
    /// The text is not an expression, or is more than one.
    pub fn parse(text: &str) -> Result<Self> {
        let source = format!("{BEFORE}{text}{AFTER}");
        let bytes: Arc<[u8]> = source.as_bytes().into();
        let file = File {
            path: NAME.into(),
            shown: NAME.into(),
            bytes,
        };
        let condition = Condition {
            text: text.into(),
            template: Arc::new(file),
        };
        let refused = |message: String, start: usize, end: usize| {
            let place = Place {
                file: NAME.into(),
                source: source.as_str().into(),
                start,
                end,
            };
            condition.located(Error::new(ErrorKind::Template, message).at(Some(place)))
        };
        let parsed = parse(&source, None, &Syntax::default()).map_err(|e| {
            refused(
                e.message.clone(),
                e.span.start as usize,
                e.span.end as usize,
            )
            .help("write an expression as in a template, such as: grains.os == 'Debian'")
        })?;
        let is_one = match parsed.body.as_slice() {
            [only] => match &only.kind {
                StmtKind::If { arms, otherwise } => {
                    let is_own = |body: &[mapstack_salt_jinja::ast::Stmt]| matches!(body, [text] if matches!(&text.kind, StmtKind::Text(text) if &**text == "1"));
                    matches!(arms.as_slice(), [(_, body)] if is_own(body)) && otherwise.is_empty()
                }
                _ => false,
            },
            _ => false,
        };
        match is_one {
            true => Ok(condition),
            false => Err(refused(
                "this is more than one expression".into(),
                BEFORE.len(),
                source.len(),
            )),
        }
    }

    /// The expression as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Move the places of an error from the template into the expression.
    fn located(&self, e: Error) -> Error {
        e.with_places(|place| {
            if place.file == NAME {
                let inside = |at: usize| at.saturating_sub(BEFORE.len()).min(self.text.len());
                place.source = self.text.clone();
                (place.start, place.end) = (inside(place.start), inside(place.end));
            }
        })
    }
}

impl Engine {
    /// True if a condition is true for a minion. Warnings of its functions are dropped.
    ///
    /// # Errors
    /// The expression fails, for example because it looks up something in a missing fact.
    pub fn holds(&self, condition: &Condition, minion: &Minion) -> Result<bool> {
        let mut run = self.run(minion);
        // Missing grains must not be errors: few minions have every grain.
        run.jinja.strict = false;
        let mut variables = run.common_variables(&run.saltenv);
        variables.insert("id".into(), minion.id().into());
        let (syntax, saltenv) = (Syntax::default(), run.saltenv.clone());
        let job = Job {
            language: Language::Jinja,
            variables,
            syntax: &syntax,
            saltenv: &saltenv,
            edit_log: None,
        };
        let file = &*condition.template;
        let printed = run.run_template(file, &file.text()?.into(), job, Vec::new());
        printed
            .map(|text| !text.as_str().is_empty())
            .map_err(|e| condition.located(e))
    }
}
