//! Absolute paths that are read from folders of the checkout, and the calls that nothing answers.

use crate::common::{Tree, assert_line, git, run_line};

const MASTER: &str = "\
pillar_roots: {base: [checkout/pillar]}
file_roots: {base: [checkout/salt]}
cachedir: nowhere
ext_pillar: [{file_tree: {root_dir: /srv/keys, keep_newline: true}}]
";

fn tree() -> Tree {
    Tree::new(&[
        ("master", MASTER),
        ("checkout/pillar/top.sls", "base: {'*': [web]}\n"),
        (
            "checkout/pillar/web.sls",
            "{% import_yaml '/srv/pillar/data/hosts.yaml' as hosts %}\nhosts: {{ hosts | json }}\n\
             more: {{ salt['file.find']('/srv/more', type='f') | json }}\n",
        ),
        ("checkout/pillar/data/hosts.yaml", "[a, b]\n"),
        ("checkout/more/x.txt", "x\n"),
        ("checkout/keys/hosts/web1/id", "one\n"),
        (
            "checkout/salt/web/init.sls",
            "a: {{ salt['cmd.run']('id') }}\n",
        ),
        ("minions/web1.yaml", "id: web1\n"),
        ("minions/web2.yaml", "id: web2\n"),
    ])
}

const DEPLOYED: &str = "--config master --minions minions --deployed /srv/pillar=checkout/pillar \
                        --deployed /srv/more=checkout/more --deployed /srv/keys=checkout/keys";

#[test]
fn a_pillar_reads_what_lies_at_its_deployed_paths() {
    let tree = tree();
    let line = format!("pillar {DEPLOYED} -o json");
    let ran = run_line(tree.path(), &line);
    let found: String = ran.stdout.split_whitespace().collect();
    for part in [
        r#""hosts":["a","b"]"#,
        r#""more":["/srv/more/x.txt"]"#,
        r#""id":"one\n""#,
    ] {
        assert!(found.contains(part), "{part}: {found}{}", ran.stderr);
    }
    // Without the flags, the message names the way.
    let without = "pillar --config master --minions minions";
    let advice = "`deployed` in .mapstack.yaml (or --deployed PATH=DIR) says which folder is at /srv/pillar/data";
    assert_line(tree.path(), without, 1, "", advice);
}

#[test]
fn a_flag_names_a_path_and_a_folder() {
    let tree = tree();
    for (flag, problem) in [
        ("/srv/x", "there is no '='"),
        (
            "srv/x=checkout",
            "the deployed path 'srv/x' is not absolute",
        ),
        ("/srv/x=none", "none is not a directory"),
        (
            "/=checkout",
            "the deployed path '/' would have every file of the machine in it",
        ),
    ] {
        let line = format!("pillar --config master --minions minions --deployed {flag}");
        assert_line(tree.path(), &line, 2, "", problem);
    }
}

#[test]
fn two_revisions_have_their_own_files() {
    let tree = tree();
    let checkout = tree.path().join("checkout");
    git(&checkout, &["init", "-q"]);
    git(&checkout, &["add", "."]);
    git(&checkout, &["commit", "-qm", "one"]);
    tree.write("checkout/more/y.txt", b"y\n");
    tree.write("checkout/pillar/data/hosts.yaml", b"[a, c]\n");
    let line = format!("diff {DEPLOYED} --from HEAD --to worktree -o json");
    let ran = run_line(tree.path(), &line);
    assert_eq!(ran.status, Some(1), "{}{}", ran.stdout, ran.stderr);
    for part in ["/srv/more/y.txt", "\"c\""] {
        assert!(ran.stdout.contains(part), "{}{}", ran.stdout, ran.stderr);
    }
    git(&checkout, &["add", "."]);
    git(&checkout, &["commit", "-qm", "two"]);
    tree.write("checkout/more/z.txt", b"z\n");
    let line = format!("diff {DEPLOYED} --from HEAD~1 --to HEAD -o json");
    let ran = run_line(tree.path(), &line);
    assert!(
        ran.stdout.contains("/srv/more/y.txt"),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    assert!(!ran.stdout.contains("/srv/more/z.txt"), "{}", ran.stdout);
}

#[test]
fn the_calls_without_answers_are_a_file_to_fill_in() {
    let tree = tree();
    let line = format!("lint --calls -o yaml {DEPLOYED}");
    let ran = run_line(tree.path(), &line);
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    let entry = "cmd.run:\n  # at checkout/salt/web/init.sls:1:7\n  - args: [id]\n    # minions: [web1, web2]\n    return: ???\n";
    assert!(ran.stdout.ends_with(entry), "{}", ran.stdout);
    tree.write("stubs.yaml", ran.stdout.replace("???", "ok").as_bytes());
    let line = format!("{line} --stub stubs.yaml");
    assert_line(tree.path(), &line, 0, "", "every call has an answer");
    assert_line(tree.path(), "lint -o yaml", 2, "", "give --calls with it");
}
