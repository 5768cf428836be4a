//! Merges two JSON documents by a strategy that is named on the command line.

use mapstack_merge::{Options, Value, merge};
use serde_json::{Value as Json, json};

fn merged(base: Json, overlay: Json, strategy: &str) -> Result<Json, Box<dyn std::error::Error>> {
    let options = Options {
        strategy: strategy.parse()?,
        merge_lists: true,
    };
    let merged = merge(Value::from(base), &Value::from(overlay), &options)?;
    Ok(Json::try_from(&merged)?)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let strategy = std::env::args().nth(1).unwrap_or("smart".into());
    let (base, overlay) = (json!({"ports": [80]}), json!({"ports": [443], "tls": true}));
    println!("{}", merged(base, overlay, &strategy)?);
    Ok(())
}

#[test]
fn a_strategy_is_named_and_a_misspelt_one_is_refused() {
    let with = |strategy| merged(json!({"ports": [80]}), json!({"ports": [443]}), strategy);
    assert_eq!(with("smart").unwrap(), json!({"ports": [80, 443]}));
    assert_eq!(with("overwrite").unwrap(), json!({"ports": [443]}));
    let error = with("overwrit").unwrap_err().to_string();
    assert!(
        error.starts_with("unknown merge strategy 'overwrit'"),
        "{error}"
    );
}
