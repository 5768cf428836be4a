//! The sls of a minion, each followed when something of it is requested.

use std::collections::HashMap;
use std::rc::Rc;

use mapstack::loader::{Fetched, SaltPath};
use mapstack::{Engine, Run, Text};
use mapstack_diagnostic::{Diagnostic, Error, ErrorKind, Place};
use mapstack_files::ContentMethod;
use mapstack_minion::{Minion, Part};
use mapstack_states::{GotSls, HighData, IncludingSls, Top, included};
use mapstack_value::pytext::Fnmatch;
use mapstack_value::{Key, Str, Value};

use super::unknown;
use super::written::Argument;
use crate::flow::{SERVED, TemplateVariables, TracerFindings, ValueTracer};
use crate::layers::{Layer, LayerKind, MatchedValue, Reason};
use crate::pillar::layer;
use crate::tracker::LayerTexts;
use crate::tree::{Claim, Node};
use crate::{ValuePosition, in_text};

/// The sls of a minion.
pub(super) struct TracedSls<'t> {
    engine: &'t Engine,
    minion: &'t Minion,
    sls: &'t [GotSls],
    top: Option<&'t Top>,
    /// The numbers of those of a name.
    named: HashMap<&'t str, Vec<usize>>,
    /// The entries by which those that were requested include others, by the number of the sls.
    includes: HashMap<usize, Includes>,
    /// The origins of what was requested, by the number of the sls.
    nodes: HashMap<usize, Option<Node>>,
    done: TracedLayers,
}

/// The layers of all that was followed, and what belongs to them.
#[derive(Default, Clone)]
pub(super) struct TracedLayers {
    pub layers: Vec<Layer>,
    pub texts: LayerTexts,
    pub secrets: Vec<Str>,
    pub warnings: Vec<Diagnostic>,
    /// The places on disk of files, by their paths on the file server.
    pub shown: HashMap<String, String>,
}

impl TracedLayers {
    fn number(&mut self, layer: Layer) -> usize {
        match self.layers.iter().position(|known| *known == layer) {
            Some(number) => number,
            None => {
                self.layers.push(layer);
                self.layers.len() - 1
            }
        }
    }
}

impl<'t> TracedSls<'t> {
    pub fn new(engine: &'t Engine, minion: &'t Minion, high: &'t HighData) -> Self {
        let mut named: HashMap<&str, Vec<usize>> = HashMap::new();
        for (number, sls) in high.sls.iter().enumerate() {
            named.entry(&sls.name).or_default().push(number);
        }
        TracedSls {
            engine,
            minion,
            sls: &high.sls,
            named,
            includes: HashMap::new(),
            top: high.top.as_ref().and_then(|top| top.as_ref().ok()),
            nodes: HashMap::new(),
            done: TracedLayers::default(),
        }
    }

    /// The number of an sls.
    pub fn number(&self, saltenv: &str, name: &str) -> Option<usize> {
        let is_it = |number: &usize| self.sls[*number].saltenv == saltenv;
        self.named.get(name)?.iter().copied().find(is_it)
    }

    /// All that was followed so far.
    pub fn done(&self) -> &TracedLayers {
        &self.done
    }

    /// A claim on a value of unknown origin.
    pub fn unknown(&mut self, value: &Value) -> Claim {
        unknown(self.done.number(layer(LayerKind::Unknown)), value)
    }

    /// The origins of the data of an sls.
    fn whole(&mut self, sls: usize) -> Option<Node> {
        if let Some(known) = self.nodes.get(&sls) {
            return known.clone();
        }
        // An sls that includes another is asked for its place by that one.
        self.nodes.insert(sls, None);
        let node = self.follow(sls);
        self.nodes.insert(sls, node.clone());
        node
    }

    fn follow(&mut self, number: usize) -> Option<Node> {
        let sls = self.sls.get(number)?;
        let run = self.engine.run(self.minion).with_saltenv(&*sls.saltenv);
        let run = run.following_secrets();
        let tracer = ValueTracer::new(self.minion.clone(), self.engine.limits()).with_prints();
        let tracer = Rc::new(tracer);
        let rendered = run
            .with_hooks(tracer.clone(), || run.traced_sls(&sls.path, &sls.name))
            .ok()?;
        let shown = run.shown(&sls.path);
        let mut traced = tracer.of_sls(&sls.path, &rendered, self.file(sls, &shown));
        let own = traced.node.claim().map(|claim| claim.layer);
        self.note(&run, &traced);
        if let Some(layer) = own.and_then(|own| traced.layers.get_mut(own)) {
            layer.kind = LayerKind::Sls {
                sls: sls.name.clone(),
                saltenv: sls.saltenv.clone(),
                shown,
                reasons: self.reasons(number),
            };
        }
        Some(self.taken(traced))
    }

    /// The place of a file as a whole.
    fn file(&self, sls: &GotSls, shown: &str) -> Place {
        let path = SaltPath::from_relative(&sls.path);
        let text = match self.engine.fetch(&path, &sls.saltenv) {
            Ok(Fetched::Found { bytes, .. }) => String::from_utf8_lossy(&bytes).into_owned(),
            _ => String::new(),
        };
        Place::of_keys(shown, text, &[])
    }

    /// Note the files of an sls that was followed.
    fn note(&mut self, run: &Run<'_>, traced: &TracerFindings) {
        let mut add = |file: &str| {
            if !self.done.shown.contains_key(file) {
                let shown = run.shown(file);
                if !shown.starts_with(SERVED) {
                    self.done.shown.insert(file.to_owned(), shown);
                }
            }
        };
        traced.node.each_file(&mut |file| {
            if let Some(file) = file.strip_prefix(SERVED) {
                add(file);
            }
        });
        for layer in &traced.layers {
            if let LayerKind::File { path, .. } = &layer.kind {
                add(path);
            }
        }
        self.done.secrets.extend(run.secret_texts());
        self.done.warnings.extend(run.warnings());
    }

    /// The origins with numbers of layers that are those of all.
    fn taken(&mut self, traced: TracerFindings) -> Node {
        let TracerFindings {
            layers,
            mut node,
            texts,
            ..
        } = traced;
        let layers = layers.into_iter();
        let numbers: Vec<usize> = layers.map(|layer| self.done.number(layer)).collect();
        let number = |layer: usize| numbers.get(layer).copied().unwrap_or_default();
        node.renumber(&mut |layer| number(layer));
        let texts = texts.into_iter();
        let texts = texts.map(|(layer, text)| (number(layer), text));
        self.done.texts.extend(texts);
        node
    }

    /// The lines of a managed file that a template makes, with the origins of the variables that it gets; or of a file of
    /// the file server as it is.
    ///
    /// # Errors
    /// The file is not served, or the template fails.
    pub fn lines(
        &mut self,
        saltenv: &str,
        way: ContentMethod<'_>,
        given: TemplateVariables,
    ) -> Result<(Value, Node), Error> {
        let run = self.engine.run(self.minion).with_saltenv(saltenv);
        let run = run.following_secrets();
        let tracer = ValueTracer::new(self.minion.clone(), self.engine.limits()).with_prints();
        let tracer = Rc::new(tracer.with_given(given, self.done.layers.clone()));
        let (path, text) = match way {
            ContentMethod::Template(rendering) => {
                let (file, template) = rendering.parts(&run)?;
                let text =
                    run.with_hooks(tracer.clone(), || run.traced_managed_text(&file, &template))?;
                (file.path, text)
            }
            ContentMethod::Served(url) => {
                let missing = || Error::new(ErrorKind::File, format!("{url} does not exist"));
                let file = run.served_file(url)?.ok_or_else(missing)?;
                let text = Text::plain(&file, file.text()?).into_owned();
                (file.path, text)
            }
            ContentMethod::Arguments | ContentMethod::Nothing => {
                return Ok((Value::map(), Node::default()));
            }
        };
        let (data, traced) = tracer.of_lines(&path, &text);
        self.note(&run, &traced);
        Ok((data, self.taken(traced)))
    }

    /// The value of a fact.
    pub fn fact(&self, part: Part, path: &[Key]) -> Value {
        let facts = match part {
            Part::Grains => &self.minion.grains,
            Part::Pillar => &self.minion.pillar,
            Part::Opts => &self.minion.opts,
        };
        let facts = Value::Map(facts.clone());
        let found = path
            .iter()
            .try_fold(&facts, |value, key| value.as_map()?.get(key));
        found.cloned().unwrap_or_default()
    }

    /// The layer of the facts.
    pub fn facts(&mut self, part: Part) -> usize {
        let because = MatchedValue {
            matcher: part.name().into(),
            found: Value::None,
        };
        self.done.number(Layer {
            because: vec![because],
            ..layer(LayerKind::Value)
        })
    }

    /// The claim on what lies at a path of an sls.
    pub fn claim(&mut self, sls: usize, path: &[Key]) -> Option<Claim> {
        self.whole(sls)?.follow(path)?.claim().cloned()
    }

    /// The claim on a key below a path of an sls.
    pub fn key(&mut self, sls: usize, path: &[Key], key: &Key) -> Option<Claim> {
        self.whole(sls)?.follow(path)?.key_of(key)
    }

    /// The claim on the name of an argument.
    pub fn key_at(&mut self, argument: &Argument) -> Option<Claim> {
        let (name, above) = argument.path.split_last()?;
        self.key(argument.sls, above, name)
    }

    /// The origins of an argument.
    pub fn node(&mut self, argument: &Argument) -> Option<Node> {
        self.whole(argument.sls)?.follow(&argument.path)
    }

    /// The chain by which the minion gets an sls: the sls that includes it, the one that includes that, and so on, up to the entries
    /// of top files.
    pub fn reasons(&mut self, sls: usize) -> Vec<Reason> {
        let (all, mut reasons) = (self.sls, Vec::new());
        let (mut here, mut left) = (all.get(sls), all.len());
        while let Some(sls) = here.filter(|_| left > 0) {
            left -= 1;
            let Some(by) = &sls.included_by else {
                reasons.extend(self.targets(sls));
                break;
            };
            let mut numbers = self.named.get(by.as_str()).into_iter().flatten().copied();
            let found = numbers.find_map(|number| {
                let includes = self.includes.entry(number);
                let includes = includes.or_insert_with(|| Includes::of(&all[number]));
                Some((number, includes.index_of(&sls.name)?))
            });
            let place = found.and_then(|(number, index)| self.include(number, index));
            reasons.push(Reason::Include {
                sls: by.clone(),
                place,
            });
            here = found.and_then(|(number, _)| all.get(number));
        }
        reasons
    }

    /// The place of an entry of what an sls includes.
    fn include(&mut self, by: usize, index: usize) -> Option<Place> {
        let path = [Key::from("include"), Key::of_index(index)];
        match &self.claim(by, &path)?.at {
            crate::tree::At::Text(text, marks) => match in_text(text, marks.mark()) {
                ValuePosition::File { place, .. } => Some(place),
                _ => None,
            },
            _ => None,
        }
    }

    fn targets(&self, sls: &GotSls) -> Vec<Reason> {
        let Some(top) = self.top else {
            return Vec::new();
        };
        let meant = top.entries.get(&sls.saltenv).into_iter().flatten();
        let meant = meant.filter(|entry| is_named(&entry.sls, &sls.name));
        let reason = |entry: &mapstack_states::Entry| Reason::Target {
            target: entry.target.clone(),
            matcher: entry.matcher.clone(),
            saltenv: sls.saltenv.clone(),
            place: top.place(&sls.saltenv, entry),
        };
        meant.map(reason).collect()
    }
}

/// True if a name or shell pattern means an sls.
fn is_named(pattern: &str, sls: &str) -> bool {
    pattern == sls || Fnmatch::new(pattern).matches(sls)
}

/// The entries by which an sls includes others.
#[derive(Default)]
struct Includes {
    /// The first entry of each name, as a pattern or not.
    names: HashMap<String, usize>,
    patterns: Vec<(usize, Fnmatch)>,
}

impl Includes {
    fn of(sls: &GotSls) -> Self {
        let mut includes = Includes::default();
        let entries = match &sls.rendered.data {
            Ok(Value::Map(states)) => states.get("include").and_then(Value::as_list),
            _ => None,
        };
        for (index, entry) in entries.into_iter().flatten().enumerate() {
            let named = included(
                IncludingSls {
                    name: &sls.name,
                    path: &sls.path,
                },
                entry,
            );
            let Some((_, name)) = named else { continue };
            if name.contains(['*', '?', '[']) {
                includes.patterns.push((index, Fnmatch::new(&name)));
            }
            includes.names.entry(name).or_insert(index);
        }
        includes
    }

    /// The first entry that means an sls.
    fn index_of(&self, sls: &str) -> Option<usize> {
        let named = self.names.get(sls).copied();
        let mut patterns = self.patterns.iter();
        let matching = patterns.find(|(_, pattern)| pattern.matches(sls));
        let matching = matching.map(|(index, _)| *index);
        named.into_iter().chain(matching).min()
    }
}
