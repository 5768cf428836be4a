//! `saltclass`: nodes and the classes they inherit from (Salt: `salt.pillar.saltclass`, which Salt 3008 no longer has).

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use crate::classes::Host;
use crate::classes::saltclass::{Inventory, Setters};
use mapstack::{File, OtherTemplate, Text};
use mapstack_diagnostic::{Diagnostic, Error, ErrorKind, Place, Result};
use mapstack_loader::Fetched;
use mapstack_pyobject::{DictRef, ErrorKind as RenderErrorKind, Obj};
use mapstack_salt_config::disk::FileTree;
use mapstack_salt_jinja::{Jinja2, Names, Syntax, render};
use mapstack_value::posixpath::{join, split};
use mapstack_value::{Str, Value};

use super::arguments::wrong;
use super::asked::ExternalPillarInput;
use crate::files::unreadable;
use crate::recipe::{ExternalParts, OwnPillarResult};
use crate::template::without_final_newline;

/// The data that the inventory gives the minion. Its classes change the pillar so far in place, whether it fails or
/// not.
pub(crate) fn data(asked: &ExternalPillarInput<'_, '_>) -> Result<OwnPillarResult> {
    let path = directory(asked)?;
    let Obj::Dict(pillar) = asked.run.live_pillar() else {
        return Ok(OwnPillarResult::default());
    };
    let tree = (asked.tree)(&path);
    let minion_id = asked.id();
    let reading = SaltclassReading {
        asked,
        tree: &tree,
        variables: variables(asked),
        texts: RefCell::default(),
        paths: RefCell::default(),
        steps: Cell::new(0),
    };
    let setters = RefCell::<Setters>::default();
    let inventory = Inventory {
        host: &reading,
        path: &path,
        minion_id: &minion_id,
        pillar: &pillar,
        keeps_nested: asked
            .run
            .engine()
            .salt_version()
            .behaviour()
            .keeps_nested_classes,
        setters: asked.is_explained.then_some(&setters),
    };
    let made = inventory.classify();
    let synced = asked.run.sync_facts().map_err(|e| {
        Error::new(ErrorKind::Template, e.to_string())
            .note("templates of classes changed the facts to this")
    });
    let made = made.map_err(|e| e.note(in_inventory(&path)))?;
    synced?;
    asked.run.spend(reading.steps.get())?;
    let parts = ExternalParts::of_classes(&made.origins, reading.texts.take(), "pillars");
    Ok(OwnPillarResult {
        data: made.into_pillar(&minion_id).into(),
        parts,
    })
}

fn in_inventory(path: &str) -> String {
    format!("in the inventory {path}")
}

/// The directory of the inventory: that of the last argument. The reference has a default, but fails when it uses it.
fn directory(asked: &ExternalPillarInput<'_, '_>) -> Result<String> {
    let wrong = |message: &str| {
        wrong(asked.one, message).help("write it as `- saltclass: [{path: /srv/saltclass}]`")
    };
    let Value::List(items) = &asked.one.arguments else {
        let what = asked.one.arguments.kind().described();
        return Err(wrong(&format!(
            "its argument must be a list with a mapping, not {what}"
        )));
    };
    let mut directory = None;
    for item in items.iter() {
        let path = item.as_map().and_then(|item| item.get("path"));
        directory = Some(path.ok_or_else(|| wrong("an item of its list has no `path`"))?);
    }
    match directory {
        Some(Value::Str(path)) => Ok(path.to_string()),
        Some(other) => {
            let what = other.kind().described();
            Err(wrong(&format!("`path` must be a directory, not {what}")))
        }
        None => Err(wrong("it needs the argument `path`")),
    }
}

/// The variables of templates of nodes and classes.
fn variables(asked: &ExternalPillarInput<'_, '_>) -> Names {
    let of = |name: &str, value: Obj| (Str::from(name), value);
    let opts = asked.opts.clone();
    Names::from_iter([
        of("__opts__", Obj::Dict(DictRef::lazy(move || opts))),
        of("__salt__", asked.run.live_salt()),
        of("__grains__", asked.run.live_grains()),
        of("__pillar__", asked.run.live_pillar()),
        of("minion_id", Obj::from(asked.run.given_id())),
    ])
}

/// The reading of the files of one inventory.
struct SaltclassReading<'r, 'e> {
    asked: &'r ExternalPillarInput<'r, 'e>,
    tree: &'r FileTree,
    variables: Names,
    /// The texts that were read, by path, if the compile is explained.
    texts: RefCell<HashMap<String, (Text<'static>, Value)>>,
    /// The paths that were read.
    paths: RefCell<Vec<String>>,
    /// Work that is not paid yet.
    steps: Cell<usize>,
}

/// So much work is paid at once.
const AT_ONCE: usize = 4096;

impl Host<Obj> for SaltclassReading<'_, '_> {
    fn tree(&self) -> &FileTree {
        self.tree
    }

    fn read(&self, path: &str) -> Result<Obj> {
        let Some(file) = self.file(path, split(path).1)? else {
            let message = format!("{path} is not a regular file");
            return Err(Error::new(ErrorKind::File, message).help("is a link broken?"));
        };
        self.paths.borrow_mut().push(path.into());
        let text = self.rendered(split(path).0, &file)?;
        let loaded = self
            .asked
            .cache
            .document(text.as_str(), || mapstack_yaml::load(text.as_str()));
        let loaded = loaded.map_err(|e| {
            let run = self.asked.run;
            let error = text.yaml_error(&e);
            error.with_files(|name| run.on_disk(name.strip_prefix("salt://")?))
        })?;
        if self.asked.is_explained {
            self.texts
                .borrow_mut()
                .insert(path.into(), (text.into_owned(), loaded.clone()));
        }
        Ok(Obj::from_shared(&loaded))
    }

    fn spend(&self, steps: usize) -> Result<()> {
        self.steps.set(self.steps.get() + steps);
        match self.steps.get() >= AT_ONCE {
            true => self.asked.run.spend(self.steps.take()),
            false => Ok(()),
        }
    }

    fn place(&self, path: &str, keys: &[&str]) -> Option<Place> {
        let file = self.file(path, split(path).1).ok()??;
        Some(Place::of_keys(file.shown.clone(), file.text().ok()?, keys))
    }

    fn place_of_text(&self, text: &str) -> Option<Place> {
        let paths = self.paths.borrow();
        paths.iter().find_map(|path| {
            let file = self.file(path, split(path).1).ok()??;
            let source = file.text().ok()?;
            let start = source.find(text)?;
            Some(Place {
                file: file.shown.clone(),
                source: source.into(),
                start,
                end: start + text.len(),
            })
        })
    }

    fn warn(&self, warning: Diagnostic) {
        let of_option = || self.asked.one.place.clone();
        self.asked.run.warn(Diagnostic {
            place: warning.place.clone().or_else(of_option),
            ..warning
        });
    }
}

impl SaltclassReading<'_, '_> {
    /// A file that templates know by a name.
    fn file(&self, path: &str, name: &str) -> Result<Option<File>> {
        let read = self.tree.read(path).map_err(|e| unreadable(&e))?;
        Ok(match read {
            Fetched::Found { on_disk, bytes } => Some(File {
                path: name.into(),
                shown: on_disk.display().to_string(),
                bytes,
            }),
            Fetched::Missing | Fetched::Refused { .. } | Fetched::Unusable { .. } => None,
        })
    }

    /// The output of a file's template, which finds others by their paths from the directory.
    fn rendered<'f>(&self, directory: &str, file: &'f File) -> Result<Text<'f>> {
        let source = file.text()?;
        if !Syntax::has_marks(source) {
            return Ok(Text::plain(file, without_final_newline(source)));
        }
        let run = self.asked.run;
        let find = |name: &str| self.further(directory, name);
        let template = OtherTemplate {
            file,
            source,
            variables: self.variables.clone(),
            locals: Names::default(),
            dialect: &Jinja2,
            find: &find,
        };
        let rendered = run.with_request(template, render);
        let rendered = rendered.map_err(|e| run.template_error(*e, file))?;
        Ok(Text::rendered(file, rendered.text, rendered.map))
    }

    fn further(&self, directory: &str, name: &str) -> mapstack_pyobject::Result<Option<Arc<str>>> {
        let failed = |e: Error| {
            mapstack_pyobject::Error::new(
                RenderErrorKind::TemplateNotFound,
                &*e.diagnostic().message,
            )
        };
        let Some(file) = self.file(&join(directory, name), name).map_err(failed)? else {
            return Ok(None);
        };
        self.asked
            .run
            .note_on_disk(name, PathBuf::from(&file.shown));
        Ok(Some(file.text().map_err(failed)?.into()))
    }
}
