//! Pillars whose files name the renderer `stateconf`, beside what the reference compiles.

use crate::common::{assert_repeated, records};
use crate::some_files::{error, shown};
use crate::whole_pillar;
use mapstack::loader::MemoryFiles;

/// Records whose result here differs on purpose, with the reason.
const DIFFERENCES: &[(&str, &str)] = &[(
    "stateconf: what an included sls sets is extended",
    "what stateconf changes in place changes only in the sls at hand",
)];

#[test]
fn every_recorded_pillar_is_as_the_reference_has_it() {
    let records = records(include_str!("data/stateconf_pillars.json"));
    assert_repeated(&records, DIFFERENCES, whole_pillar::check);
}

#[test]
fn errors_of_stateconf_name_the_place() {
    for (text, place, says) in [
        (
            "#!stateconf -G\na: {b.c: []}\nk: 1\n",
            "a.sls:3:1",
            "'k' is an integer, not a mapping",
        ),
        (
            "#!stateconf -G\na: {b.c: [{require: [{pkg: 5}]}]}\n",
            "a.sls:2:23",
            "is an integer, not text",
        ),
        ("#!stateconf -x\na: {}\n", "a.sls:1:1", "has no option '-x'"),
        (
            "#!stateconf yaml . nosuch\na: {}\n",
            "a.sls:1:1",
            "unknown renderer 'nosuch'",
        ),
        (
            "#!stateconf -G\n.x: {b.c: []}\n'a::x': {b.c: []}\n",
            "a.sls:2:1",
            "which exists already",
        ),
        (
            "#!stateconf -G\n{% set x = 1 %}\ny: {b.c: []}\ninclude: [...z]\n",
            "a.sls:4:11",
            "above the top",
        ),
    ] {
        let error = error(text, MemoryFiles::new());
        assert!(
            error.contains(place) && error.contains(says),
            "{text}\n{error}"
        );
    }
}

#[test]
fn what_is_extended_stays_as_it_was() {
    let made = shown(&[
        (
            "a.sls",
            "#!stateconf -G\nextend: {'b::p': {stateconf.set: [{require: [{pkg: x}]}]}}\n",
        ),
        (
            "b.sls",
            "#!stateconf -G\n.p: {stateconf.set: [{require: [{pkg: y}]}]}\n",
        ),
    ]);
    // The reference adds the `y` of the second sls to the first one's list.
    assert!(
        made.contains("OrderedDict({'require': [OrderedDict({'pkg': 'x'})]})")
            || made.contains("{'require': [{'pkg': 'x'}]}"),
        "{made}"
    );
}
