//! Refusals of permitted functions.
#![cfg(unix)]

use mapstack::value::{Map, Value};
use mapstack::{Call, Functions};
use mapstack_frontend::host::{Host, Permissions};

/// The error of a call.
fn refused(call: &Call) -> String {
    let host = Host::new(Permissions::parse([&*call.name]).unwrap());
    host.call(call).unwrap().unwrap_err().to_string()
}

#[test]
fn arguments_that_cannot_be_honoured_are_refused() {
    let url = "http://127.0.0.1:1/";
    for (name, first, argument, value) in [
        ("cmd.run", "id", "runas", Value::from("nobody")),
        ("cmd.run_all", "id", "umask", "022".into()),
        ("cmd.retcode", "id", "template", "jinja".into()),
        ("cmd.run", "id", "bg", true.into()),
        ("file.find", "/nonexistent", "delete", "f".into()),
        ("file.find", "/nonexistent", "exec", "touch {}".into()),
        ("user.info", "root", "root", "/chroot".into()),
        ("http.query", url, "text_out", "/tmp/x".into()),
        ("http.query", url, "data_file", "/etc/passwd".into()),
        ("http_query", url, "cookies", true.into()),
        ("network.ip_addrs", "lo", "cidr", "10.0.0.0/8".into()),
    ] {
        let error = refused(&Call::new(name).arg(first).kwarg(argument, value));
        assert_eq!(
            error,
            format!("{name}: the argument '{argument}' is not supported here")
        );
    }
    let error = refused(&Call::new("file.find").arg("/nonexistent").arg("delete"));
    assert_eq!(
        error,
        "file.find: the argument 'delete' is not supported here"
    );
}

#[test]
fn what_has_no_end_is_refused() {
    for (name, path) in [
        ("file.read", "/dev/zero"),
        ("file.get_hash", "/dev/zero"),
        ("file_hashsum", "/dev/zero"),
    ] {
        let error = refused(&Call::new(name).arg(path));
        assert_eq!(
            error,
            "/dev/zero is a device or a pipe, which may have no end"
        );
    }
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("pipe");
    nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let error = refused(&Call::new("file.read").arg(path.to_str().unwrap()));
    assert!(
        error.ends_with("is a device or a pipe, which may have no end"),
        "{error}"
    );
    let large = directory.path().join("large");
    std::fs::File::create(&large)
        .unwrap()
        .set_len(1 << 30)
        .unwrap();
    let error = refused(&Call::new("file.read").arg(large.to_str().unwrap()));
    assert!(error.ends_with("large is larger than 32 MiB"), "{error}");
    let error = refused(&Call::new("cmd.run").arg("yes"));
    assert_eq!(error, "['yes']: it printed more than 16 MiB");
}

#[test]
fn a_program_gets_what_the_call_says_and_no_more() {
    let host = Host::new(Permissions::parse(["cmd.run"]).unwrap());
    let env = Map::from_iter([("GIVEN", "1")]);
    let call = Call::new("cmd.run")
        .arg("env")
        .kwarg("clean_env", true)
        .kwarg("env", env);
    let printed = host.call(&call).unwrap().unwrap().to_string();
    let mut names: Vec<&str> = printed
        .lines()
        .filter_map(|line| line.split('=').next())
        .collect();
    names.retain(|name| !name.starts_with("LC_") && *name != "LANGUAGE");
    assert_eq!(names, ["GIVEN"]);
    // A program that asks gets no answer.
    assert_eq!(
        host.call(&Call::new("cmd.run").arg("cat"))
            .unwrap()
            .unwrap()
            .as_str(),
        Some("")
    );
}
