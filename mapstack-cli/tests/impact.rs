//! `mapstack impact`: which minions a file, a key or a fact affects.

use crate::common::{Tree, run_line};

fn tree() -> Tree {
    Tree::new(&[
        (
            "r/ssh/parameters/defaults.yaml",
            "values: {port: 22, api_token: hidden-one}\n",
        ),
        (
            "r/ssh/parameters/os_family/Debian.yaml.jinja",
            "{% from 'ssh/lib.jinja' import p %}values: {port: {{ p }}}\n",
        ),
        ("r/ssh/parameters/os/Ubuntu.yaml", "values: {port: 2222}\n"),
        ("r/ssh/lib.jinja", "{% set p = 2222 %}\n"),
        (
            "r/ssh/post-map.jinja",
            "{% if grains.virtual == 'physical' %}{% do mapdata.update({'m': pillar.get('m', 1)}) %}{% endif %}\n",
        ),
        (
            "r/web/parameters/defaults.yaml",
            "values: {a: {{ salt['pillar.get']('web:a', 1) }}}\n",
        ),
        ("elsewhere.yaml", ""),
        (
            "minions/web1.yaml",
            "id: web1\ngrains: {os: Debian, os_family: Debian, virtual: kvm}\n",
        ),
        (
            "minions/web2.yaml",
            "id: web2\ngrains: {os: Ubuntu, os_family: Debian, virtual: physical}\n",
        ),
        (
            "minions/db1.yaml",
            "id: db1\ngrains: {os: Rocky, os_family: RedHat, virtual: kvm}\n",
        ),
    ])
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let tree = tree();
    for what in ["ssh:port", "grains:os_family", "ssh/lib.jinja"] {
        let on = |jobs: u8| {
            let ran = run_line(
                &tree.path().join("r"),
                &format!("impact {what} --root . --minions ../minions --jobs {jobs}"),
            );
            assert_eq!((ran.status, &*ran.stderr), (Some(0), ""), "{what}");
            ran.stdout
        };
        assert_eq!(on(1), on(3), "{what}");
    }
    let parts: Vec<String> = (1..=2)
        .map(|part| {
            let line = format!("impact ssh:port --root r --minions minions --shard {part}/2");
            run_line(tree.path(), &line).stdout
        })
        .collect();
    for id in ["web1", "web2", "db1"] {
        let having = parts.iter().filter(|part| part.contains(id));
        assert_eq!(having.count(), 1, "{id}: {parts:#?}");
    }
}
