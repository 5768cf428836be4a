//! Texts that are dates, as timelib reads them.
//!
//! `data/dates.json` was recorded from it by `xtask/reference/dates.py`: for each text and a present what it means.

use jiff::civil::DateTime;
use serde_json::Value as Json;

#[path = "../src/filters/timelib/mod.rs"]
mod timelib;

/// Differences between what is recorded and what a text means here.
fn differences(records: &[Json]) -> Vec<String> {
    let epoch = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);
    let different = records.iter().filter_map(|record| {
        let (text, seconds) = (record[0].as_str().unwrap(), record[1].as_i64().unwrap());
        let now = epoch + jiff::SignedDuration::from_secs(seconds);
        let here = timelib::moment(text, || Some(now)).map(|moment| moment.to_string());
        let here = here.as_deref();
        (here != record[2].as_str()).then(|| format!("{text:?}: {here:?}, not {:?}", record[2]))
    });
    different.collect()
}

#[test]
fn texts_mean_what_they_mean_to_timelib() {
    let records: Vec<Json> = serde_json::from_str(include_str!("data/dates.json")).unwrap();
    let different = differences(&records);
    assert!(
        different.is_empty(),
        "{} of {}: {:#?}",
        different.len(),
        records.len(),
        &different[..different.len().min(60)]
    );
}
