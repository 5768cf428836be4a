//! `mapstack fetch` from a server that does not answer.
#![cfg(feature = "fetch")]

use crate::common::{Tree, run_line};

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
