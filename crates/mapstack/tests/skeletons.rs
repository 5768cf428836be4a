//! Layers whose templates print facts specific to a minion: results with one engine for all minions equal results
//! with separate engines.

use mapstack::loader::MemoryFiles;
use mapstack::minion::Minion;
use mapstack::value::Value;
use mapstack::{DataOptions, Engine};
use proptest::prelude::*;

const DEFAULTS: &str = "values:
  name: {{ grains.word }}  # {{ grains.number }}
  list: [{{ grains.word }}, 'as {{ grains.word }}', {n: {{ grains.number }}}]
  text: |
    {{ grains.word }}
{%- if grains.number is odd %}
strategy: {{ grains.word }}
{%- endif %}
";
/// Words that are keys, and words that are only a part of a line.
const OTHER: &str =
    "values: {same: {a: 1}, {{ grains.word }}: 1, long: x{{ grains.number }}-{{ grains.word }}}\n";

fn answer(engine: &Engine, minion: &Minion) -> (Result<Value, String>, Vec<String>) {
    let run = engine.run(minion);
    let result = run
        .data("f", &DataOptions::default())
        .map_err(|e| e.to_string());
    (
        result,
        run.warnings()
            .iter()
            .map(|warning| format!("{warning:?}"))
            .collect(),
    )
}

fn engine() -> Engine {
    let files = MemoryFiles::new()
        .file("base", "f/parameters/defaults.yaml", DEFAULTS)
        .file("base", "f/parameters/os/Other.yaml", OTHER);
    Engine::new(files)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn what_was_printed_for_others_changes_nothing(
        minions in prop::collection::vec(("(web|db)[0-9]{1,2}|0[0-9]{2}|true|smart|recurse|same|[a-c :#,'\\[-]{1,4}", 0..9u8, any::<bool>()), 1..24),
    ) {
        let shared = engine();
        for (word, number, other) in minions {
            let os = if other { "Other" } else { "None" };
            let document = format!("id: m\ngrains: {{os: {os}, word: '{}', number: {number}}}\n", word.replace('\'', "''"));
            let minion = Minion::parse(document.as_bytes(), "minion").unwrap().complete();
            let (here, fresh) = (answer(&shared, &minion), answer(&engine(), &minion));
            match (&here.0, &fresh.0) {
                (Ok(here), Ok(fresh)) => prop_assert!(here.is_same(fresh), "{} is not {}", here.repr(), fresh.repr()),
                (Err(here), Err(fresh)) => prop_assert_eq!(here, fresh),
                _ => prop_assert!(false, "{:?} is not {:?}", here, fresh),
            }
            prop_assert_eq!(here.1, fresh.1);
        }
    }
}
