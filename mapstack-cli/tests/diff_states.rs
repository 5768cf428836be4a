//! `mapstack diff` of what states do: states, files, order, and what restarts.

use crate::common::{Tree, assert_line, assert_snapshot, run_line};

const TOP: &str = "base: {'*': [ssh, fw]}\n";

const OLD: &str = "\
ssh-pkg:
  pkg.installed:
    - name: openssh-server
sshd_config:
  file.managed:
    - name: /etc/ssh/sshd_config
    - source:
      - salt://ssh/files/{{ grains.id }}/sshd_config
      - salt://ssh/files/sshd_config
    - template: jinja
    - mode: '0644'
    - banner: quiet
    - context: {port: {{ salt['pillar.get']('ssh:port', 22) }}, token: {{ salt['pillar.get']('ssh:token') }}}
    - require: [{pkg: ssh-pkg}]
ssh:
  service.running:
    - watch: [{file: sshd_config}]
known_hosts:
  file.managed:
    - name: /etc/ssh/known_hosts
    - source: http://example.org/known
    - skip_verify: true
logo:
  file.managed:
    - name: /srv/logo
    - source: salt://ssh/files/logo
motd:
  cmd.run:
    - name: echo
    - unless: test -e /x
gone:
  test.nop: []
";

/// Two states of the files with a change of each kind.
fn tree() -> Tree {
    let new = OLD.replace("openssh-server", "openssh-daemon");
    let new = new.replace("0644", "0600");
    let new = new.replace("quiet", "loud");
    let (rest, _) = new.split_once("gone:").unwrap();
    let (before, motd) = rest.split_once("motd:").unwrap();
    let fresh = "\
fresh:
  file.managed:
    - name: /etc/fresh
    - contents: [a, b]
    - listen_in: [{service: ssh}]
";
    let new = format!("motd:{motd}{before}{fresh}");
    let config =
        "Banner {{ banner }}\nPort {{ port }}\nToken {{ token }}\nA\nB\nC\nhello {{ grains.id }}\n";
    let minion = |id: &str| {
        format!(
            "id: {id}\ngrains: {{os: Debian, os_family: Debian, kernel: Linux}}\npillar: {{ssh: {{port: 2222, token: hidden-{id}}}}}\n"
        )
    };
    let tree = Tree::new(&[
        ("old/top.sls", TOP),
        ("new/top.sls", TOP),
        ("old/ssh/init.sls", OLD),
        ("new/ssh/init.sls", &new),
        (
            "old/fw.sls",
            "fw: {test.nop: [{require: [{file: sshd_config}]}]}\n",
        ),
        (
            "new/fw.sls",
            "fw: {test.nop: [{require: [{file: sshd_config}]}]}\n",
        ),
        ("old/ssh/files/sshd_config", config),
        (
            "new/ssh/files/sshd_config",
            &format!("{config}PermitRootLogin no\n"),
        ),
        ("old/ssh/files/unused", "1\n"),
        ("new/ssh/files/unused", "2\n"),
        ("minions/web1.yaml", &minion("web1")),
        ("minions/web2.yaml", &minion("web2")),
    ]);
    tree.write("old/ssh/files/logo", b"\xff\x00\x01");
    tree.write("new/ssh/files/logo", b"\xff\x00\x02\x03");
    tree
}

const LINE: &str = "diff --from old --to new --minions minions --digest-salt x";

#[test]
fn each_change_of_states_and_files_is_shown_once() {
    let tree = tree();
    let formats = [
        ("text.txt", "text"),
        ("changes.json", "json"),
        ("comment.md", "markdown"),
    ];
    for (name, format) in formats {
        let ran = run_line(tree.path(), &format!("{LINE} -o {format}"));
        assert_eq!(ran.status, Some(1), "{format}: {}", ran.stderr);
        assert_snapshot(&format!("diff_states/{name}"), &ran.stdout);
        assert!(!ran.stdout.contains("hidden-"), "{format}:\n{}", ran.stdout);
    }
    let same = run_line(tree.path(), "diff --from old --to ./old --minions minions");
    assert_eq!(same.status, Some(0), "{}", same.stdout);
}

#[test]
#[cfg(feature = "html")]
fn a_page_has_states_and_files() {
    let ran = run_line(tree().path(), &format!("{LINE} -o html"));
    let said = ["sshd_config", "restarts service ssh", "PermitRootLogin no"];
    for said in said {
        assert!(ran.stdout.contains(said), "{said}");
    }
}

#[test]
fn states_that_are_refused_are_a_change() {
    let tree = tree();
    tree.write(
        "new/fw.sls",
        b"fw: {test.nop: [{require: [{file: sshd_conf}]}]}\n",
    );
    let now = "states are refused now\n  + new/fw.sls:1:29: 'require' names 'file: sshd_conf', which does not exist";
    assert_line(tree.path(), LINE, 1, now, "");
    tree.write(
        "old/fw.sls",
        b"fw: {test.nop: [{require: [{file: sshd_conf}]}]}\n",
    );
    // The other sls compiles alone.
    let ran = run_line(tree.path(), LINE);
    assert_eq!(ran.status, Some(1), "{}", ran.stderr);
    for said in [BOTH, "PermitRootLogin no", "sshd_conf'"] {
        assert!(ran.stdout.contains(said), "{said}: {}", ran.stdout);
    }
}

const BOTH: &str =
    "states do not compile, before and after; each sls that compiles alone is compared\n";

#[test]
fn of_an_sls_that_is_refused_in_both_states_nothing_is_said() {
    let tree = Tree::new(&[
        ("old/top.sls", TOP),
        ("new/top.sls", TOP),
        ("old/ssh.sls", "a: {test.nop: []}\n"),
        ("new/ssh.sls", "a: {test.nop: []}\n"),
        ("old/fw.sls", "b: {{ nosuch() }}\n"),
        ("new/fw.sls", "b: {{ nosuch() }}\nc: {test.nop: []}\n"),
        ("minions/web1.yaml", "id: web1\n"),
    ]);
    let refused = "nothing that changed was compared";
    assert_line(tree.path(), LINE, 2, BOTH, refused);
    assert_line(
        tree.path(),
        LINE,
        2,
        "changed, and not compared: 1 state file (fw.sls)",
        "",
    );
    // What did not change of the other sls was compared.
    tree.write("new/ssh.sls", b"# the same states\na: {test.nop: []}\n");
    let unsure = "not all that changed was compared, and 1 minion fails in both states";
    assert_line(tree.path(), LINE, 2, "no change on 0 of 1 minion", unsure);
    // An sls that compiles in one state alone is no change of its states.
    tree.write("old/ssh.sls", b"a: {test.nop: []}\n");
    tree.write("new/ssh.sls", b"a: {test.nop: [{require: [{test: c}]}]}\n");
    let ran = run_line(tree.path(), LINE);
    assert_eq!(ran.status, Some(2), "{}", ran.stdout);
    assert!(!ran.stdout.contains("test.nop"), "{}", ran.stdout);
}

#[test]
fn what_a_top_file_gives_now_is_compared_though_another_sls_is_refused() {
    let users = "a: {test.nop: []}\n";
    let tree = Tree::new(&[
        ("old/top.sls", "base: {'*': [users, fw, gone]}\n"),
        ("new/top.sls", "base: {'*': [common, fw, web, api]}\n"),
        ("old/users.sls", users),
        ("new/users.sls", users),
        ("old/gone.sls", "g: {test.nop: []}\n"),
        ("new/common.sls", "include: [users]\n"),
        ("old/fw.sls", "include: [rules]\nb: {{ nosuch() }}\n"),
        ("new/fw.sls", "include: [rules]\nb: {{ nosuch() }}\n"),
        ("old/rules.sls", "r: {test.nop: []}\n"),
        ("new/rules.sls", "r: {test.nop: []}\n"),
        ("new/web.sls", "c: {test.nop: []}\n"),
        ("new/api.sls", "include: [fw]\n"),
        ("minions/web1.yaml", "id: web1\n"),
    ]);
    let expected = "\
2 changes on 1 of 1 minion; 0 unaffected; 1 fails in both states

test.nop 'c' is new  (web.sls:1)  <- new/top.sls:1:26
  on 1 minion: web1

test.nop 'g' is gone  (gone.sls:1)  <- old/top.sls:1:25
  on 1 minion: web1

";
    assert_line(tree.path(), LINE, 1, expected, "");
    assert_line(
        tree.path(),
        LINE,
        1,
        "changed, and not compared: 1 state file (api.sls)",
        "",
    );
}

#[test]
fn without_a_top_file_each_sls_is_run() {
    let tree = Tree::new(&[
        ("old/web/init.sls", "include: [web.pkg]\n"),
        ("new/web/init.sls", "include: [web.pkg]\n"),
        ("old/web/pkg.sls", "nginx: {pkg.installed: []}\n"),
        ("new/web/pkg.sls", "nginx: {pkg.latest: []}\n"),
        (
            "old/web/clean.sls",
            "nginx-gone: {pkg.removed: [{name: nginx}]}\n",
        ),
        (
            "new/web/clean.sls",
            "nginx-gone: {pkg.purged: [{name: nginx}]}\n",
        ),
    ]);
    let expected = "\
2 changes on 1 of 1 minion; 0 unaffected

pkg.latest 'nginx': function  (web/pkg.sls:1)
  - installed  <- old/web/pkg.sls:1:9
  + latest  <- new/web/pkg.sls:1:9
  on 1 minion: debian-12

pkg.purged 'nginx-gone' (nginx): function  (web/clean.sls:1)
  - removed  <- old/web/clean.sls:1:14
  + purged  <- new/web/clean.sls:1:14
  on 1 minion: debian-12

compared: states and files of each sls
";
    let line = "diff --from old --to new --platform debian-12";
    assert_line(tree.path(), line, 1, expected, "");
}

/// octocatalog-diff does not see it: the source of a file changed, and nothing else.
#[test]
fn a_changed_source_is_seen_and_so_is_one_that_wins_now() {
    let state = "/etc/x: {file.managed: [{source: ['salt://web/files/{{ grains.id }}', 'salt://web/files/x']}]}\n";
    let tree = Tree::new(&[
        ("old/top.sls", "base: {'*': [web]}\n"),
        ("new/top.sls", "base: {'*': [web]}\n"),
        ("old/web/init.sls", state),
        ("new/web/init.sls", state),
        ("old/web/files/x", "one\n"),
        ("new/web/files/x", "two\n"),
        ("minions/a.yaml", "id: a\n"),
        ("minions/b.yaml", "id: b\n"),
    ]);
    let line = "diff --from old --to new --minions minions";
    let expected = "\
1 change on 2 of 2 minions; 0 unaffected

file /etc/x  (web/init.sls:1, salt://web/files/x)
  - one  <- old/web/files/x:1:1
  + two  <- new/web/files/x:1:1
  on 2 minions: a, b

compared: states and files of top files
";
    assert_line(tree.path(), line, 1, expected, "");
    tree.write("new/web/files/x", b"one\n");
    tree.write("new/web/files/b", b"of b\n");
    let expected = "\
1 change on 1 of 2 minions; 1 unaffected

file /etc/x  (web/init.sls:1, salt://web/files/b)
  - source: salt://web/files/x  <- old/web/init.sls:1:71
  + source: salt://web/files/b  <- grains:id <- minions/b.yaml:1:5
  - one  <- old/web/files/x:1:1
  + of b  <- new/web/files/b:1:1
  on 1 minion: b
";
    assert_line(tree.path(), line, 1, expected, "");
}

/// The roots of two checkouts lie at the same paths below them, and one can lack them.
#[test]
fn checkouts_beside_each_other_are_compared_by_their_roots() {
    let tree = Tree::new(&[
        ("old/salt/top.sls", "base: {'*': [web]}\n"),
        ("new/salt/top.sls", "base: {'*': [web]}\n"),
        (
            "old/salt/web.sls",
            "/etc/x: {file.managed: [{contents: one}]}\n",
        ),
        (
            "new/salt/web.sls",
            "/etc/x: {file.managed: [{contents: two}]}\n",
        ),
        ("minions/a.yaml", "id: a\n"),
        ("empty/", ""),
    ]);
    let line = "diff --from old --to new --minions minions";
    let expected = "  - one  <- old/salt/web.sls:1:36\n  + two  <- new/salt/web.sls:1:36\n";
    assert_line(tree.path(), line, 1, expected, "states in new/salt");
    let line = "diff --from empty --to new --minions minions";
    assert_line(
        tree.path(),
        line,
        1,
        "file /etc/x is new",
        "states in new/salt",
    );
}

/// A source that becomes executable changes the mode of the file, though its content stays.
#[cfg(unix)]
#[test]
fn a_mode_that_a_file_keeps_is_compared() {
    use std::fs::{Permissions, set_permissions};
    use std::os::unix::fs::PermissionsExt as _;

    let state = "/etc/x: {file.managed: [{source: 'salt://x'}, {mode: keep}]}\n/etc/y: {file.managed: [{source: 'salt://x'}]}\n";
    let tree = Tree::new(&[
        ("old/top.sls", "base: {'*': [web]}\n"),
        ("new/top.sls", "base: {'*': [web]}\n"),
        ("old/web.sls", state),
        ("new/web.sls", state),
        ("old/x", ""),
        ("new/x", ""),
        ("minions/a.yaml", "id: a\n"),
    ]);
    for (path, mode) in [("old/x", 0o644), ("new/x", 0o755)] {
        set_permissions(tree.path().join(path), Permissions::from_mode(mode)).unwrap();
    }
    let expected = "\
1 change on 1 of 1 minion; 0 unaffected

file /etc/x  (web.sls:1, salt://x)
  - mode: '0644'  <- old/web.sls:1:54
  + mode: '0755'  <- new/web.sls:1:54
  on 1 minion: a

compared: states and files of top files
no file's content differs
";
    let line = "diff --from old --to new --minions minions";
    assert_line(tree.path(), line, 1, expected, "");
}
