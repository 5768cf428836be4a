//! The modules that code of a tree imports, compared with recorded results of CPython 3.11, PyYAML, Jinja2, dateutil and
//! Salt 3008.3: once in a module of the tree, and once in a file for the renderer `py`.

use mapstack::loader::MemoryFiles;
use mapstack::minion::Minion;
use mapstack::value::{Value, json};
use mapstack::{Engine, TemplateOptions};

/// Expressions whose results differ deliberately, with the reason.
const DIFFERENCES: &[(&str, &str)] = &[];

/// The recordings of `xtask/reference/library.py`.
const RECORDINGS: [&str; 2] = [
    include_str!("data/python_library.json"),
    include_str!("data/python_packages.json"),
];

/// The module, and the expressions with what Python prints of their results.
fn recorded(recording: &str) -> (String, Vec<(String, String)>) {
    let recorded = json::loads(recording).unwrap();
    let recorded = recorded.as_map().unwrap();
    let results = recorded.get("results").and_then(Value::as_list).unwrap();
    let pair = |pair: &Value| {
        let pair = pair.as_list().unwrap();
        (pair[0].to_string(), pair[1].to_string())
    };
    let module = recorded.get("module").unwrap().to_string();
    (module, results.iter().map(pair).collect())
}

fn minion() -> Minion {
    let facts = "{id: web1, grains: {os: Debian, pythonversion: [3, 11, 7, final, 0]}}";
    Minion::parse(facts.as_bytes(), "web1").unwrap().complete()
}

const ALL: &str = "
def all_of(expressions):
    out = []
    for expression in expressions:
        try:
            out.append(evaluate(expression))
        except Exception as error:
            out.append('raises %s: %s' % (type(error).__name__, error))
    return out
";

fn assert_same(results: &[(String, String)], ours: &Value) {
    let ours = ours.as_list().unwrap();
    assert_eq!(ours.len(), results.len());
    let (mut wrong, mut known) = (Vec::new(), 0);
    for ((expression, wanted), ours) in results.iter().zip(ours.iter()) {
        let is_same = *wanted == ours.to_string();
        match DIFFERENCES.iter().any(|(known, _)| known == expression) {
            true => {
                assert!(!is_same, "{expression} does not differ");
                known += 1;
            }
            false if !is_same => {
                wrong.push(format!(
                    "{expression}\n    Python: {wanted}\n    here:   {ours}"
                ));
            }
            false => {}
        }
    }
    assert_eq!(known, DIFFERENCES.len(), "each difference is recorded");
    assert!(
        wrong.is_empty(),
        "{} differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn modules_of_the_tree_have_what_pythons_of_minions_have() {
    RECORDINGS.into_iter().for_each(assert_in_a_module);
}

fn assert_in_a_module(recording: &str) {
    let (module, results) = recorded(recording);
    let expressions: Value = results.iter().map(|(it, _)| Value::from(&**it)).collect();
    let files = MemoryFiles::new()
        .file("base", "_modules/lib.py", format!("{module}{ALL}"))
        .file(
            "base",
            "t.jinja",
            "{{ salt['lib.all_of'](expressions) | json }}",
        );
    let mut options = TemplateOptions::default();
    options.context.insert("expressions", expressions);
    let engine = Engine::new(files);
    let made = engine.run(&minion()).template("t.jinja", &options).unwrap();
    assert_same(&results, &json::loads(&made).unwrap());
}

#[test]
fn files_for_the_renderer_py_have_the_same() {
    RECORDINGS.into_iter().for_each(assert_in_a_file);
}

fn assert_in_a_file(recording: &str) {
    let (module, results) = recorded(recording);
    // Salt gives such a file its functions by the name `salt`, in place of the package.
    let results: Vec<_> = results
        .into_iter()
        .filter(|(expression, _)| !expression.contains("salt."))
        .collect();
    let expressions: Value = results.iter().map(|(it, _)| Value::from(&**it)).collect();
    let source = format!(
        "#!py\n{module}{ALL}\ndef run():\n    return {{'all': all_of({})}}\n",
        expressions.repr()
    );
    let engine = Engine::new(MemoryFiles::new().file("base", "lib.sls", source));
    let made = engine.run(&minion()).sls("lib.sls").unwrap();
    assert_same(&results, made.as_map().unwrap().get("all").unwrap());
}
