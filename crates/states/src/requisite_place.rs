//! The places of requisites in sls.

use std::ops::Range;

use mapstack_diagnostic::Place;

use crate::compile::{NamedState, Requires};
use crate::{GotSls, Places};

/// The bytes of a file that are searched for each item of a state whose ID does not exist: thousands of such would take
/// time by the square of its size.
const MOST_SEARCHED: usize = 64 << 10;

/// The keys down to a requisite of a state, and a state that it names.
struct RequisiteItem<'i> {
    keys: [&'i str; 3],
    module: &'i str,
    names: [&'i str; 2],
}

impl<'i> RequisiteItem<'i> {
    fn of(state: &'i NamedState, argument: &'i str, on: &'i NamedState) -> Self {
        RequisiteItem {
            keys: [&state.id, &state.module, argument],
            module: &on.module,
            names: [&on.id, &on.name],
        }
    }

    /// The places of the item in a part of a text.
    fn ranges<'t>(
        &'t self,
        text: &'t str,
        part: Range<usize>,
    ) -> impl Iterator<Item = Range<usize>> + 't {
        let start = part.start;
        let part = text.get(part).unwrap_or_default();
        let mut names = self.names;
        if names[0] == names[1] {
            names[1] = "";
        }
        let names = names.into_iter().filter(|name| !name.is_empty());
        names.flat_map(move |name| {
            let found = part.match_indices(name);
            found.filter_map(move |(at, _)| {
                let end = at + name.len();
                let is_end = ends_item(&part[end..]);
                let begin = is_end.then(|| begin_of_item(&part[..at], self.module))??;
                Some(start + begin..start + end)
            })
        })
    }
}

impl Places<'_> {
    /// The place of a requisite, with its sls: that of the item, at the state that has it or at the one that gives it
    /// (`require_in`). Where a template makes the item, it is that of the requisite's name.
    pub(crate) fn requisite(&self, of: &Requires) -> Option<(&GotSls, Place)> {
        let Requires {
            state,
            argument,
            on,
        } = of;
        let giving = format!("{argument}_in");
        // Watching becomes requiring where the state module does nothing about it.
        let watching = argument.replace("require", "watch");
        let own =
            [argument, &watching].map(|argument| (state, RequisiteItem::of(state, argument, on)));
        let other = (on, RequisiteItem::of(on, &giving, state));
        let places = own.into_iter().chain([other]).filter_map(|(at, item)| {
            let sls = self.sls(&at.sls, None)?;
            Some((sls, self.exact(sls, &item.keys)?, item))
        });
        let places: Vec<_> = places.collect();
        let mut items = places.iter().filter_map(|(sls, argument, item)| {
            let end = argument.end + block_length(&argument.source, argument.end);
            let mut items = item.ranges(&argument.source, argument.end..end);
            Some((*sls, at(argument, items.next()?)))
        });
        let found = items.next().or_else(|| {
            let (sls, argument, _) = places.into_iter().next()?;
            Some((sls, argument))
        });
        found.or_else(|| self.only_item(state, argument, on))
    }

    /// The only item of an sls that can be the requisite, if a template computes the ID of its state.
    fn only_item(
        &self,
        state: &NamedState,
        argument: &str,
        on: &NamedState,
    ) -> Option<(&GotSls, Place)> {
        let sls = self.sls(&state.sls, None)?;
        let place = self.file(sls)?.place(&[]);
        let item = RequisiteItem::of(state, argument, on);
        let part = 0..place.source.len().min(MOST_SEARCHED);
        let mut ranges = item.ranges(&place.source, part);
        let (only, None) = (ranges.next()?, ranges.next()) else {
            return None;
        };
        Some((sls, at(&place, only)))
    }
}

/// The same place elsewhere in its file.
fn at(place: &Place, range: Range<usize>) -> Place {
    Place {
        start: range.start,
        end: range.end,
        ..place.clone()
    }
}

/// The length of a block from its first line on: up to a line that is not indented deeper.
fn block_length(text: &str, start: usize) -> usize {
    let own = text[..start].rfind('\n').map_or(0, |at| at + 1);
    let own = indent(&text[own..]);
    let mut lines = text[start..].split_inclusive('\n');
    let first = lines.next().map_or(0, str::len);
    let below = lines.take_while(|line| is_aside(line) || indent(line) > own);
    first + below.map(str::len).sum::<usize>()
}

pub(crate) fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// True for lines whose indentation says nothing: empty ones, comments and statements of templates.
pub(crate) fn is_aside(line: &str) -> bool {
    let line = line.trim_start();
    line.is_empty() || line.starts_with('#') || line.starts_with("{%") || line.starts_with("{#")
}

/// True if an item may end here.
fn ends_item(rest: &str) -> bool {
    let rest = rest.strip_prefix(['"', '\'']).unwrap_or(rest);
    let rest = rest.trim_start_matches([' ', '\t', '\r']);
    rest.is_empty() || rest.starts_with(['\n', ',', '}', ']', '#', '{'])
}

/// The beginning of an item before its name: that of the state module, or of the name if that is all.
fn begin_of_item(before: &str, module: &str) -> Option<usize> {
    let unquoted = |text: &'_ str| text.strip_suffix(['"', '\'']).unwrap_or(text).len();
    let name = &before[..unquoted(before)];
    let starts = |text: &str| text.is_empty() || text.ends_with([' ', '[', '{', ',', '\n']);
    let Some(key) = name.trim_end().strip_suffix(':') else {
        let is_item = name.trim_end().ends_with(['-', '[', ',']);
        return is_item.then_some(name.len());
    };
    let key = &key[..unquoted(key)];
    let outside = key.strip_suffix(module)?;
    let outside = &outside[..unquoted(outside)];
    starts(outside).then_some(key.len() - module.len())
}
