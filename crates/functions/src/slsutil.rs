//! `slsutil.*`: Salt's merging, as templates call it.

use std::collections::HashSet;

use foldhash::fast::RandomState;
use mapstack_merge::{Change, Observer, Options, Strategy, Trail, merge, merge_observed};
use mapstack_pyobject::{CallArgs, DictRef, Error, Obj, Result, required, spend};
use mapstack_salt_jinja::{
    Vm,
    python::{as_index, endless, hash_key, wrap},
};
use mapstack_value::{Extent, Key, Value};

use super::{ModuleTable, data_or, refused, text, truth_or};
use crate::{Context, Flow};

pub(super) const TABLE: ModuleTable = &[
    ("slsutil.banner", banner),
    ("slsutil.boolstr", |_, _, args| {
        let [value, yes, no] = args.bind("slsutil.boolstr", ["value", "true", "false"])?;
        let value = required(value, "slsutil.boolstr", "value")?;
        let (yes, no) = (
            yes.unwrap_or_else(|| Obj::from("true")),
            no.unwrap_or_else(|| Obj::from("false")),
        );
        Ok(if value.truthy()? { yes } else { no })
    }),
    ("slsutil.merge", |run, vm, args| {
        let [a, b, strategy, renderer, lists] = args.bind(
            "slsutil.merge",
            ["obj_a", "obj_b", "strategy", "renderer", "merge_lists"],
        )?;
        let given = (
            required(a, "slsutil.merge", "obj_a")?,
            required(b, "slsutil.merge", "obj_b")?,
        );
        let (a, b) = (given.0.to_value()?, given.1.to_value()?);
        let strategy = strategy_for(data_or(strategy, "smart")?, renderer)?;
        let lists = lists.unwrap_or(Obj::Bool(false));
        let (value, options) = merged(run, vm, a, &b, &strategy, &lists)?;
        let is = Obj::composed(value)?;
        run.flows(Flow::Merge {
            base: &given.0,
            overlay: &given.1,
            options: &options,
            is: &is,
        });
        Ok(is)
    }),
    ("slsutil.merge_all", |run, vm, args| {
        let [all, strategy, renderer, lists] = args.bind(
            "slsutil.merge_all",
            ["lst", "strategy", "renderer", "merge_lists"],
        )?;
        let strategy = strategy_for(data_or(strategy, "smart")?, renderer)?;
        let lists = lists.unwrap_or(Obj::Bool(false));
        let mut result = Value::map();
        let mut last = Obj::dict([]);
        for item in required(all, "slsutil.merge_all", "lst")?.collect(vm)? {
            let base = Obj::from(result.clone());
            run.flows(Flow::Copy {
                of: &last,
                is: &base,
            });
            let (value, options) = merged(run, vm, result, &item.to_value()?, &strategy, &lists)?;
            result = value;
            last = Obj::from(result.clone());
            run.flows(Flow::Merge {
                base: &base,
                overlay: &item,
                options: &options,
                is: &last,
            });
        }
        let is = Obj::composed(result)?;
        run.flows(Flow::Copy { of: &last, is: &is });
        Ok(is)
    }),
    ("slsutil.update", |run, _, args| {
        let [dest, upd, recursive, lists] = args.bind(
            "slsutil.update",
            ["dest", "upd", "recursive_update", "merge_lists"],
        )?;
        let dest = required(dest, "slsutil.update", "dest")?;
        let upd = required(upd, "slsutil.update", "upd")?;
        update(
            run,
            &dest,
            &upd,
            truth_or(recursive, true)?,
            &lists.unwrap_or(Obj::Bool(false)),
        )?;
        Ok(dest)
    }),
];

/// The strategy that `smart` chooses, by the renderer.
fn strategy_for(strategy: Value, renderer: Option<Obj>) -> Result<Value> {
    if strategy.as_str() != Some("smart") {
        return Ok(strategy);
    }
    let Some(renderer) = renderer else {
        return Ok(strategy);
    };
    let renderer = text(&renderer, "slsutil.merge", "renderer")?;
    let aggregates =
        renderer.rsplit('|').next() == Some("yamlex") || renderer.starts_with("yamlex_");
    Ok(if aggregates {
        "aggregate".into()
    } else {
        strategy
    })
}

/// `slsutil.banner`: a comment that says who manages a file.
fn banner(_: &dyn Context, vm: &Vm<'_>, args: CallArgs) -> Result<Obj> {
    const TITLE: &str = "THIS FILE IS MANAGED BY SALT - DO NOT EDIT";
    const TEXT: &str = "The contents of this file are managed by Salt. Any changes to this file may be overwritten \
        automatically and without warning.";
    let names = [
        "width",
        "commentchar",
        "borderchar",
        "blockstart",
        "blockend",
        "title",
        "text",
        "newline",
    ];
    let [width, comment, border, start, end, title, body, newline] =
        args.bind("slsutil.banner", names)?;
    let text_or = |given: Option<Obj>, default: &str, name: &str| match given {
        None => Ok(default.into()),
        Some(given) => text(&given, "slsutil.banner", name),
    };
    let optional = |given: Option<Obj>| given.filter(|given| !given.is_none());
    let outside = |given: Option<Obj>, name: &str| -> Result<Option<String>> {
        let given = optional(given).map(|given| text(&given, "slsutil.banner", name));
        Ok(given.transpose()?.map(|text| text.to_string()))
    };
    let width = width.unwrap_or_else(|| Obj::from(72));
    let Some(width) = as_index(&width).map(|width| width.to_i64().unwrap_or(i64::MAX)) else {
        return Err(Error::type_error(format!(
            "slsutil.banner(): width must be a number, not {}",
            width.type_name()
        )));
    };
    let comment = text_or(comment, "#", "commentchar")?;
    let border = text_or(border, "#", "borderchar")?;
    let (title, body) = (
        text_or(optional(title), TITLE, "title")?,
        text_or(optional(body), TEXT, "text")?,
    );
    let frame = Frame {
        width,
        comment: &comment,
        corner: border.chars().take(1).collect(),
    };
    let lines = frame.around(vm, &title, &body)?;
    let (start, end) = (outside(start, "blockstart")?, outside(end, "blockend")?);
    let block: Vec<String> = start.into_iter().chain(lines).chain(end).collect();
    let mut result = block.join("\n");
    if truth_or(newline, false)? {
        result.push('\n');
    }
    Ok(Obj::from(result))
}

/// The frame around the lines of a banner.
struct Frame<'a> {
    width: i64,
    comment: &'a str,
    /// The character of the border, if it has one.
    corner: String,
}

impl Frame<'_> {
    /// The lines of a banner.
    fn around(&self, vm: &Vm<'_>, title: &str, body: &str) -> Result<Vec<String>> {
        let Frame { width, comment, .. } = *self;
        let (left, right) = (comment.trim_end(), comment.trim());
        let inside = width
            .saturating_sub(count(left) + 1)
            .saturating_sub(count(right) + 1);
        if inside <= 0 {
            return Err(refused("Width is too small to render banner"));
        }
        let room = usize::try_from(width).unwrap_or(usize::MAX);
        if room > MAX_WIDTH {
            return Err(Error::limit(format!(
                "a banner is at most {MAX_WIDTH} characters wide, not {width}"
            )));
        }
        let (titles, lines) = (wrap(title, inside)?, wrap(body, inside)?);
        vm.burn((titles.len() + lines.len() + 8).saturating_mul(room) / 16)?;
        let border = fill(&self.corner, width - count(left) - count(right));
        let border = format!("{comment}{border}{right}");
        let spacer = fill(" ", width - 2 * count(comment));
        let spacer = format!("{comment}{spacer}{comment}");
        let mut block = vec![border.clone(), spacer.clone()];
        for line in &titles {
            // As `str.center`: an odd space goes to the left if the width is odd.
            let margin = inside - count(line);
            let before = margin / 2 + (margin & inside & 1);
            let (before, after) = (fill(" ", before), fill(" ", margin - before));
            block.push(format!("{left} {before}{line}{after} {right}"));
        }
        block.push(spacer);
        for line in &lines {
            let after = fill(" ", inside - count(line));
            block.push(format!("{left} {line}{after} {right}"));
        }
        block.push(border);
        Ok(block)
    }
}

fn count(text: &str) -> i64 {
    i64::try_from(text.chars().count()).unwrap_or(i64::MAX)
}

fn fill(with: &str, count: i64) -> String {
    with.repeat(usize::try_from(count).unwrap_or(0))
}

/// Wider banners are refused.
const MAX_WIDTH: usize = 10_000;

fn merged(
    run: &dyn Context,
    vm: &Vm<'_>,
    base: Value,
    overlay: &Value,
    strategy: &Value,
    lists: &Obj,
) -> Result<(Value, Options)> {
    // A merge goes through all of what it lays over.
    vm.burn(Extent::of(overlay).values)?;
    let mut meeting = ReplacedLists::default();
    let options = match lists {
        Obj::Undefined(_) => Options::new(strategy, &Value::Bool(false)),
        lists => Options::new(strategy, &lists.to_value()?),
    };
    if let Some(message) = options.strategy.warning() {
        run.warn(mapstack_diagnostic::Diagnostic::warning(
            mapstack_diagnostic::ErrorKind::Merge,
            format!("slsutil.merge: {message}"),
        ));
    }
    let Obj::Undefined(undefined) = lists else {
        return merge(base, overlay, &options)
            .map(|merged| (merged, options))
            .map_err(|e| Error::type_error(e.to_string()));
    };
    // Only where two lists meet does it matter whether they are merged.
    let merged = merge_observed(base, overlay, &options, &mut meeting)
        .map_err(|e| Error::type_error(e.to_string()))?;
    let never_asks = [
        Strategy::Overwrite,
        Strategy::Aggregate,
        Strategy::List,
        Strategy::None,
    ];
    if meeting.of_lists && !never_asks.contains(&options.strategy) {
        undefined.check()?;
    }
    Ok((merged, options))
}

/// Notes whether a list was put in place of another.
#[derive(Default)]
struct ReplacedLists {
    of_lists: bool,
}

impl Observer for ReplacedLists {
    fn changed(&mut self, _: &Trail<'_>, change: Change<'_>) {
        self.of_lists |= matches!(
            change,
            Change::Replaced {
                old: Value::List(_),
                new: Value::List(_)
            }
        );
    }
}

/// `dictupdate.update`: merge into a dict that others may hold, too. What is new in it is the very
/// object that was given.
///
/// `lists` is asked for its truth where two lists meet.
pub(super) fn update(
    run: &dyn Context,
    dest: &Obj,
    upd: &Obj,
    recursive: bool,
    lists: &Obj,
) -> Result<()> {
    let (Obj::Dict(dest), Obj::Dict(upd)) = (dest, upd) else {
        return Err(Error::type_error(
            "Cannot update using non-dict types in dictupdate.update()",
        ));
    };
    let update = Update { run, lists };
    update.dict(dest, upd, recursive, MAX_NESTING)
}

/// Deeper dicts are refused as Python refuses them; a dict can contain itself.
const MAX_NESTING: usize = 200;

/// An update of dicts.
struct Update<'u> {
    run: &'u dyn Context,
    lists: &'u Obj,
}

impl Update<'_> {
    /// Dicts that hold each other many times over are updated as often: each time is paid for.
    fn dict(&self, dest: &DictRef, upd: &DictRef, recursive: bool, depth: usize) -> Result<()> {
        let Some(depth) = depth.checked_sub(1) else {
            return Err(endless());
        };
        spend(ENTRY_STEPS * (1 + upd.len()))?;
        for (key, value) in upd.entries() {
            match (dest.get(&key).filter(|_| recursive), &value) {
                (Some(Obj::Dict(inner)), Obj::Dict(new)) => {
                    if self.run.is_followed() {
                        self.descends([(dest, &inner), (upd, new)], &key);
                    }
                    self.dict(&inner, new, true, depth)?;
                }
                (Some(Obj::List(old)), Obj::List(new)) if self.lists.truthy()? => {
                    let mut all = old.items();
                    let known = IndexedItems::of(&all)?;
                    let mut fresh = Vec::new();
                    for item in new.items() {
                        if !known.contains(&item)? {
                            fresh.push(item);
                        }
                    }
                    all.extend(fresh);
                    let all = Obj::list(all);
                    self.run.flows(Flow::Join {
                        into: dest,
                        at: &key,
                        from: upd,
                        is: &all,
                    });
                    dest.insert(key, all);
                }
                _ => {
                    self.run.flows(Flow::Update {
                        into: dest,
                        at: &key,
                        from: upd,
                    });
                    dest.insert(key, value);
                }
            }
        }
        Ok(())
    }

    /// Report the dicts under a key of both dicts.
    fn descends(&self, pairs: [(&DictRef, &DictRef); 2], at: &Key) {
        for (outer, inner) in pairs {
            self.run.flows(Flow::Entry {
                of: &Obj::Dict(outer.clone()),
                at,
                is: &Obj::Dict(inner.clone()),
            });
        }
    }
}

/// Steps that an entry of an update costs, and an item of a merged list.
const ENTRY_STEPS: usize = 4;

/// The items of a list, to be asked for often.
struct IndexedItems<'i> {
    items: &'i [Obj],
    /// Scalars, which equality by hash finds; without them every item has to be compared.
    simple: Option<HashSet<Key, RandomState>>,
    /// The positions of the others.
    others: Vec<usize>,
}

impl<'i> IndexedItems<'i> {
    fn of(items: &'i [Obj]) -> Result<Self> {
        spend(ENTRY_STEPS * items.len())?;
        // Items that are not data compare in their own ways, which can raise errors that depend on the order.
        let is_data =
            |item: &Obj| !matches!(item, Obj::Undefined(_) | Obj::Native(_) | Obj::Iter(_));
        if !items.iter().all(is_data) {
            return Ok(IndexedItems {
                items,
                simple: None,
                others: (0..items.len()).collect(),
            });
        }
        let simple = items.iter().filter_map(simple_key).collect();
        let others = (0..items.len())
            .filter(|at| simple_key(&items[*at]).is_none())
            .collect();
        Ok(IndexedItems {
            items,
            simple: Some(simple),
            others,
        })
    }

    fn contains(&self, wanted: &Obj) -> Result<bool> {
        spend(ENTRY_STEPS)?;
        if let (Some(simple), Some(key)) = (&self.simple, simple_key(wanted)) {
            return Ok(simple.contains(&key));
        }
        for at in &self.others {
            spend(1)?;
            if self.items[*at].equals(wanted)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// A scalar as a key. A scalar and a container are never equal, and NaN equals nothing.
fn simple_key(item: &Obj) -> Option<Key> {
    match item {
        Obj::Float(f) if f.is_nan() => None,
        Obj::None
        | Obj::Bool(_)
        | Obj::Int(_)
        | Obj::Float(_)
        | Obj::Str(_)
        | Obj::Markup(_)
        | Obj::Bytes(_) => hash_key(item).ok(),
        _ => None,
    }
}
