//! The order of versions, as `dpkg` and Salt's code for rpm have it.
//!
//! `cargo xtask reference --record --only versions` records the results again; `--check --kind version` compares more.

use std::cmp::Ordering;

use mapstack_functions::versions::{dpkg, rpm};
use proptest::prelude::*;
use serde_json::Value as Json;

#[test]
fn versions_are_ordered_as_recorded() {
    let records: Vec<Json> = serde_json::from_str(include_str!("data/versions.json")).unwrap();
    assert!(!records.is_empty());
    for record in &records {
        let version = |name: &str| {
            let text = record[name].as_str().unwrap();
            match text.split_once(':') {
                Some((_, rest)) if record.get("ignore_epoch").is_some() => rest,
                _ => text,
            }
        };
        let compare = match record["packages"].as_str().unwrap() {
            "dpkg" => dpkg::compare,
            _ => rpm::compare,
        };
        let order = compare(version("first"), version("second")).map(|order| order as i64);
        assert_eq!(order, record["result"].as_i64(), "{record}");
    }
}

proptest! {
    #[test]
    fn the_order_is_one(versions in prop::collection::vec("[0-2a-b~^.+-]{0,6}", 3)) {
        // A text that begins with a dash, or ends in one, is not a version to dpkg.
        for compare in [dpkg::compare, rpm::compare] {
            let [a, b, c] = [0, 1, 2].map(|at| format!("1{}1", versions[at]));
            let order = |x: &str, y: &str| compare(x, y).unwrap();
            prop_assert_eq!(order(&a, &a), Ordering::Equal);
            prop_assert_eq!(order(&a, &b), order(&b, &a).reverse());
            // Releases count only if both have one, so this does not order all versions.
            let all_have = |has: bool| [&a, &b, &c].iter().all(|text| text.contains('-') == has);
            if (all_have(true) || all_have(false)) && order(&a, &b).is_le() && order(&b, &c).is_le() {
                prop_assert!(order(&a, &c).is_le(), "{} {} {}", a, b, c);
            }
        }
    }

    #[test]
    fn nothing_panics(a in ".{0,12}", b in ".{0,12}") {
        prop_assert!(rpm::compare(&a, &b).is_some());
        if let (Some(order), Some(other)) = (dpkg::compare(&a, &b), dpkg::compare(&b, &a)) {
            prop_assert_eq!(order, other.reverse());
        }
    }
}
