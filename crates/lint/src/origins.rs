//! The facts that the value of an expression can come from, found without running anything.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use mapstack::value::{Str, Value};
use mapstack::{ImportSite, Place};
use mapstack_salt_jinja::ast::{Args, BinaryOp, Expr, ExprKind, Span, Stmt, StmtKind};

use crate::templates::{LocatedTemplate, Templates, names};

/// The facts behind a value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Origins {
    /// Keys of the pillar that are the value.
    pub pillar: BTreeSet<String>,
    /// Keys of the pillar that have a part in it: they are merged over something, or passed to a function.
    pub merged: BTreeSet<String>,
    /// Keys of the pillar that an expression makes, as it is written.
    pub computed: BTreeSet<String>,
    /// Grains that are the value.
    pub grains: BTreeSet<String>,
    /// Options of the minion's configuration that are the value.
    pub options: BTreeSet<String>,
}

/// The place of a fact's look-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Root {
    Pillar,
    Grains,
    Opts,
}

/// A fact that a value comes from.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Fact {
    root: Root,
    /// With colons between its parts; empty for all of the facts.
    key: String,
    /// True if the value is the fact's own.
    is_whole: bool,
    /// True if the key is an expression, as it is written.
    is_computed: bool,
}

/// The value that a failing expression asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WantedValue {
    /// The source text of the object that has it.
    pub object: String,
    /// The last name of it.
    pub key: String,
    /// True if the object does not have it; otherwise it is of no use.
    pub is_absent: bool,
}

/// The origins of values in a formula's templates.
pub(crate) struct Tracer<'t> {
    templates: &'t Templates,
    /// The path that each import of a template leads to, by its position.
    imports: BTreeMap<(&'t str, usize), &'t str>,
    seen: HashSet<(&'t str, &'t str)>,
}

impl<'t> Tracer<'t> {
    pub fn new(templates: &'t Templates, imports: &'t [ImportSite]) -> Self {
        let site = |site: &'t ImportSite| {
            Some((
                (&*site.place.file, site.place.start),
                site.template.as_deref()?,
            ))
        };
        Tracer {
            templates,
            imports: imports.iter().filter_map(site).collect(),
            seen: HashSet::new(),
        }
    }

    /// The facts behind the expression at a place.
    pub fn at(&mut self, place: &Place) -> Origins {
        let Some(parsed) = self.templates.at(place) else {
            return Origins::default();
        };
        let (start, end) = (place.start, place.end.max(place.start));
        let covers = |span: Span| span.start as usize <= start && end <= span.end as usize;
        let inside = |span: Span| start <= span.start as usize && (span.end as usize) <= end;
        let expressions = parsed.expressions();
        let smallest = expressions
            .iter()
            .filter(|e| covers(e.span))
            .min_by_key(|e| e.span.end - e.span.start);
        let found: Vec<&Expr> = match smallest {
            Some(e) => vec![e],
            None => expressions
                .into_iter()
                .filter(|e| inside(e.span))
                .take(1)
                .collect(),
        };
        self.seen.clear();
        let facts = found
            .into_iter()
            .flat_map(|e| self.expr(parsed, e))
            .collect::<BTreeSet<_>>();
        let mut origins = Origins::default();
        for fact in facts {
            if fact.is_computed {
                origins.computed.insert(fact.key.clone());
            }
            match (fact.root, fact.is_whole, fact.key) {
                (_, _, key) if key.is_empty() => {}
                (Root::Pillar, true, key) => drop(origins.pillar.insert(key)),
                (Root::Pillar, false, key) => drop(origins.merged.insert(key)),
                (Root::Grains, true, key) => drop(origins.grains.insert(key)),
                (Root::Opts, true, key) => drop(origins.options.insert(key)),
                (Root::Grains | Root::Opts, false, _) => {}
            }
        }
        origins
    }

    /// The value that the expression at a place asks for, by the message of its failure.
    pub fn wanted(&self, place: &Place, message: &str) -> Option<WantedValue> {
        let parsed = self.templates.at(place)?;
        let inside =
            |e: &&Expr| place.start <= e.span.start as usize && e.span.end as usize <= place.end;
        let expressions: Vec<&Expr> = parsed.expressions().into_iter().filter(inside).collect();
        let part = message.split_once(" has no attribute '");
        let Some((of, attribute)) =
            part.and_then(|(of, rest)| Some((of, rest.strip_suffix('\'')?)))
        else {
            let last = expressions.into_iter().find_map(member)?;
            return Some(last.wanted(parsed, false));
        };
        let found = expressions
            .into_iter()
            .filter_map(member)
            .find(|member| **member.key == *attribute)?;
        match of.ends_with("'dict object'") {
            true => Some(found.wanted(parsed, true)),
            false => Some(member(found.object)?.wanted(parsed, false)),
        }
    }

    fn expr(&mut self, parsed: &'t LocatedTemplate, e: &'t Expr) -> Vec<Fact> {
        match &e.kind {
            ExprKind::Name(name) => self.name(parsed, name),
            ExprKind::Attr(object, name) => below(self.expr(parsed, object), name),
            ExprKind::Item(object, item) => {
                let facts = self.expr(parsed, object);
                match &item.kind {
                    ExprKind::Const(Value::Str(name)) => below(facts, name),
                    ExprKind::Const(_) => facts,
                    _ => below(facts, "…"),
                }
            }
            ExprKind::Slice { object, .. } => self.expr(parsed, object),
            ExprKind::Call { callee, args } => self.call(parsed, callee, args),
            ExprKind::Filter { input, args, .. } => {
                let mut facts: Vec<Fact> = input
                    .iter()
                    .flat_map(|input| self.expr(parsed, input))
                    .collect();
                facts.extend(self.parts(parsed, args));
                facts
            }
            ExprKind::Cond {
                then, otherwise, ..
            } => {
                let mut facts = self.expr(parsed, then);
                facts.extend(otherwise.iter().flat_map(|e| self.expr(parsed, e)));
                facts
            }
            ExprKind::And(a, b) | ExprKind::Or(a, b) | ExprKind::Binary(_, a, b) => {
                let mut facts = self.expr(parsed, a);
                facts.extend(self.expr(parsed, b));
                facts
            }
            ExprKind::Concat(items) | ExprKind::List(items) | ExprKind::Tuple(items) => items
                .iter()
                .flat_map(|item| self.expr(parsed, item))
                .map(Fact::into_part)
                .collect(),
            ExprKind::Dict(entries) => entries
                .iter()
                .flat_map(|(_, value)| self.expr(parsed, value))
                .map(Fact::into_part)
                .collect(),
            ExprKind::Compare(first, rest) => {
                let mut facts = self.expr(parsed, first);
                facts.extend(rest.iter().flat_map(|(_, e)| self.expr(parsed, e)));
                facts
            }
            ExprKind::Neg(e) | ExprKind::Pos(e) | ExprKind::Not(e) => self.expr(parsed, e),
            ExprKind::Const(_) | ExprKind::Test { .. } => Vec::new(),
        }
    }

    fn call(&mut self, parsed: &'t LocatedTemplate, callee: &'t Expr, args: &'t Args) -> Vec<Fact> {
        let first = args.positional.first();
        if let Some(function) = salt_function(callee) {
            return match (function, first) {
                ("pillar.get" | "config.get" | "pillar.raw" | "pillar.item", Some(key)) => {
                    self.pillar(parsed, key, args)
                }
                ("grains.get" | "grains.item", Some(e)) => {
                    let key = text_of(parsed, e);
                    let key = key.unwrap_or_else(|| parsed.source(e.span).to_owned());
                    vec![Fact::whole(Root::Grains, key)]
                }
                // Its usual sources end with the pillar of the formula.
                ("map.data", Some(_)) => {
                    let formula = parsed.path.split('/').next().unwrap_or_default();
                    vec![Fact::whole(Root::Pillar, formula.to_owned()).into_part()]
                }
                _ => self.parts(parsed, args),
            };
        }
        if calls_by_variable(callee) {
            let mut facts = by_sources(parsed, first);
            facts.extend(self.parts(parsed, args));
            return facts;
        }
        if let ExprKind::Attr(object, method) = &callee.kind {
            let facts = self.expr(parsed, object);
            let mut facts = match (&**method, first.and_then(|e| text_of(parsed, e))) {
                ("get", Some(name)) => below(facts, &name),
                _ => facts,
            };
            facts.extend(self.parts(parsed, args));
            return facts;
        }
        let mut facts = self.expr(parsed, callee);
        facts.extend(self.parts(parsed, args));
        facts
    }

    fn parts(&mut self, parsed: &'t LocatedTemplate, args: &'t Args) -> Vec<Fact> {
        let all = args
            .positional
            .iter()
            .chain(args.named.iter().map(|(_, e)| e));
        let all = all
            .chain(args.star.as_deref())
            .chain(args.star_star.as_deref());
        all.flat_map(|e| self.expr(parsed, e))
            .map(Fact::into_part)
            .collect()
    }

    /// The facts behind a call that looks up a key of the pillar.
    fn pillar(&mut self, parsed: &'t LocatedTemplate, key: &'t Expr, args: &'t Args) -> Vec<Fact> {
        let rest: Vec<&Expr> = args
            .positional
            .iter()
            .skip(1)
            .chain(args.named.iter().map(|(_, e)| e))
            .collect();
        // A value that has parts, or is merged over others, does not come from the pillar alone.
        let is_own = rest.iter().all(|e| is_plain(e))
            && args.named.iter().all(|(name, _)| **name != *"merge");
        let mut facts = match (text_of(parsed, key), is_own) {
            (Some(key), _) => vec![Fact {
                is_whole: is_own,
                ..Fact::whole(Root::Pillar, key)
            }],
            (None, true) => vec![Fact {
                is_computed: true,
                ..Fact::whole(Root::Pillar, parsed.source(key.span).to_owned())
            }],
            (None, false) => Vec::new(),
        };
        facts.retain(|fact| !OPTIONS.iter().any(|option| fact.key.ends_with(option)));
        facts.extend(
            rest.into_iter()
                .flat_map(|e| self.expr(parsed, e))
                .map(Fact::into_part),
        );
        facts
    }

    /// The facts behind a name that a statement imports from another template.
    fn imported(
        &mut self,
        parsed: &'t LocatedTemplate,
        import: &Stmt,
        names: &'t [(Str, Str)],
        name: &str,
    ) -> Vec<Fact> {
        let there = names.iter().find(|(_, here)| **here == *name);
        let site = (&*parsed.shown, import.span.start as usize);
        let path = self.imports.get(&site);
        let from = path.and_then(|path| self.templates.get(path));
        match (there, from) {
            (Some((there, _)), Some(from)) => self.name(from, there),
            _ => Vec::new(),
        }
    }

    /// The facts behind a variable: of everything that binds it anywhere in the template.
    fn name(&mut self, parsed: &'t LocatedTemplate, name: &'t str) -> Vec<Fact> {
        let root = match name {
            "pillar" => Some(Root::Pillar),
            "grains" => Some(Root::Grains),
            "opts" => Some(Root::Opts),
            _ => None,
        };
        if let Some(root) = root.filter(|_| parsed.binds(name) == 0) {
            return vec![Fact::whole(root, String::new())];
        }
        if !self.seen.insert((&parsed.path, name)) {
            return Vec::new();
        }
        let mut facts = Vec::new();
        for stmt in parsed.statements() {
            let binds = |target| {
                let mut bound = HashSet::new();
                names(target, &mut bound);
                bound.contains(name)
            };
            match &stmt.kind {
                StmtKind::Set { target, value } if binds(target) => {
                    facts.extend(self.expr(parsed, value));
                }
                StmtKind::For(f) if binds(&f.target) => facts.extend(self.expr(parsed, &f.iter)),
                StmtKind::With { bindings, .. } => {
                    for (_, value) in bindings.iter().filter(|(target, _)| binds(target)) {
                        facts.extend(self.expr(parsed, value));
                    }
                }
                StmtKind::FromImport { names, .. } => {
                    facts.extend(self.imported(parsed, stmt, names, name));
                }
                StmtKind::Macro(m) => {
                    if let Some(index) = m.params.iter().position(|param| *param.name == *name) {
                        facts.extend(self.arguments(&m.name, index, name));
                    }
                }
                // `{% do name.update(…) %}`
                StmtKind::Do(Expr {
                    kind: ExprKind::Call { callee, args },
                    ..
                }) => {
                    if let ExprKind::Attr(object, _) = &callee.kind
                        && matches!(&object.kind, ExprKind::Name(changed) if **changed == *name)
                    {
                        facts.extend(self.parts(parsed, args));
                    }
                }
                _ => {}
            }
        }
        facts
    }

    /// The values that calls of a macro pass for a parameter.
    fn arguments(&mut self, called: &str, index: usize, param: &str) -> Vec<Fact> {
        let mut facts = Vec::new();
        for parsed in self.templates.all() {
            for e in parsed.expressions() {
                let ExprKind::Call { callee, args } = &e.kind else {
                    continue;
                };
                let is_it = match &callee.kind {
                    ExprKind::Name(name) | ExprKind::Attr(_, name) => **name == *called,
                    _ => false,
                };
                let named = args
                    .named
                    .iter()
                    .find(|(name, _)| **name == *param)
                    .map(|(_, e)| e);
                if let Some(given) = named
                    .or_else(|| args.positional.get(index))
                    .filter(|_| is_it)
                {
                    facts.extend(self.expr(parsed, given));
                }
            }
        }
        facts
    }
}

/// An attribute, or an item with a name, and what it is of.
struct Member<'e> {
    object: &'e Expr,
    key: &'e Str,
}

fn member(e: &Expr) -> Option<Member<'_>> {
    match &e.kind {
        ExprKind::Attr(object, key) => Some(Member { object, key }),
        ExprKind::Item(object, item) => match &item.kind {
            ExprKind::Const(Value::Str(key)) => Some(Member { object, key }),
            _ => None,
        },
        _ => None,
    }
}

impl Member<'_> {
    fn wanted(&self, parsed: &LocatedTemplate, is_absent: bool) -> WantedValue {
        WantedValue {
            object: parsed.source(self.object.span).to_owned(),
            key: self.key.to_string(),
            is_absent,
        }
    }
}

impl Fact {
    fn whole(root: Root, key: String) -> Self {
        Fact {
            root,
            key,
            is_whole: true,
            is_computed: false,
        }
    }

    fn into_part(self) -> Self {
        Fact {
            is_whole: false,
            ..self
        }
    }
}

/// Facts below others; what is below a merged value is not known.
fn below(facts: Vec<Fact>, name: &str) -> Vec<Fact> {
    let deeper = |mut fact: Fact| {
        if fact.is_whole {
            fact.key = if fact.key.is_empty() {
                name.to_owned()
            } else {
                format!("{}:{name}", fact.key)
            };
        }
        fact
    };
    facts.into_iter().map(deeper).collect()
}

/// The function of `salt['a.b']`, `salt.a.b` or `salt.get('a.b')`.
pub(crate) fn salt_function(callee: &Expr) -> Option<&str> {
    let is_salt = |e: &Expr| matches!(&e.kind, ExprKind::Name(name) if **name == *"salt");
    match &callee.kind {
        ExprKind::Item(object, name) if is_salt(object) => match &name.kind {
            ExprKind::Const(Value::Str(name)) => Some(name),
            _ => None,
        },
        ExprKind::Attr(object, function) => match &object.kind {
            ExprKind::Attr(salt, module) if is_salt(salt) => DOTTED
                .iter()
                .find(|name| name.split_once('.') == Some((&**module, &**function)))
                .copied(),
            _ => None,
        },
        ExprKind::Call { callee, args } => {
            match (&callee.kind, args.positional.first().map(|e| &e.kind)) {
                (ExprKind::Attr(object, get), Some(ExprKind::Const(Value::Str(name))))
                    if is_salt(object) && **get == *"get" =>
                {
                    Some(name)
                }
                _ => None,
            }
        }
        _ => None,
    }
}

/// True if a call is one of `salt[name]`, with a name that a variable has.
fn calls_by_variable(callee: &Expr) -> bool {
    match &callee.kind {
        ExprKind::Item(object, name) => {
            matches!(&object.kind, ExprKind::Name(salt) if **salt == *"salt")
                && !matches!(name.kind, ExprKind::Const(_))
        }
        _ => false,
    }
}

/// The facts that a call of `salt[name]` may look up where the template names a function for that: the key that it
/// passes, or those of the sources that the template lists, as in `'C@' ~ tplroot`.
fn by_sources(parsed: &LocatedTemplate, key: Option<&Expr>) -> Vec<Fact> {
    let expressions = parsed.expressions();
    let names_one = |e: &&Expr| matches!(&e.kind, ExprKind::Const(Value::Str(name)) if ["pillar.get", "config.get"].contains(&&**name));
    if !expressions.iter().any(names_one) {
        return Vec::new();
    }
    let part_of_pillar = |key: String| Fact {
        root: Root::Pillar,
        key,
        is_whole: false,
        is_computed: false,
    };
    if let Some(key) = key.and_then(|key| text_of(parsed, key)) {
        return vec![part_of_pillar(key)];
    }
    expressions
        .into_iter()
        .filter_map(|e| text_of(parsed, e))
        .filter_map(|source| looked_up(&source).map(str::to_owned))
        .map(part_of_pillar)
        .collect()
}

/// The key of a source that is a look-up in the configuration or the pillar, with or without options: `C@key`.
fn looked_up(source: &str) -> Option<&str> {
    let (kind, key) = source.split_once('@')?;
    let is_lookup = matches!(kind.split(':').next(), Some("C" | "I"));
    (is_lookup && !key.is_empty() && !key.contains(char::is_whitespace)).then_some(key)
}

/// The functions that matter here, for `salt.a.b`.
const DOTTED: [&str; 11] = [
    "pillar.get",
    "pillar.raw",
    "pillar.item",
    "config.get",
    "grains.get",
    "grains.item",
    "grains.filter_by",
    "grains.has_value",
    "map.data",
    "match.compound",
    "match.grain",
];

/// Options of look-ups by the formula's library, which are not part of the configuration.
const OPTIONS: [&str; 3] = [":strategy", ":merge_lists", ":map_jinja"];

/// True if an expression is a literal without parts.
fn is_plain(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Const(_) => true,
        ExprKind::Dict(entries) => entries.is_empty(),
        ExprKind::List(items) | ExprKind::Tuple(items) => items.is_empty(),
        _ => false,
    }
}

/// The text of an expression of literals and the names of the formula's own place.
pub(crate) fn text_of(parsed: &LocatedTemplate, e: &Expr) -> Option<String> {
    match &e.kind {
        ExprKind::Const(Value::Str(text)) => Some(text.to_string()),
        ExprKind::Name(name) if **name == *"tplroot" => {
            parsed.path.split('/').next().map(str::to_owned)
        }
        ExprKind::Concat(parts) => parts.iter().map(|part| text_of(parsed, part)).collect(),
        ExprKind::Binary(BinaryOp::Add, a, b) => Some(text_of(parsed, a)? + &text_of(parsed, b)?),
        _ => None,
    }
}
