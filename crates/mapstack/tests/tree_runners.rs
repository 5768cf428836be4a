//! Runners of the tree. The answers are those of Salt 3008.3, where it has one.

use std::fs;

use mapstack::loader::{Deployed, MemoryFiles};
use mapstack::minion::Minion;
use mapstack::{Engine, Stubs, TemplateOptions};

const RUNNERS: &str = "\
import yaml
def echo(*args, **kwargs):
    return [list(args), kwargs]
def two(a, b=2):
    \"\"\"Doc of two.\"\"\"
    return {'a': a, 'b': b}
def env(saltenv='x'):
    return saltenv
def chain(x):
    return __salt__['r.two'](x)
def mod(x):
    return __salt__['salt.cmd']('m.f', x)
def nomod():
    return __salt__['salt.cmd']('nosuch.f', 1)
def boom():
    raise ValueError('no')
def grains():
    return __grains__['os']
def up():
    try:
        return __salt__['manage.up']()
    except Exception:
        return 'hidden'
def facts():
    return __salt__['salt.cmd']('grains.get', 'os')
def host(name):
    with open('/srv/git/hosts.yaml') as hosts:
        return yaml.safe_load(hosts).get(name, {})
";

fn engine(expression: &str) -> Engine {
    Engine::new(
        MemoryFiles::new()
            .file("base", "_runners/r.py", RUNNERS)
            .file("base", "_modules/m.py", "def f(x):\n    return 'v%s' % x\n")
            .file("base", "t.jinja", format!("{{{{ {expression} | json }}}}")),
    )
}

/// The text that a template prints, or its error.
fn evaluated(engine: &Engine) -> Result<String, String> {
    let minion = Minion::parse(b"{id: web1, grains: {os: Debian}}", "web1")
        .unwrap()
        .complete();
    let run = engine.run(&minion);
    let made = run.template("t.jinja", &TemplateOptions::default());
    made.map_err(|error| error.to_string())
}

#[test]
fn the_trees_runners_answer_as_their_client_does() {
    for (call, answer) in [
        (
            "'r.echo', arg=['1', 'a=b', 'x y', 5, '1_000'], kwarg={'k': 'v'}",
            r#"[[1, "x y", 5, "1_000"], {"__pub_user": "UNKNOWN", "a": "b", "k": "v"}]"#,
        ),
        ("'r.two', arg=[1]", r#"{"a": 1, "b": 2}"#),
        ("'r.two', arg=['b=3', '0x10']", r#"{"a": 16, "b": 3}"#),
        ("'r.two', a=3, __x=1", r#"{"a": 3, "b": 2}"#),
        (
            "'r.two'",
            r#""\nPassed invalid arguments: two() missing 1 required positional argument: 'a'\n\nUsage:\nDoc of two.""#,
        ),
        ("'r.env'", r#""base""#),
        ("'r.env', __env__='dev'", r#""dev""#),
        ("'r.chain', arg=['yes']", r#"{"a": true, "b": 2}"#),
        ("'r.mod', arg=[7]", r#""v7""#),
        ("'r.nomod'", r#""'nosuch.f' is not available.""#),
        ("'salt.cmd', arg=['m.f', 1]", r#""v1""#),
    ] {
        let engine = engine(&format!("salt['saltutil.runner']({call})"));
        assert_eq!(evaluated(&engine).as_deref(), Ok(answer), "{call}");
    }
}

#[test]
fn what_only_a_master_knows_is_named() {
    for (call, says) in [
        ("'r.boom'", "raises (ValueError: no in r.boom)"),
        ("'r.grains'", "__grains__ of the master"),
        // No handler hides it.
        ("'r.up'", "the runner manage.up of Salt"),
        ("'r.facts'", "'grains.get' answers on the master"),
        ("'manage.up'", "salt['saltutil.runner']('manage.up')"),
        ("'r.nosuch'", "salt['saltutil.runner']('r.nosuch')"),
        ("'r.two', arg=[1], full_return=True", "full_return"),
        ("'r.two', arg='x'", "arg must be formatted as a list/tuple"),
        ("'r.two', kwarg={'x': 1}", "not valid: x=1"),
        ("'r.host', arg=['a']", "'open' of '/srv/git/hosts.yaml'"),
    ] {
        let engine = engine(&format!("salt['saltutil.runner']({call})"));
        let error = evaluated(&engine).unwrap_err();
        assert!(error.contains(says), "{call}: {error}");
    }
}

#[test]
fn a_stub_of_the_runners_name_answers() {
    let text = "mine.get:\n- args: ['*', ip]\n  return: {web1: 192.0.2.1}\nr.two: {return: stub}\n";
    for (call, answer) in [
        ("'mine.get', arg=['*', 'ip']", r#"{"web1": "192.0.2.1"}"#),
        ("'r.two', arg=[1]", r#""stub""#),
    ] {
        let engine = engine(&format!("salt['saltutil.runner']({call})"))
            .with_stubs(Stubs::parse(text, "stubs.yaml").unwrap());
        assert_eq!(evaluated(&engine).as_deref(), Ok(answer), "{call}");
    }
}

/// Two names of one folder: what a second link or mount of a checkout gives on a master.
#[cfg(unix)]
#[test]
fn a_deployed_folder_is_found_by_its_other_names() {
    let dir = tempfile::tempdir().unwrap();
    let [own, other] = ["pillar", "git"].map(|name| dir.path().join(name));
    fs::create_dir(&own).unwrap();
    fs::write(own.join("hosts"), "web1").unwrap();
    fs::write(dir.path().join("outside"), "secret").unwrap();
    std::os::unix::fs::symlink(&own, &other).unwrap();
    let deployed = Deployed::new().folder("/srv/pillar", &own).unwrap();
    let read = |path: String| {
        let engine = engine(&format!("salt['file.read']('{path}')"));
        evaluated(&engine.with_deployed(deployed.clone()))
    };
    let other = other.display();
    assert_eq!(read(format!("{other}/hosts")).as_deref(), Ok(r#""web1""#));
    assert!(read(format!("{other}/../outside")).is_err());
}

#[test]
fn a_path_that_ends_in_a_root_of_the_checkout_is_a_guess() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("pillar")).unwrap();
    fs::write(dir.path().join("pillar/hosts"), "web1").unwrap();
    let deployed = Deployed::new()
        .in_place(dir.path())
        .guessing(dir.path(), ["pillar".into()]);
    let read = |path: &str| {
        let engine = engine(&format!("salt['file.read']('{path}')"));
        let engine = engine.with_deployed(deployed.clone());
        let minion = Minion::parse(b"{id: web1}", "web1").unwrap().complete();
        let run = engine.run(&minion);
        let made = run.template("t.jinja", &TemplateOptions::default());
        let said = run.warnings().into_iter().map(|warning| warning.message);
        (made.ok(), said.collect::<Vec<_>>())
    };
    let said = "/srv/git is taken for this checkout, where a file of this path is".to_owned();
    let found = read("/srv/git/pillar/hosts");
    assert_eq!(found, (Some(r#""web1""#.into()), vec![said]));
    // A file that is not in the checkout could be at that place all the same.
    for path in ["/srv/git/pillar/x", "/srv/git/hosts", "/etc/pillar/hosts"] {
        assert_eq!(read(path), (None, vec![]), "{path}");
    }
}

#[test]
fn files_behind_deployed_paths_can_be_read() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("hosts.yaml"), "web1: {ip4: 192.0.2.1/24}\n").unwrap();
    let deployed = || Deployed::new().folder("/srv/git", dir.path()).unwrap();
    let engine =
        engine("salt['saltutil.runner']('r.host', arg=['web1'])").with_deployed(deployed());
    assert_eq!(
        evaluated(&engine).as_deref(),
        Ok(r#"{"ip4": "192.0.2.1/24"}"#)
    );
    let module = "\
import os, pathlib, salt.utils.files
def f():
    def failed(call, path):
        try:
            return call(path)
        except OSError as error:
            return type(error).__name__
    with salt.utils.files.fopen('/srv/git/hosts.yaml', 'rb') as hosts:
        first = hosts.readline().decode()
    return [os.path.isfile('/srv/git/hosts.yaml'), os.path.exists('/srv/git/x'), os.path.isdir('/srv/git'),
            os.listdir('/srv/git'), pathlib.Path('/srv/git/hosts.yaml').read_text()[:4], first[:5],
            failed(open, '/srv/git/x'), failed(open, '/srv/git'), failed(os.listdir, '/srv/git/x')]
";
    let engine = Engine::new(
        MemoryFiles::new()
            .file("base", "_modules/m.py", module)
            .file("base", "t.jinja", "{{ salt['m.f']() | json }}"),
    )
    .with_deployed(deployed());
    let wanted = r#"[true, false, true, ["hosts.yaml"], "web1", "web1:", "FileNotFoundError", "IsADirectoryError", "FileNotFoundError"]"#;
    assert_eq!(evaluated(&engine).as_deref(), Ok(wanted));
}
