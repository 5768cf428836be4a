//! The places that set the values of a pillar.

use foldhash::fast::RandomState;
use indexmap::IndexMap;
use mapstack_value::Key;

/// The file of a class or a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassFile {
    /// The name of the class, or the id of the node.
    pub name: String,
    /// Its path.
    pub path: String,
}

/// A place in the data of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePlace {
    /// The number of the file.
    pub file: usize,
    /// The keys that lead to the value, from the mapping of all values.
    pub path: Vec<Key>,
}

/// The effect of a place on a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlaceEffect {
    /// It set the value.
    Set,
    /// It set the value to the items of a list behind the first one, which only says so.
    SetBehindMark,
    /// Its items came behind those of a list.
    Joined,
    /// It was left out, as the value before is a constant.
    Rejected,
}

impl PlaceEffect {
    /// True if the place set the value.
    #[must_use]
    pub fn is_set(self) -> bool {
        matches!(self, PlaceEffect::Set | PlaceEffect::SetBehindMark)
    }
}

/// The places that set a value, and those that set what is inside.
#[derive(Debug, Clone, Default)]
pub struct SetPlaces {
    /// The places that took their turn, in order.
    pub turns: Vec<(FilePlace, PlaceEffect)>,
    /// The entries of a mapping, or the items of a list by their indices.
    pub inside: IndexMap<Key, SetPlaces, RandomState>,
}

impl SetPlaces {
    /// The origin of what is below keys, for changes.
    pub(crate) fn follow_mut(&mut self, path: &[Key]) -> &mut SetPlaces {
        let mut here = self;
        for key in path {
            here = here.inside.entry(key.clone()).or_default();
        }
        here
    }

    fn renumber(&mut self, numbers: &[usize]) {
        for (place, _) in &mut self.turns {
            place.file = numbers.get(place.file).copied().unwrap_or(place.file);
        }
        let inside = self.inside.values_mut();
        inside.for_each(|inside| inside.renumber(numbers));
    }
}

/// The origins of the values of a pillar.
#[derive(Debug, Clone, Default)]
pub struct Origins {
    /// The files, in the order of their merge.
    pub files: Vec<ClassFile>,
    /// The origins of the whole pillar.
    pub root: SetPlaces,
    /// The origins of what was changed in place in the pillar that templates see.
    pub in_place: SetPlaces,
}

impl Origins {
    /// Origins whose places know the files by their present numbers, with the files in another order.
    pub(crate) fn ordered(
        files: &[ClassFile],
        order: &[usize],
        [mut root, mut in_place]: [SetPlaces; 2],
    ) -> Self {
        let mut numbers: Vec<usize> = (0..files.len()).collect();
        for (new, old) in order.iter().enumerate() {
            numbers[*old] = new;
        }
        root.renumber(&numbers);
        in_place.renumber(&numbers);
        let files = order.iter().map(|number| files[*number].clone());
        Origins {
            files: files.collect(),
            root,
            in_place,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_put_in_order() {
        let file = |name: &str| ClassFile {
            name: name.into(),
            path: format!("{name}.yml"),
        };
        let mut root = SetPlaces::default();
        let path = [Key::from("x"), Key::from("y")];
        let place = |file| FilePlace {
            file,
            path: path.to_vec(),
        };
        let set = |file| (place(file), PlaceEffect::Set);
        root.follow_mut(&path).turns = vec![set(0), set(2)];
        let files = ["node", "a", "b"].map(file);
        let mut origins = Origins::ordered(&files, &[1, 2, 0], [root, SetPlaces::default()]);
        let names: Vec<&str> = origins.files.iter().map(|file| &*file.name).collect();
        assert_eq!(names, ["a", "b", "node"]);
        let turns = &origins.root.follow_mut(&path).turns;
        let numbers: Vec<usize> = turns.iter().map(|(place, _)| place.file).collect();
        assert_eq!(numbers, [2, 1]);
    }
}
