//! `mapstack explain`: the schema of what programs get.

use crate::common::{repository, run_line};

#[test]
fn what_programs_get_has_a_schema() {
    let json = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
    let schema =
        json(&std::fs::read_to_string(repository().join("docs/explain.schema.json")).unwrap());
    let schema = jsonschema::validator_for(&schema).unwrap();
    let explained = |facts: &str| {
        let roots = "--root examples/site --root examples/formulas";
        let ran = run_line(
            &repository(),
            &format!("explain users -o json {roots} {facts}"),
        );
        assert_eq!(ran.status, Some(0), "{facts}: {}", ran.stderr);
        json(&ran.stdout)
    };
    let facts =
        ["web1", "db1", "bsd1"].map(|name| format!("--minion examples/minions/{name}.yaml"));
    let more = [
        "--platform windows-2022",
        "--platform debian-12 --set pillar.users.home_root=/srv",
        "--platform arch --id 5",
    ];
    for facts in facts.iter().map(String::as_str).chain(more) {
        let explained = explained(facts);
        let problems: Vec<String> = schema
            .iter_errors(&explained)
            .map(|e| format!("{}: {e}", e.instance_path()))
            .collect();
        assert!(problems.is_empty(), "{facts}: {problems:?}");
    }
    let right = explained(&facts[0]);
    for (pointer, wrong) in [
        ("/formula", serde_json::json!(null)),
        ("/layers/0/kind", serde_json::json!("other")),
        ("/values/1/origin", serde_json::json!({})),
        ("/values/1/origin/line", serde_json::json!(0)),
        ("/values/1/past", serde_json::json!([{}])),
    ] {
        let mut broken = right.clone();
        *broken.pointer_mut(pointer).unwrap() = wrong;
        assert!(!schema.is_valid(&broken), "{pointer}");
    }
}
