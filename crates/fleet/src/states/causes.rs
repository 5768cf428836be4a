//! The places from which changed lines and arguments come.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use mapstack::Place;
use mapstack::minion::FactPlace;
use mapstack::value::{Key, Value};
use mapstack_lineage::ValuePosition;

use super::blocks::{Block, blocks_around};
use super::compare::StateChange;
use super::explained_side::{ExplainedFileSide, ExplainedStateSide};
use super::hunks::{Hunk, hunks};

/// A place from which a changed value or line comes.
#[derive(Debug, Clone, PartialEq)]
pub struct Cause {
    /// The expression of a template that printed it, if a line has several parts.
    pub expression: Option<String>,
    /// The position of the value, or of the line in its template or sls.
    pub spot: ValuePosition,
}

/// The causes in the earlier and in the later state of the files.
pub type Causes = [Vec<Cause>; 2];

/// The places from which a change of a state comes. What is not known has none.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StateCauses {
    /// Of a state that is new or gone: the entry that gives the minion its sls, the line of its ID, the value that the ID is
    /// made of, or the condition around it.
    pub state: Causes,
    /// Beside the changes of its arguments.
    pub arguments: Vec<Causes>,
    /// Beside the changes of its files, as far as these were followed.
    pub files: Vec<FileCauses>,
}

/// The places from which a change of a file comes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FileCauses {
    /// Beside the changes of its attributes.
    pub attributes: Vec<Causes>,
    /// Those of lines that go and that come, by their numbers, from 0.
    pub lines: [BTreeMap<usize, Vec<Cause>>; 2],
}

/// A value or a line, with what it is made of.
#[derive(Debug, Clone)]
pub(super) struct CausePiece {
    /// Its own position.
    pub spot: ValuePosition,
    /// The parts that templates printed into it.
    pub parts: Vec<CausePart>,
}

/// A part of a value or a line.
#[derive(Debug, Clone)]
pub(super) struct CausePart {
    pub expression: Option<String>,
    /// The keys to it in the value of the expression.
    pub path: Vec<Key>,
    pub value: Option<Value>,
    pub spot: ValuePosition,
}

impl CausePart {
    /// True if another part is the same one of the same expression.
    fn is_of(&self, other: &CausePart) -> bool {
        self.expression == other.expression && self.path == other.path
    }

    /// True if another part is the same one and has the same value.
    fn is_same(&self, other: &CausePart) -> bool {
        let has_same_value = match (&self.value, &other.value) {
            (Some(own), Some(other)) => own.is_same(other),
            _ => false,
        };
        self.is_of(other) && has_same_value
    }

    pub fn cause(&self) -> Cause {
        Cause {
            expression: self.expression.clone(),
            spot: self.spot.clone(),
        }
    }
}

impl CausePiece {
    /// The causes of a piece that changed, given its counterparts in the other state. For an edited line, the
    /// cause is the line or the tag of a block around it. For a line that stayed, it is its changed parts or,
    /// without any, the condition or loop around it.
    fn causes(&self, others: &[&CausePiece], lines: LinesOfBothSides<'_>) -> Vec<Cause> {
        let other_parts = || others.iter().flat_map(|other| &other.parts);
        let is_other = |part: &&CausePart| !other_parts().any(|other| part.is_same(other));
        let differ: Vec<&CausePart> = self.parts.iter().filter(is_other).collect();
        let is_there = others.iter().any(|other| self.is_of_line(other));
        let mut causes: Vec<Cause> = match (self.edited(is_there, lines), &differ[..]) {
            (Some(edited), differ) => {
                // An expression that is there in both states has another value as well.
                let is_kept = |part: &&&CausePart| {
                    part.expression.is_some() && other_parts().any(|other| other.is_of(part))
                };
                let kept = differ.iter().filter(is_kept).map(|part| part.cause());
                std::iter::once(edited).chain(kept).collect()
            }
            (None, []) if self.parts.is_empty() => {
                let around = self.blocks().into_iter().next();
                let around = around.filter(|_| !is_there && !lines.there.is_empty());
                vec![around.unwrap_or_else(|| self.own())]
            }
            (None, []) => self.parts.iter().map(CausePart::cause).collect(),
            (None, differ) => differ.iter().map(|part| part.cause()).collect(),
        };
        causes.retain(|cause| {
            cause.spot != ValuePosition::Unknown && cause.spot != ValuePosition::Argument
        });
        without_repeats(causes)
    }

    /// True if another piece is from the same line, as far as its text says.
    fn is_of_line(&self, other: &CausePiece) -> bool {
        match (&self.spot, &other.spot) {
            (ValuePosition::File { place: own, .. }, ValuePosition::File { place, .. }) => {
                line_text(own) == line_text(place)
            }
            (own, other) => own == other,
        }
    }

    fn own(&self) -> Cause {
        Cause {
            expression: None,
            spot: self.spot.clone(),
        }
    }

    /// The line or a tag around it that is not in the other state; or, unless the line prints something there, the tag
    /// around the same line there that is not here.
    pub fn edited(&self, is_there: bool, lines: LinesOfBothSides<'_>) -> Option<Cause> {
        let ValuePosition::File { place, .. } = &self.spot else {
            return None;
        };
        if lines.there.is_empty() {
            return None;
        }
        let Some(counterpart) = lines.there.place(line_text(place)) else {
            return Some(self.own());
        };
        let is_in = |block: &Cause, lines: &LinesByText<'_>| match &block.spot {
            ValuePosition::File { place, .. } => lines.place(line_text(place)).is_some(),
            _ => true,
        };
        let mut own = self.blocks().into_iter();
        let own = own.find(|block| !is_in(block, lines.there));
        own.or_else(|| {
            let mut around = blocks_of(&counterpart).into_iter();
            around.find(|block| !is_there && !is_in(block, lines.here))
        })
    }

    /// The conditions and loops around it, the innermost first.
    pub fn blocks(&self) -> Vec<Cause> {
        match &self.spot {
            ValuePosition::File { place, .. } => blocks_of(place),
            _ => Vec::new(),
        }
    }
}

/// The conditions and loops around a place, the innermost first.
fn blocks_of(place: &Place) -> Vec<Cause> {
    let blocks = blocks_around(&place.source, place.start).into_iter();
    let cause = |block: Block| Cause {
        expression: Some(block.statement),
        spot: in_file(Place {
            start: block.start,
            end: block.start,
            ..place.clone()
        }),
    };
    blocks.map(cause).collect()
}

/// A position in a file.
pub(super) fn in_file(place: Place) -> ValuePosition {
    ValuePosition::File {
        place,
        computed: false,
        secret: false,
    }
}

fn line_text(place: &Place) -> &str {
    place.line_text().trim_end()
}

/// The lines of files, by their texts.
#[derive(Default)]
pub(super) struct LinesByText<'t>(HashMap<&'t str, (&'t Place, usize)>);

/// The lines of the files in the current state of the files and in the other one.
#[derive(Clone, Copy)]
pub(super) struct LinesOfBothSides<'l> {
    pub here: &'l LinesByText<'l>,
    pub there: &'l LinesByText<'l>,
}

/// The lines of files, read once for all changes of the same files.
#[derive(Default)]
pub(super) struct KnownLines<'t>(RefCell<HashMap<Vec<*const u8>, Rc<LinesByText<'t>>>>);

impl<'t> KnownLines<'t> {
    /// The lines of the files that places are in.
    pub fn of(&self, places: &'t [Place]) -> Rc<LinesByText<'t>> {
        let texts = places.iter().map(|place| place.source.as_ptr());
        let mut known = self.0.borrow_mut();
        let lines = known.entry(texts.collect());
        lines
            .or_insert_with(|| Rc::new(LinesByText::of(places)))
            .clone()
    }
}

impl<'t> LinesByText<'t> {
    fn of(places: &'t [Place]) -> Self {
        let mut lines = HashMap::new();
        for place in places {
            let mut start = 0;
            for line in place.source.split_inclusive('\n') {
                lines.entry(line.trim_end()).or_insert((place, start));
                start += line.len();
            }
        }
        LinesByText(lines)
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The place of the first line with a text.
    fn place(&self, text: &str) -> Option<Place> {
        let (place, start) = self.0.get(text)?;
        Some(Place {
            start: *start,
            end: *start,
            ..(*place).clone()
        })
    }
}

/// Causes of which no two are on the same line of a file.
fn without_repeats(causes: Vec<Cause>) -> Vec<Cause> {
    let mut kept: Vec<Cause> = Vec::new();
    for cause in causes {
        let is_there = |known: &Cause| match (line_of(&known.spot), line_of(&cause.spot)) {
            (Some(one), Some(other)) => one == other,
            _ => known.spot == cause.spot,
        };
        if !kept.iter().any(is_there) {
            kept.push(cause);
        }
    }
    kept
}

/// The file and the line of a position.
fn line_of(spot: &ValuePosition) -> Option<(&str, usize)> {
    match spot {
        ValuePosition::File { place, .. } => Some((&place.file, place.line())),
        ValuePosition::Fact {
            place: Some(FactPlace::File(place)),
            ..
        } => Some((&place.file, place.mark?.line as usize)),
        _ => None,
    }
}

/// The causes of a change of a state, from what both states of the files say of it.
pub(super) fn causes<'t>(
    change: &StateChange,
    sides: [&'t ExplainedStateSide; 2],
    known: &KnownLines<'t>,
) -> StateCauses {
    let lines = sides.map(|side| known.of(&side.sources));
    let both = |pieces: [&[CausePiece]; 2]| -> Causes {
        [0, 1].map(|side| {
            let others: Vec<&CausePiece> = pieces[1 - side].iter().collect();
            let own = pieces[side].iter();
            let all = own.flat_map(|piece| piece.causes(&others, on_side(&lines, side)));
            without_repeats(all.collect())
        })
    };
    let of_arguments = (0..change.arguments.len()).map(|at| {
        let pieces = sides.map(|side| side.arguments.get(at).map_or(&[][..], |all| all));
        match (&change.old, &change.new) {
            (Some(_), Some(_)) => both(pieces),
            // What the sls itself says is new or gone with the state.
            _ => pieces.map(of_parts),
        }
    });
    let of_files = (0..change.files.len()).map(|at| {
        let files = sides.map(|side| side.files.get(at));
        let attributes = files.map(|file| file.map_or(&[][..], |file| &file.attributes));
        let count = attributes.map(<[_]>::len);
        let attributes = (0..count[0].max(count[1]))
            .map(|at| both(attributes.map(|all| all.get(at).map_or(&[][..], |all| all))));
        FileCauses {
            attributes: attributes.collect(),
            lines: match files {
                [Some(old), Some(new)] => of_lines([old, new], known),
                _ => Default::default(),
            },
        }
    });
    StateCauses {
        state: [0, 1].map(|side| sides[side].of_state(sides[1 - side], known)),
        arguments: of_arguments.collect(),
        files: of_files.collect(),
    }
}

/// The causes of parts that templates printed.
fn of_parts(pieces: &[CausePiece]) -> Vec<Cause> {
    let parts = pieces.iter().flat_map(|piece| &piece.parts);
    without_repeats(parts.map(CausePart::cause).collect())
}

fn on_side<'l>(lines: &'l [Rc<LinesByText<'l>>; 2], side: usize) -> LinesOfBothSides<'l> {
    LinesOfBothSides {
        here: &lines[side],
        there: &lines[1 - side],
    }
}

/// The causes of the lines of a file that go and come.
fn of_lines<'t>(
    files: [&'t ExplainedFileSide; 2],
    known: &KnownLines<'t>,
) -> [BTreeMap<usize, Vec<Cause>>; 2] {
    let lines = files.map(|file| known.of(&file.sources));
    let mut found: [BTreeMap<usize, Vec<Cause>>; 2] = Default::default();
    for Hunk(ranges) in hunks(files.map(|file| &*file.text)) {
        let pieces = [0, 1].map(|side| files[side].lines.range(ranges[side].clone()));
        for side in [0, 1] {
            let others: Vec<&CausePiece> =
                pieces[1 - side].clone().map(|(_, piece)| piece).collect();
            for (number, piece) in pieces[side].clone() {
                let causes = piece.causes(&others, on_side(&lines, side));
                if !causes.is_empty() {
                    found[side].insert(*number, causes);
                }
            }
        }
    }
    found
}
