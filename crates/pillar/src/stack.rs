//! The fold over config files and the data files they list.

use std::cell::RefCell;
use std::sync::Arc;

use mapstack_loader::Fetched;
use mapstack_merge::Aliases;
use mapstack_merge::stack::{MARKER, StackError, StackStrategy, merge_into};
use mapstack_salt_config::disk::FileTree;
use mapstack_value::posixpath::split;
use mapstack_value::{Key, Map, Value};
use mapstack_yaml::{Limits, Loaded, Mark, load_document};

use super::StackKind;
use super::cache::StackCache;
use super::files::{Base, DataFile, NamedFile, unreadable};
use super::items::{DataFileItem, items};
use super::recipe::StackedFile;
use super::select::SelectedFile;
use super::template::Templates;
use super::trace::{FileOutcome, PillarEvent, StackEvent};
use mapstack::File;
use mapstack::Run;
use mapstack::Text;
use mapstack::parted_aliases;
use mapstack_diagnostic::{Diagnostic, Error, ErrorKind, Result};

/// One external pillar at work.
pub(crate) struct Stacking<'s, 'e> {
    pub run: &'s Run<'e>,
    pub cache: &'s StackCache,
    pub kind: StackKind,
    pub tree: &'s FileTree,
    pub opts: &'s Map,
    pub events: &'s RefCell<Vec<PillarEvent>>,
    /// The mappings that files so far have at several places by YAML anchors.
    pub aliases: RefCell<Aliases>,
    /// The effect of each file, if the compile is explained.
    pub done: Option<RefCell<Vec<StackedFile>>>,
}

/// The error of a template that left something in place of the stack.
fn no_stack(stack: &Value) -> Error {
    let what = stack.kind().described();
    let message = format!("the stack became {what}, not a mapping");
    Error::new(ErrorKind::DataSource, message).help("templates may change `stack` in place only")
}

impl Stacking<'_, '_> {
    /// The data of the config files, one after the other.
    pub fn stack(&self, chosen: &[SelectedFile]) -> Result<Map> {
        let mut stack = Value::Map(self.cache.merged.empty());
        for config in chosen {
            let read = self.config_file(&config.path);
            let found = !matches!(read, Ok(None));
            self.record(StackEvent::Config {
                kind: self.kind,
                path: config.path.clone(),
                selected_by: config.selected_by.clone(),
                graft: config.graft.clone(),
                found,
            });
            if let Some(read) = read? {
                self.config(config, &read, &mut stack)?;
            } else {
                let message = format!(
                    "{} is not a file, so {} leaves it out",
                    config.path,
                    self.kind.title()
                );
                self.run.warn(Diagnostic::warning(ErrorKind::File, message));
            }
        }
        match stack {
            Value::Map(stack) => Ok(stack),
            other => Err(no_stack(&other)),
        }
    }

    /// A config file; `None` if it does not exist.
    fn config_file(&self, path: &str) -> Result<Option<File>> {
        if !self.tree.is_file(path).map_err(|e| unreadable(&e))? {
            return Ok(None);
        }
        let read = self.tree.read_named(path);
        let Fetched::Found { on_disk, bytes } = read.map_err(|e| unreadable(&e))? else {
            let message = format!("{path} is no longer a file");
            return Err(Error::new(ErrorKind::File, message));
        };
        Ok(Some(File {
            path: split(path).1.into(),
            shown: on_disk.display().to_string(),
            bytes,
        }))
    }

    fn config(&self, config: &SelectedFile, file: &File, stack: &mut Value) -> Result<()> {
        let base = Base {
            directory: split(&config.path).0,
            tree: self.tree,
        };
        let templates = Templates::new(self.run, base, self.kind, &config.path, self.opts);
        let text = self.rendered(&templates, file, stack, None)?;
        let one = OneConfig {
            stacking: self,
            base,
            templates: &templates,
            text: &text,
            graft: graft(config),
        };
        for item in self
            .items(&text)
            .map_err(|e| templates.with_files(e))?
            .iter()
        {
            if item.name.trim().is_empty() {
                continue;
            }
            match self.kind {
                StackKind::PillarStack => one.pattern(item, stack)?,
                StackKind::MakoStack => one.name(item, stack)?,
            }
        }
        Ok(())
    }

    /// The output of a file's template, which may change the stack in place.
    fn rendered<'f>(
        &self,
        templates: &Templates<'_, '_>,
        file: &'f File,
        stack: &mut Value,
        ymlpath: Option<&str>,
    ) -> Result<Text<'f>> {
        let before = self.done.as_ref().map(|_| stack.clone());
        let rendered = templates.render(file, stack, ymlpath);
        if before.is_some_and(|before| !before.is_same(stack)) {
            let source = file.text().unwrap_or_default();
            self.note(|| StackedFile {
                path: file.shown.clone(),
                text: Text::plain(file, source).into_owned(),
                merged: None,
                stack: stack.clone(),
            });
        }
        rendered
    }

    /// Keep what a file did, if that is wanted.
    fn note(&self, file: impl FnOnce() -> StackedFile) {
        if let Some(done) = &self.done {
            done.borrow_mut().push(file());
        }
    }

    /// The items of a config file. Many minions have the same text.
    fn items(&self, text: &Text<'_>) -> Result<Arc<[DataFileItem]>> {
        if let Some(known) = self.cache.listed.get(text.as_str()) {
            return Ok(known);
        }
        let items: Arc<[DataFileItem]> = items(text, self.kind)?.into();
        self.cache.listed.put(text.as_str(), items.clone());
        Ok(items)
    }

    fn record(&self, event: StackEvent) {
        self.events.borrow_mut().push(event.into());
    }
}

/// The keys that a config file's data goes below.
fn graft(config: &SelectedFile) -> Vec<Key> {
    config
        .graft
        .as_deref()
        .map(|path| path.split(':').map(Key::from).collect())
        .unwrap_or_default()
}

/// A config file that was read.
struct OneConfig<'c, 'e> {
    stacking: &'c Stacking<'c, 'e>,
    base: Base<'c>,
    templates: &'c Templates<'c, 'e>,
    text: &'c Text<'c>,
    graft: Vec<Key>,
}

impl OneConfig<'_, '_> {
    /// Merge the files of an item of PillarStack.
    fn pattern(&self, item: &DataFileItem, stack: &mut Value) -> Result<()> {
        let files = self
            .base
            .matching(&item.name)
            .map_err(|e| self.here(e, item))?;
        if files.is_empty() {
            self.outcome(item, None, FileOutcome::Missing);
            self.warn_of_blanks(item);
        }
        for data in &files {
            let merged = self.merge(data, item, stack);
            let outcome = merged.inspect_err(|e| {
                self.outcome(
                    item,
                    Some(data),
                    FileOutcome::Failed(e.diagnostic().message.clone()),
                );
            })?;
            self.outcome(item, Some(data), outcome);
        }
        Ok(())
    }

    /// Merge the file of an item of MakoStack. One that fails is left out.
    fn name(&self, item: &DataFileItem, stack: &mut Value) -> Result<()> {
        let data = match self.base.named(&item.name)? {
            NamedFile::File(data) => data,
            NamedFile::Missing => {
                self.outcome(item, None, FileOutcome::Missing);
                return Ok(());
            }
            NamedFile::Refused(data) => {
                let error = Error::new(ErrorKind::Template, "its name leads up by `..`");
                self.drop(item, &data, &self.here(error, item));
                return Ok(());
            }
        };
        match self.merge(&data, item, stack) {
            Ok(outcome) => self.outcome(item, Some(&data), outcome),
            Err(e) if is_swallowed(e.kind()) => self.drop(item, &data, &e),
            Err(e) => {
                self.outcome(
                    item,
                    Some(&data),
                    FileOutcome::Failed(e.diagnostic().message.clone()),
                );
                return Err(e);
            }
        }
        Ok(())
    }

    /// Go on without a file, as MakoStack does, and say so.
    fn drop(&self, item: &DataFileItem, data: &DataFile, error: &Error) {
        let diagnostic = error.diagnostic();
        let message = format!("MakoStack leaves {} out: {}", data.path, diagnostic.message);
        let warning = Diagnostic::warning(diagnostic.kind, message);
        let Diagnostic {
            place,
            trace,
            notes,
            help,
            ..
        } = diagnostic.clone();
        self.stacking.run.warn(Diagnostic {
            place,
            trace,
            notes,
            help,
            ..warning
        });
        self.outcome(
            item,
            Some(data),
            FileOutcome::Dropped(diagnostic.message.clone()),
        );
    }

    fn merge(
        &self,
        data: &DataFile,
        item: &DataFileItem,
        stack: &mut Value,
    ) -> Result<FileOutcome> {
        let Some(read) = self.base.read(data).map_err(|e| self.here(e, item))? else {
            let message = format!("{} is not a regular file", data.path);
            return Err(self.here(Error::new(ErrorKind::File, message), item));
        };
        let cache = self.stacking.cache;
        let (text, loaded) = self.loaded(&read, data, stack)?;
        let Value::Map(overlay) = &loaded else {
            return Ok(self.no_mapping(data, &loaded));
        };
        self.warn_of_aliases(stack, overlay, &text);
        let Value::Map(base) = stack else {
            return Err(self.here(no_stack(stack), item));
        };
        if let Some(merged) = cache
            .merged
            .merged(base, overlay)
            .filter(|_| self.graft.is_empty())
        {
            *base = merged;
            self.merged(data, text, overlay, stack);
            return Ok(FileOutcome::Merged(strategy(&loaded)));
        }
        // A text that templates print is rarely shared.
        if self.graft.is_empty() && !text.is_rendered() {
            cache.merged.adopt(overlay.clone());
        }
        let is_wanted = self.graft.is_empty() && cache.merged.wants(base, overlay);
        let before = is_wanted.then(|| base.clone());
        merge_into(base, &self.grafted(overlay))
            .map_err(|e| self.templates.with_files(self.merge_error(&e, &text)))?;
        if let Some(before) = before {
            cache.merged.keep(&before, overlay, base);
        }
        self.merged(data, text, overlay, stack);
        Ok(FileOutcome::Merged(strategy(&loaded)))
    }

    fn merged(&self, data: &DataFile, text: Text<'_>, overlay: &Map, stack: &Value) {
        self.stacking.note(|| StackedFile {
            path: data.path.clone(),
            text: text.into_owned(),
            merged: Some((overlay.clone(), self.graft.clone())),
            stack: stack.clone(),
        });
    }

    /// The data of a file, and its text.
    fn loaded<'f>(
        &self,
        file: &'f File,
        data: &DataFile,
        stack: &mut Value,
    ) -> Result<(Text<'f>, Value)> {
        let stacking = self.stacking;
        let text = stacking.rendered(self.templates, file, stack, Some(&data.path))?;
        let cache = self.stacking.cache;
        let filled = match text.is_rendered() {
            true => self.stacking.run.fill_yaml(&text),
            false => None,
        };
        let load = || cache.document(text.as_str(), || mapstack_yaml::load(text.as_str()));
        let loaded = filled.map_or_else(load, Ok);
        let loaded = loaded.map_err(|e| self.templates.with_files(text.yaml_error(&e)))?;
        Ok((text, loaded))
    }

    /// Warn where a file changes one place of a mapping that an earlier file has at several places, and keep those of
    /// the file.
    fn warn_of_aliases(&self, stack: &Value, overlay: &Map, text: &Text<'_>) {
        let mut aliases = self.stacking.aliases.borrow_mut();
        let merge = |mut base: Map, overlay: Map| {
            merge_into(&mut base, &overlay).ok()?;
            Some(Value::Map(base))
        };
        for parted in aliases.parted_by(stack, &Value::Map(self.grafted(overlay)), &merge) {
            self.stacking
                .run
                .warn(parted_aliases(&parted, text.shown()));
        }
        if text.may_have_aliases() {
            aliases.add(&Aliases::of(&Value::Map(overlay.clone())));
        }
    }

    fn grafted(&self, overlay: &Map) -> Map {
        let below = |inner: Map, key: &Key| Map::from_iter([(key.clone(), Value::Map(inner))]);
        self.graft.iter().rev().fold(overlay.clone(), below)
    }

    fn no_mapping(&self, data: &DataFile, value: &Value) -> FileOutcome {
        let what = value.kind().described();
        // Files that are empty for this minion are nothing unusual.
        if !value.is_none() {
            let message = format!(
                "{} renders to {what}, not a mapping, so it adds nothing",
                data.path
            );
            self.stacking
                .run
                .warn(Diagnostic::warning(ErrorKind::DataSource, message));
        }
        FileOutcome::NoMapping(if value.is_none() { "nothing" } else { what })
    }

    /// A strategy that does not exist, reported where it is written.
    fn merge_error(&self, e: &StackError, text: &Text<'_>) -> Error {
        let path = e.path.0.get(self.graft.len()..).unwrap_or_default();
        // It was loaded before, so it can be once more.
        let loaded = load_document(text.as_str(), &Limits::default()).ok();
        let place = loaded.map(|loaded| text.place_of_mark(marker_mark(&loaded, path, e.in_list)));
        let error = Error::new(ErrorKind::Merge, e.to_string()).at(place);
        match mapstack_diagnostic::nearest(
            e.strategy.as_str().unwrap_or_default(),
            StackStrategy::ALL.map(StackStrategy::name),
        ) {
            Some(near) => error.help(format!("did you mean '{near}'?")),
            None => error,
        }
    }

    /// An error that comes from what the config file says.
    fn here(&self, error: Error, item: &DataFileItem) -> Error {
        self.templates
            .with_files(error.at(Some(self.text.place(item.start))))
    }

    fn warn_of_blanks(&self, item: &DataFileItem) {
        let bare = item
            .name
            .trim()
            .split(" #")
            .next()
            .unwrap_or_default()
            .trim_end();
        let other = bare != item.name
            && self
                .base
                .matching(bare)
                .is_ok_and(|files| !files.is_empty());
        if other {
            let message = format!("the file '{}' does not exist", item.name);
            let warning = Diagnostic::warning(ErrorKind::File, message);
            let help =
                format!("PillarStack takes the whole line as the name; did you mean '{bare}'?");
            let place = self
                .here(Error::new(ErrorKind::File, ""), item)
                .diagnostic()
                .place
                .clone();
            self.stacking.run.warn(Diagnostic {
                place,
                ..warning.with_help(help)
            });
        }
    }

    fn outcome(&self, item: &DataFileItem, data: Option<&DataFile>, outcome: FileOutcome) {
        let path = data.map(|data| data.path.clone());
        self.stacking.record(StackEvent::File {
            item: item.name.clone(),
            path,
            outcome,
        });
    }
}

/// The strategy that a file names at its root. It was merged, so it is one.
fn strategy(value: &Value) -> StackStrategy {
    let named = value
        .as_map()
        .and_then(|map| map.get(MARKER))
        .and_then(Value::as_str);
    StackStrategy::ALL
        .into_iter()
        .find(|strategy| named == Some(strategy.name()))
        .unwrap_or_default()
}

/// The mark of the strategy of the mapping or list at a path.
fn marker_mark(loaded: &Loaded, path: &[Key], in_list: bool) -> Mark {
    let path: mapstack_value::Path = path.iter().cloned().collect();
    let Some(marks) = loaded.marks.at(&loaded.value, &path) else {
        return loaded.marks.mark();
    };
    if in_list {
        return marks
            .child(0)
            .map_or(marks.mark(), mapstack_yaml::Marks::mark);
    }
    let found = path
        .steps()
        .iter()
        .try_fold(&loaded.value, |value, step| value.as_map()?.get(&step.0));
    let index = found.and_then(|value| value.as_map()?.index_of(MARKER));
    index
        .and_then(|index| marks.key(index))
        .unwrap_or(marks.mark())
}

/// True for errors that MakoStack survives; limits, and unsupported things, are not the file's fault.
fn is_swallowed(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::Template | ErrorKind::Undefined | ErrorKind::Yaml | ErrorKind::Merge
    )
}
