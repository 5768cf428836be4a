//! `mapstack fetch`: which repositories, and what is said of them.
#![cfg(feature = "fetch")]

use crate::common::{Tree, run, run_line};

#[test]
#[expect(clippy::too_many_lines, reason = "one row for each command line")]
fn repositories_come_from_urls_and_from_a_configuration() {
    let tree = Tree::new(&[
        (
            "master",
            "gitfs_remotes:\n  - file:///srv/git/one\n  - file:///srv/git/two:\n    - base: main\n  - srv/three\n  - file:///srv/git/two:\n    - name: again\n",
        ),
        ("list", "- a\n"),
        (
            "typo",
            "gitfs_remotes:\n  - https://example.org/a:\n    - bsae: main\n",
        ),
    ]);
    let ran = run(
        tree.path(),
        &[
            "fetch",
            "--config",
            "master",
            "file:///srv/git/four",
            "--mirrors",
            "mirrors",
        ],
    );
    assert_eq!(
        (ran.status, &*ran.stdout),
        (
            Some(0),
            "/srv/git/four: read in place\n/srv/git/one: read in place\n/srv/git/two: read in place\n"
        ),
        "{}",
        ran.stderr
    );
    assert!(
        ran.stderr.contains("the remote 'srv/three' is left out"),
        "{}",
        ran.stderr
    );
    for (args, status, says) in [
        (&["fetch"][..], 2, "nothing to fetch"),
        (
            &["fetch", "--config", "list"],
            2,
            "say --config-kind master or minion",
        ),
        (
            &["fetch", "--config", "list", "--config-kind", "master"],
            1,
            "is a mapping of options, not a list",
        ),
        (
            &["fetch", "--config", "typo", "--config-kind", "master"],
            1,
            "did you mean `base`?",
        ),
        (
            &["fetch", "--config", "nothing"],
            1,
            "the configuration nothing does not exist",
        ),
        (
            &["fetch", "--config", "nothing/master"],
            1,
            "the configuration file nothing/master does not exist",
        ),
        (
            &["fetch", "svn://example.org/a", "--mirrors", "mirrors"],
            1,
            "is not supported; use https:// or ssh://",
        ),
        (
            &[
                "fetch",
                "http://127.0.0.1:1/a",
                "http://127.0.0.1:1/b",
                "--mirrors",
                "mirrors",
            ],
            1,
            "http://127.0.0.1:1/a cannot be",
        ),
        (
            &[
                "fetch",
                "http://127.0.0.1:1/a",
                "http://127.0.0.1:1/b",
                "--mirrors",
                "mirrors",
            ],
            1,
            "http://127.0.0.1:1/b cannot be",
        ),
    ] {
        let ran = run(tree.path(), args);
        assert_eq!(
            (ran.status, &*ran.stdout),
            (Some(status), ""),
            "{args:?}: {}",
            ran.stderr
        );
        assert!(ran.stderr.contains(says), "{args:?}: {}", ran.stderr);
    }
}

#[test]
fn a_silent_server_is_left_after_the_time_limit() {
    let tree = Tree::new(&[("a", "")]);
    // It takes connections, and answers none.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/a", silent.local_addr().unwrap());
    let line = format!("fetch {url} --mirrors mirrors --max-time 1");
    let ran = run_line(tree.path(), &line);
    let said = format!(
        "error: {url} cannot be fetched: it takes more than 1 s; allow more time with --max-time\n"
    );
    assert_eq!((ran.status, ran.stderr), (Some(1), said));
    // The connection ends, as the helper of git that has it ends, too.
    let (mut connection, _) = silent.accept().unwrap();
    let most = std::time::Duration::from_secs(20);
    connection.set_read_timeout(Some(most)).unwrap();
    std::io::Read::read_to_end(&mut connection, &mut Vec::new()).unwrap();
}
