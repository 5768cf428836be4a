//! `--config`: files and minions from a master's or minion's configuration, and `mapstack config`.

use crate::common::{Tree, assert_snapshot, run, run_line, run_with_input};

/// `{"os": "Debian"}` and `{"key": "one1"}` as a master packs them.
const GRAINS: &[u8] = b"\x81\xa2os\xa6Debian";
const PILLAR: &[u8] = b"\x81\xa3key\xa4one1";

const MASTER: &[u8] = b"\
# How a master is.
cachedir: cache
root_dir: .
interface: 0.0.0.0
gitfs_password: hunter2
ext_pillar:
  - stack: s.cfg
";

const FILES: &[u8] = b"\
file_roots:
  base:
    - site
    - formulas
  dev:
    - dev
  __env__:
    - envs/__env__
";

/// A master with two minions in its cache.
fn master() -> Tree {
    Tree::new(&[
        ("etc/salt/master", MASTER),
        ("etc/salt/master.d/fileserver.conf", FILES),
        ("etc/salt/master.d/pillar.conf", b"ext_pillar:\n  - stack: t.cfg\nmysql: {user: salt, pass: geheim}\n"),
        (
            "etc/salt/minion",
            b"id: own\nfile_client: local\nfile_roots: {base: [formulas]}\ngrains: {os: FreeBSD}\nmine: x\n",
        ),
        ("etc/salt/grains", b"os: Plan9\nroles: [db]\n"),
        ("cache/grains/web1.p", GRAINS),
        ("cache/grains/web2.p", GRAINS),
        ("cache/pillar/web1.p", PILLAR),
        ("formulas/f/parameters/defaults.yaml", b"values: {from: formulas, dir: formulas}\n"),
        ("formulas/f/parameters/os/Debian.yaml", b"values: {os: debian}\n"),
        ("formulas/f/parameters/os/FreeBSD.yaml", b"values: {os: freebsd}\n"),
        ("formulas/m/map.jinja", b"{% set m = {'os': grains.os} %}\n"),
        (
            "formulas/f/x.txt",
            b"{{ opts.id }} {{ opts.file_client }} {{ opts.mine|default('-') }} {{ grains.roles|default([]) }}\n",
        ),
        ("site/f/parameters/id/web1.yaml", b"values: {dir: site, key: 1}\n"),
        ("dev/f/parameters/defaults.yaml", b"values: {from: dev}\n"),
        ("envs/qa/f/parameters/defaults.yaml", b"values: {from: qa}\n"),
        ("other/f/parameters/defaults.yaml", b"values: {from: other}\n"),
        ("s.cfg", b"none.yml\n"),
        ("t.cfg", b"b.yml\n"),
        ("b.yml", b"b: {{ __opts__.interface }} {{ __opts__.token_dir.endswith('/cache/tokens') }}\n"),
    ])
}

fn printed(tree: &Tree, line: &str) -> String {
    let ran = run_line(tree.path(), line);
    assert_eq!((ran.status, &*ran.stderr), (Some(0), ""), "{line}");
    mapdata(&ran.stdout).into()
}

/// The printed data, without its trace.
fn mapdata(printed: &str) -> &str {
    printed
        .split_once("map_jinja:")
        .map_or(printed, |(data, _)| data)
}

#[test]
#[expect(clippy::too_many_lines, reason = "one row for each command line")]
fn a_master_has_the_files_and_the_minions() {
    let tree = master();
    for (line, expected) in [
        (
            "data f --config etc/salt/master --id web1",
            "from: formulas\ndir: site\nos: debian\nkey: 1\n",
        ),
        (
            "data f --config etc/salt --id web2",
            "from: formulas\ndir: formulas\nos: debian\n",
        ),
        (
            "data f --config etc/salt/master --id web1 --saltenv dev",
            "from: dev\n",
        ),
        (
            "data f --config etc/salt/master --id web1 --saltenv qa",
            "from: qa\n",
        ),
        (
            "data f --config etc/salt/master --id web1 --root other",
            "from: other\n",
        ),
        (
            "data f --config etc/salt/master --id web1 --set grains.os=FreeBSD --get os",
            "freebsd\n",
        ),
        (
            "stack f defaults.yaml --config etc/salt/master --id web1 --get from",
            "formulas\n",
        ),
        ("map m --config etc/salt/master --id web1", "os: Debian\n"),
        (
            "render salt://f/x.txt --config etc/salt/master --id web1",
            "web1 local - []\n",
        ),
        (
            "tofs f x.txt --config etc/salt/master --id web1",
            "- salt://f/files/id/web1/x.txt\n",
        ),
        ("lint f --quiet --config etc/salt/master", ""),
        (
            "pillar --config etc/salt/master --id web1",
            "b: 0.0.0.0 True\n",
        ),
        (
            "pillar --config etc/salt/master --id web1 --merged --get key",
            "one1\n",
        ),
        (
            "pillar --config etc/salt/master",
            "web1:\n  b: 0.0.0.0 True\nweb2:\n  b: 0.0.0.0 True\n",
        ),
    ] {
        let out = printed(&tree, line);
        assert!(
            out.starts_with(expected) && (line.starts_with("tofs") || out == expected),
            "{line}: {out}"
        );
    }
    let sources = printed(&tree, "sources f --config etc/salt/master --id web1");
    assert!(
        sources.contains("site/f/parameters/id/web1.yaml"),
        "{sources}"
    );
    // Facts of flags need no cache.
    tree.write("etc/salt/master.d/no-cache.conf", b"cachedir: nowhere\n");
    tree.write("g.yaml", b"os: FreeBSD\n");
    tree.write("m.yaml", b"id: web1\ngrains: {os: Debian}\n");
    for flags in [
        "--id new --grains g.yaml",
        "--id new --set grains.os=FreeBSD",
        "--minion m.yaml --set grains.os=FreeBSD",
    ] {
        assert_eq!(
            printed(
                &tree,
                &format!("data f --config etc/salt/master {flags} --get os")
            ),
            "freebsd\n"
        );
    }
}

#[test]
fn a_minion_brings_its_id_options_and_grains() {
    let tree = master();
    for (line, expected) in [
        (
            "data f --config etc/salt/minion",
            "from: formulas\ndir: formulas\nos: freebsd\n",
        ),
        (
            "render salt://f/x.txt --config etc/salt/minion",
            "own local x ['db']\n",
        ),
        (
            "render salt://f/x.txt --config etc/salt --config-kind minion --id given",
            "given local x ['db']\n",
        ),
        (
            "render salt://f/x.txt --config etc/salt/minion --set opts.mine=y",
            "own local y ['db']\n",
        ),
        (
            "data f --config etc/salt/minion --set grains.os=Debian --get os",
            "debian\n",
        ),
    ] {
        assert_eq!(printed(&tree, line), expected, "{line}");
    }
    // The file of grains is read in Salt's YAML, where the reference takes PyYAML as it is.
    tree.write("etc/salt/grains", b"roles: [0644, 2024-01-01]\n");
    assert_eq!(
        printed(&tree, "render salt://f/x.txt --config etc/salt/minion"),
        "own local x [644, '2024-01-01']\n"
    );
    // Without an id of its own it has the one of the file `minion_id`.
    tree.write(
        "etc/salt/minion",
        b"file_client: local\nfile_roots: {base: [formulas]}\n",
    );
    tree.write("etc/salt/minion_id", b"\xef\xbb\xbfremembered\r\n");
    let id = || printed(&tree, "render salt://f/x.txt --config etc/salt/minion");
    assert_eq!(id(), "remembered local - [644, '2024-01-01']\n");
    tree.write("etc/salt/minion.d/a.conf", b"minion_id_caching: false\n");
    assert_eq!(id(), "minion local - [644, '2024-01-01']\n");
}

/// A name, changes to the tree above as paths and texts, a command line and its exit status.
type Mistake<'t> = (&'t str, &'t [(&'t str, &'t str)], &'t str, i32);

const DATA: &str = "data f --config etc/salt/master --id web1";
const OF_MINION: &str = "data f --config etc/salt/minion --id own";

/// Errors, and warnings beside the data.
const MISTAKES: &[Mistake<'_>] = &[
    (
        "unknown-kind",
        &[("salt.yaml", "")],
        "data f --config salt.yaml --id web1",
        2,
    ),
    (
        "kind-without-config",
        &[],
        "data f --config-kind master --id web1",
        2,
    ),
    (
        "unknown-minion",
        &[],
        "data f --config etc/salt/master --id web3",
        1,
    ),
    ("no-minion", &[], "data f --config etc/salt/master", 2),
    (
        "no-cache",
        &[("etc/salt/master.d/z.conf", "cachedir: none\n")],
        DATA,
        1,
    ),
    (
        "no-roots",
        &[("etc/salt/master.d/fileserver.conf", "{}\n")],
        DATA,
        2,
    ),
    (
        "files-of-a-master",
        &[("etc/salt/minion", "master: salt\n")],
        OF_MINION,
        2,
    ),
    (
        "unknown-option",
        &[],
        "config fileserver_backends --config etc/salt/master",
        1,
    ),
    ("nothing-to-print", &[], "config", 2),
    (
        "strict",
        &[("etc/salt/master.d/z.conf", "x: [\n")],
        "config --config etc/salt/master --strict",
        1,
    ),
    (
        "other-backend",
        &[(
            "etc/salt/master.d/a.conf",
            "fileserver_backend: [hg, roots]\n",
        )],
        DATA,
        0,
    ),
    (
        "missing-root",
        &[(
            "etc/salt/master.d/z.conf",
            "file_roots: {base: [/nowhere/a]}\n",
        )],
        DATA,
        0,
    ),
    (
        "pillar-not-rendered",
        &[
            (
                "etc/salt/minion",
                "file_roots: {base: [formulas]}\npillar_roots: {base: [pillar]}\n",
            ),
            ("pillar/top.sls", ""),
        ],
        OF_MINION,
        0,
    ),
];

#[test]
fn mistakes_are_reported() {
    let mut all = String::new();
    for (name, files, line, status) in MISTAKES {
        let tree = master();
        for (path, text) in *files {
            tree.write(path, text.as_bytes());
        }
        let ran = run_line(tree.path(), line);
        assert_eq!(ran.status, Some(*status), "{name}: {}", ran.stderr);
        let is_data = ran.stdout.starts_with("from: formulas\n");
        let is_expected = if *status == 0 {
            is_data
        } else {
            ran.stdout.is_empty()
        };
        assert!(is_expected, "{name}: {}", ran.stdout);
        let here = tree.path().canonicalize().unwrap().display().to_string();
        all += &format!("## {name}\n{}", ran.stderr.replace(&here, "<DIR>"));
    }
    assert_snapshot("config/mistakes.txt", &all);
}

#[test]
fn config_prints_what_is_in_force_and_who_set_it() {
    let tree = master();
    tree.write(
        "etc/salt/master",
        &String::from_utf8_lossy(MASTER)
            .replace("root_dir: .\n", "")
            .into_bytes(),
    );
    let set = "--config etc/salt/master";
    for (name, line) in [
        ("set.txt", format!("config {set}")),
        ("set.yaml", format!("config {set} -o yaml")),
        ("set.json", format!("config {set} -o json")),
        (
            "two.txt",
            format!("config {set} state_top file_roots token_dir"),
        ),
        (
            "secrets.txt",
            format!("config {set} --show-secrets gitfs_password mysql"),
        ),
        (
            "flags.txt",
            format!("config {set} --root a --root dev=b --saltenv dev file_roots saltenv"),
        ),
        ("minion.txt", "config --config etc/salt/minion".into()),
    ] {
        assert_snapshot(&format!("config/{name}"), &printed(&tree, &line));
    }
    let all = printed(&tree, &format!("config {set} --all"));
    assert!(
        all.lines().count() > 300
            && all.contains("built-in")
            && all.contains("computed")
            && all.contains("etc/salt/master:2")
    );
    assert!(!all.contains("hunter2") && !all.contains("geheim"));
    let ran = run_with_input(
        tree.path(),
        &["config", "--config", "-", "--config-kind", "master"],
        "saltenv: dev\n",
    );
    assert_eq!(
        (ran.status, &*ran.stdout),
        (Some(0), "saltenv  dev  <stdin>:1\n"),
        "{}",
        ran.stderr
    );
}

#[test]
fn names_may_have_blanks_colons_and_umlauts_and_lines_end_as_on_windows() {
    let name = if cfg!(windows) { "Sält x" } else { "Sält: x" };
    let root = format!("{name}/srv ä");
    let tree = Tree::new(&[
        (
            &*format!("{name}/master"),
            format!("include: 'ü b.conf'\r\nfile_roots:\r\n  base:\r\n    - '{root}'\r\n"),
        ),
        (&*format!("{name}/ü b.conf"), "pillarenv: 'x: y'\r\n".into()),
        (
            &*format!("{root}/f/parameters/defaults.yaml"),
            "values: {a: 1}\r\n".into(),
        ),
    ]);
    let config = format!("{name}/master");
    let ran = run(
        tree.path(),
        &[
            "data",
            "f",
            "--config",
            &config,
            "--id",
            "m",
            "--set",
            "grains.a=1",
        ],
    );
    // The built-in place has no cache, or none with this minion.
    assert_eq!(
        (ran.status, mapdata(&ran.stdout)),
        (Some(0), "a: 1\n"),
        "{}",
        ran.stderr
    );
    let ran = run(tree.path(), &["config", "--config", &config]);
    assert_eq!((ran.status, &*ran.stderr), (Some(0), ""));
    assert!(
        ran.stdout.contains("pillarenv   x: y")
            && ran.stdout.contains(&format!("{name}/ü b.conf:1")),
        "{}",
        ran.stdout
    );
}
