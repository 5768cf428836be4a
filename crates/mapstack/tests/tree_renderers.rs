//! Renderers of the tree: what they find, and what they leave behind.

use mapstack::loader::MemoryFiles;
use mapstack::minion::Minion;
use mapstack::{Engine, Limits};

fn web1() -> Minion {
    Minion::parse(b"{id: web1, grains: {os: Debian}}", "web1.yaml")
        .unwrap()
        .complete()
}

fn with(renderer: &str) -> MemoryFiles {
    MemoryFiles::new()
        .file("base", "a.sls", "#!own\nx: 1\n")
        .file("base", "_renderers/own.py", renderer)
}

/// The outcome of an sls of the renderer.
fn made(files: MemoryFiles) -> Result<String, String> {
    let limits = Limits {
        fuel: 200_000,
        ..Limits::default()
    };
    let engine = Engine::new(files).with_limits(limits);
    let run = engine.run(&web1());
    let states = run.sls("a.sls");
    states.map(|it| it.repr()).map_err(|e| e.to_string())
}

#[test]
fn what_the_sandbox_lacks_is_an_error() {
    for (body, place, says) in [
        (
            "    return {'x': open('/etc/passwd').read()}\n",
            "_renderers/own.py:2",
            "'open' of",
        ),
        (
            "    return kwargs['renderers']['yaml'](text)\n",
            "_renderers/own.py:2",
            "'renderers' is not available offline",
        ),
        (
            "    try:\n        __salt__['cmd.run']('id')\n    except Exception:\n        return {}\n",
            "_renderers/own.py:3",
            "cmd.run",
        ),
        (
            "    while True:\n        pass\n",
            "_renderers/own.py:3",
            "steps",
        ),
        ("    return {'x': object()}\n", "", "is not data"),
    ] {
        let renderer = format!("def render(text, saltenv='base', sls='', **kwargs):\n{body}");
        let error = made(with(&renderer)).unwrap_err();
        assert!(
            error.contains(place) && error.contains(says),
            "{body}\n{error}"
        );
    }
}

#[test]
fn templates_have_no_renderers() {
    let files = |sls: &str| MemoryFiles::new().file("base", "a.sls", sls);
    let error = made(files("x: {{ renderers['yaml']('1') }}\n")).unwrap_err();
    assert!(error.contains("'renderers' is undefined"), "{error}");
    let called = files("x: {{ salt['slsutil.renderer'](string='{y: 1}') }}\n");
    assert_eq!(made(called).unwrap(), "{'x': {'y': 1}}");
}

#[test]
fn saltenvs_are_searched_in_order() {
    let renderer =
        |name: &str| format!("def render(*args, **kwargs):\n    return {{'of': '{name}'}}\n");
    let files = MemoryFiles::new()
        .file("base", "a.sls", "#!own\n")
        .file("dev", "a.sls", "#!own\n")
        .file("dev", "_renderers/own.py", renderer("dev"));
    assert_eq!(made(files.clone()).unwrap(), "{'of': 'dev'}");
    let files = files.file("base", "_renderers/own.py", renderer("base"));
    assert_eq!(made(files).unwrap(), "{'of': 'base'}");
}

#[test]
fn a_new_renderer_is_a_change() {
    let engine = Engine::new(MemoryFiles::new().file("base", "a.sls", "x: 1\n"));
    let run = engine.run(&web1());
    run.sls("a.sls").unwrap();
    let reads = run.file_reads();
    let is_listed = reads.iter().any(|read| &*read.path == "_renderers/");
    assert!(is_listed, "{reads:?}");
}

#[test]
fn what_prints_text_is_printed() {
    let text = |renderer: &str| {
        let engine = Engine::new(with(renderer));
        engine.run(&web1()).sls_text("a.sls").unwrap()
    };
    let upper = "from io import StringIO\ndef render(text, *args, **kwargs):\n    return StringIO(text.read().upper())\n";
    assert_eq!(text(upper), "#!OWN\nX: 1\n");
    // Before a stage that makes data, there is the text of the file.
    let data = "def render(text, *args, **kwargs):\n    return {'a': 1}\n";
    assert_eq!(text(data), "#!own\nx: 1\n");
}
