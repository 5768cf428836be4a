//! `docs/*.schema.json` are the schemas of what the types print.
//!
//! `SNAPSHOTS=overwrite cargo test --workspace --test all schemas` writes them again.

use std::path::Path;
use std::{env, fs};

#[test]
fn the_documents_have_the_schemas_of_the_types() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    for (name, schema) in mapstack_report::schemas::all() {
        let file = docs.join(format!("{name}.schema.json"));
        let schema = serde_json::to_string_pretty(&schema).unwrap() + "\n";
        if env::var("SNAPSHOTS").is_ok_and(|how| how == "overwrite") {
            fs::write(&file, &schema).unwrap();
        }
        assert_eq!(fs::read_to_string(&file).unwrap(), schema, "{name}");
    }
}
