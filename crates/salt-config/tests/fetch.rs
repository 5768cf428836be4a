//! Fetching mirrors: what arrives, what is removed, and what is left when a fetch does not end well.
//!
//! They are a program of their own: other tests change the current directory, in which git is started.

mod git_server;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use git_server::{Contents, Fault, Hostile, Server};
use gix::ObjectId;
use mapstack_loader::{Fetched, FileServer, SaltPath};
use mapstack_salt_config::gitfs::{
    FetchError, FetchedChanges, GitFs, Progress, Remote, RemoteSource, fetch,
};

/// Random numbers, the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % most
    }
}

/// A repository whose files all say which version they are of.
fn version(contents: &mut Contents, parent: Option<ObjectId>, number: u64) -> ObjectId {
    let padding = format!("{number}\n{}", format!("{:x}", number * 7919).repeat(400));
    let id = contents.commit(parent, &[("a", &format!("{number}\n")), ("b", &padding)]);
    contents.point("refs/heads/master", id);
    id
}

fn one_commit() -> Contents {
    let mut contents = Contents::default();
    version(&mut contents, None, 0);
    contents
}

fn get(origin: &RemoteSource, mirrors: &Path) -> Result<FetchedChanges, FetchError> {
    fetch(origin, mirrors, &Progress::default(), &|| None)
}

/// The reason to stop, after an interrupt.
fn reason(interrupt: &AtomicBool) -> Option<String> {
    let stopped = interrupt.load(Ordering::Relaxed);
    stopped.then(|| "it was interrupted".into())
}

fn open(origin: &RemoteSource, mirrors: &Path) -> Result<GitFs, String> {
    let remote = Remote::new(origin.shown(), origin.repository(mirrors));
    GitFs::open(vec![remote]).map_err(|e| e.to_string())
}

/// The version that the files say, which is the same for all of them.
fn served(origin: &RemoteSource, mirrors: &Path) -> Result<Option<u64>, String> {
    let files = open(origin, mirrors)?;
    let number = |name| match files.fetch(&SaltPath::from_relative(name), "base") {
        Ok(Fetched::Found { bytes, .. }) => Ok(String::from_utf8_lossy(&bytes)
            .lines()
            .next()
            .map(|line| line.parse().unwrap())),
        Ok(_) => Ok(None),
        Err(e) => Err(e.to_string()),
    };
    let (a, b) = (number("a")?, number("b")?);
    assert_eq!(a, b, "files of two versions");
    Ok(a)
}

#[test]
fn a_mirror_follows_its_remote() {
    let mirrors = tempfile::tempdir().unwrap();
    let mut contents = one_commit();
    let first = contents.references["refs/heads/master"];
    contents.point("refs/heads/topic", first);
    contents.point("refs/tags/v1", first);
    contents.point("refs/pull/1/head", first);
    let server = Server::start(contents);
    let origin = RemoteSource::new(&server.url);
    assert!(open(&origin, mirrors.path()).is_err());
    let updated = get(&origin, mirrors.path()).unwrap();
    assert_eq!(
        updated.new,
        ["refs/heads/master", "refs/heads/topic", "refs/tags/v1"]
    );
    assert_eq!(served(&origin, mirrors.path()), Ok(Some(0)));
    assert_eq!(
        open(&origin, mirrors.path()).unwrap().envs(),
        ["base", "topic", "v1"]
    );

    assert!(get(&origin, mirrors.path()).unwrap().is_nothing());
    assert_eq!(
        server.packs.load(Ordering::Relaxed),
        1,
        "nothing new, so no objects"
    );

    {
        let mut contents = server.contents.lock().unwrap();
        let second = version(&mut contents, Some(first), 1);
        let tag = contents.tag("v2", second);
        contents.point("refs/tags/v2", tag);
        contents.point("refs/tags/v1", second);
        contents.references.remove("refs/heads/topic");
        // In the place of a reference is a folder of references now.
        contents.point("refs/heads/topic/x", first);
    }
    let updated = get(&origin, mirrors.path()).unwrap();
    assert_eq!(updated.new, ["refs/heads/topic/x", "refs/tags/v2"]);
    assert_eq!(updated.changed, ["refs/heads/master", "refs/tags/v1"]);
    assert_eq!(updated.gone, ["refs/heads/topic"]);
    assert_eq!(
        open(&origin, mirrors.path()).unwrap().envs(),
        ["base", "topic/x", "v1", "v2"]
    );
    assert_eq!(served(&origin, mirrors.path()), Ok(Some(1)));
}

#[test]
fn only_the_references_of_refspecs_are_fetched_and_all_tags() {
    let mirrors = tempfile::tempdir().unwrap();
    let mut contents = one_commit();
    let first = contents.references["refs/heads/master"];
    for name in ["refs/heads/wip/x", "refs/heads/feature/x", "refs/tags/v1"] {
        contents.point(name, first);
    }
    let server = Server::start(contents);
    let refspecs = ["+refs/heads/feature/*:refs/remotes/origin/*"]
        .map(|spec| spec.parse().unwrap())
        .into();
    let origin = RemoteSource {
        refspecs,
        ..RemoteSource::new(&server.url)
    };
    assert_eq!(
        get(&origin, mirrors.path()).unwrap().new,
        ["refs/heads/feature/x", "refs/tags/v1"]
    );
}

#[test]
fn refusals_of_servers_are_reported_in_words() {
    let mirrors = tempfile::tempdir().unwrap();
    let server = Server::start(one_commit());
    let origin = RemoteSource::new(&server.url);
    let why = |origin: &RemoteSource| get(origin, mirrors.path()).unwrap_err().to_string();
    server.set(Fault::Status(404));
    assert!(
        why(&origin).contains("is the URL right"),
        "{}",
        why(&origin)
    );
    server.set(Fault::Status(500));
    assert!(why(&origin).contains("500"), "{}", why(&origin));
    server.set(Fault::None);
    *server.authorization.lock().unwrap() = Some("Basic bWU6c2VjcmV0".into());
    assert!(
        why(&origin).contains("`user` and a `password`"),
        "{}",
        why(&origin)
    );
    let login = RemoteSource {
        user: "me".into(),
        password: "secret".into(),
        ..origin.clone()
    };
    assert!(why(&login).contains("not encrypted"), "{}", why(&login));
    assert!(!origin.repository(mirrors.path()).exists());
    let insecure = RemoteSource {
        insecure_auth: true,
        ..login
    };
    assert_eq!(get(&insecure, mirrors.path()).unwrap().new.len(), 1);
    assert!(matches!(
        get(&RemoteSource::new("/srv/x"), mirrors.path()),
        Err(FetchError::Local(_))
    ));
    assert!(matches!(
        get(&RemoteSource::new("git://localhost/x"), mirrors.path()),
        Err(FetchError::Url { .. })
    ));
    let refused = get(&RemoteSource::new("http://127.0.0.1:1/x"), mirrors.path())
        .unwrap_err()
        .to_string();
    assert!(refused.contains("connect"), "{refused}");
}

#[test]
fn a_redirect_on_the_same_host_is_followed() {
    let mirrors = tempfile::tempdir().unwrap();
    let server = Server::start(one_commit());
    let origin = RemoteSource::new(server.url.replace("/repository", "/moved"));
    get(&origin, mirrors.path()).unwrap();
    assert_eq!(served(&origin, mirrors.path()), Ok(Some(0)));
}

#[test]
fn whatever_a_server_does_the_mirror_is_whole() {
    let mirrors = tempfile::tempdir().unwrap();
    let server = Server::start(one_commit());
    let origin = RemoteSource::new(&server.url);
    let mut dice = Dice(20_240_229);
    let (mut now, mut failed, mut first_failed) = (None, 0, 0);
    for round in 0..60 {
        // Now and then, from the beginning.
        if round % 10 == 0 {
            fs::remove_dir_all(origin.repository(mirrors.path())).ok();
            *server.contents.lock().unwrap() = one_commit();
            now = None;
        }
        let number = {
            let mut contents = server.contents.lock().unwrap();
            let parent = contents.references.get("refs/heads/master").copied();
            version(&mut contents, parent, round + 1);
            round + 1
        };
        let fault = match dice.below(3) {
            0 => Fault::CloseAfter(usize::try_from(dice.below(6_000)).unwrap()),
            1 => Fault::Flip(usize::try_from(dice.below(1 << 20)).unwrap()),
            _ => Fault::Leave(usize::try_from(dice.below(1 << 20)).unwrap()),
        };
        server.set(fault);
        let result = get(&origin, mirrors.path());
        let found = served(&origin, mirrors.path());
        match (&result, found) {
            (Err(_), Ok(found)) => {
                assert_eq!(found, now, "round {round}, {fault:?}: {result:?}");
                failed += 1;
            }
            (Err(_), Err(_)) => {
                assert_eq!(now, None, "round {round}, {fault:?}: {result:?}");
                first_failed += 1;
            }
            (Ok(_), Ok(found)) => {
                assert_eq!(found, Some(number), "round {round}, {fault:?}");
                now = Some(number);
            }
            (Ok(_), Err(why)) => panic!("round {round}, {fault:?}: {why}"),
        }
        server.set(Fault::None);
        if round % 3 == 0 {
            get(&origin, mirrors.path()).unwrap();
            assert_eq!(served(&origin, mirrors.path()), Ok(Some(number)));
            now = Some(number);
        }
    }
    assert!(
        failed > 10 && first_failed > 1,
        "{failed} and {first_failed} fetches failed"
    );
}

#[test]
fn a_hostile_server_is_an_error_or_gives_what_it_has() {
    for kind in Hostile::ALL {
        let mirrors = tempfile::tempdir().unwrap();
        let below = mirrors.path().join("a/b");
        fs::create_dir_all(&below).unwrap();
        let server = Server::start(one_commit());
        server.set(Fault::Hostile(kind));
        let origin = RemoteSource::new(&server.url);
        // A silent server is git's to give up, after two minutes: the user does not wait as long.
        let interrupt = AtomicBool::new(false);
        let result = thread::scope(|scope| {
            if kind == Hostile::Silence {
                scope.spawn(|| {
                    thread::sleep(Duration::from_millis(300));
                    interrupt.store(true, Ordering::Relaxed);
                });
            }
            fetch(&origin, &below, &Progress::default(), &|| {
                reason(&interrupt)
            })
        });
        let said = result
            .as_ref()
            .err()
            .map(ToString::to_string)
            .unwrap_or_default();
        assert!(said.len() < 8_000, "{kind:?}: {} bytes", said.len());
        let acts = |c: char| c.is_control() && c != '\n';
        assert!(!said.contains(acts), "{kind:?}: {said:?}");
        // What is there can be served, and nothing lies beside the mirrors.
        let files = served(&origin, &below);
        match result {
            Ok(_) => assert_eq!(files, Ok(kind.files()), "{kind:?}"),
            Err(_) => assert!(!matches!(files, Ok(Some(_))), "{kind:?}: {files:?}"),
        }
        let beside: Vec<_> = [mirrors.path().to_path_buf(), mirrors.path().join("a")]
            .iter()
            .flat_map(|folder| fs::read_dir(folder).unwrap())
            .map(|entry| entry.unwrap().file_name())
            .collect();
        assert_eq!(beside, ["a", "b"], "{kind:?}");
    }
}

#[test]
fn an_interrupted_fetch_leaves_the_mirror_whole() {
    let mirrors = tempfile::tempdir().unwrap();
    let server = Server::start(one_commit());
    let origin = RemoteSource::new(&server.url);
    get(&origin, mirrors.path()).unwrap();
    let mut dice = Dice(77);
    for round in 0..40 {
        let before = served(&origin, mirrors.path()).unwrap();
        {
            let mut contents = server.contents.lock().unwrap();
            let parent = contents.references["refs/heads/master"];
            version(&mut contents, Some(parent), round + 1);
        }
        let interrupt = AtomicBool::new(false);
        let result = thread::scope(|scope| {
            let wait = Duration::from_micros(dice.below(6_000));
            let interrupt = &interrupt;
            scope.spawn(move || {
                thread::sleep(wait);
                interrupt.store(true, Ordering::Relaxed);
            });
            fetch(&origin, mirrors.path(), &Progress::default(), &|| {
                reason(interrupt)
            })
        });
        let expected = if result.is_ok() {
            Some(round + 1)
        } else {
            before
        };
        assert_eq!(served(&origin, mirrors.path()), Ok(expected), "{result:?}");
    }
}

/// The body of the child process that the tests below start.
#[test]
fn child() {
    let (Ok(url), Ok(mirrors)) = (std::env::var("FETCH_URL"), std::env::var("FETCH_INTO")) else {
        return;
    };
    match get(&RemoteSource::new(url), Path::new(&mirrors)) {
        Ok(_) => println!("fetched"),
        Err(e) => println!("failed: {e}"),
    }
}

fn in_process(origin: &RemoteSource, mirrors: &Path, shell: Option<&str>) -> Command {
    let this = std::env::current_exe().unwrap();
    let mut command = match shell {
        Some(before) => {
            let mut command = Command::new("sh");
            command
                .arg("-c")
                .arg(format!("{before}; exec \"$0\" \"$@\""))
                .arg(this);
            command
        }
        None => Command::new(this),
    };
    command.args(["--exact", "child", "--nocapture", "--test-threads=1"]);
    command
        .env("FETCH_URL", &origin.url)
        .env("FETCH_INTO", mirrors)
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    command
}

#[test]
fn a_killed_fetch_leaves_the_mirror_whole_and_the_next_one_works() {
    let mirrors = tempfile::tempdir().unwrap();
    let server = Server::start(one_commit());
    let origin = RemoteSource::new(&server.url);
    // Measure one fetch on this machine.
    let start = Instant::now();
    assert!(
        in_process(&origin, mirrors.path(), None)
            .output()
            .unwrap()
            .status
            .success()
    );
    let whole = u64::try_from(start.elapsed().as_micros()).unwrap();
    let mut dice = Dice(4711);
    let mut killed = 0;
    for round in 0..40 {
        if round % 8 == 0 {
            fs::remove_dir_all(origin.repository(mirrors.path())).unwrap();
            *server.contents.lock().unwrap() = one_commit();
        }
        let before = served(&origin, mirrors.path()).ok().flatten();
        {
            let mut contents = server.contents.lock().unwrap();
            let parent = contents.references["refs/heads/master"];
            version(&mut contents, Some(parent), round + 1);
        }
        let mut child = in_process(&origin, mirrors.path(), None).spawn().unwrap();
        thread::sleep(Duration::from_micros(dice.below(whole)));
        child.kill().unwrap();
        killed += usize::from(!child.wait().unwrap().success());
        let found = served(&origin, mirrors.path()).ok().flatten();
        assert!(
            found == before || found == Some(round + 1),
            "{before:?} before, {found:?} after"
        );
        if before.is_some() {
            assert!(found.is_some(), "the mirror was lost");
        }
        get(&origin, mirrors.path()).unwrap();
        assert_eq!(served(&origin, mirrors.path()), Ok(Some(round + 1)));
    }
    assert!(killed > 10, "only {killed} were killed in time");
    // A git that outlives the fetch which started it may write while the next one sweeps; the fetch after that sweeps again.
    for _ in 0..10 {
        if left_of_fetches(&origin, mirrors.path()).is_empty() {
            break;
        }
        thread::sleep(Duration::from_millis(50));
        get(&origin, mirrors.path()).unwrap();
    }
    let left = left_of_fetches(&origin, mirrors.path());
    assert!(
        left.is_empty(),
        "left of fetches that were killed: {left:?}"
    );
}

/// The names of files that only a fetch under way has.
fn left_of_fetches(origin: &RemoteSource, mirrors: &Path) -> Vec<String> {
    let packs = origin.repository(mirrors).join("objects/pack");
    let entries = [mirrors, &packs].map(|directory| fs::read_dir(directory).unwrap());
    let names = entries.into_iter().flatten().flatten();
    let names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let is_of_fetch =
        |name: &String| name.contains("tmp") || name.ends_with(".new") || name.ends_with(".keep");
    names.filter(is_of_fetch).collect()
}

#[cfg(unix)]
#[test]
fn git_runs_nothing_but_what_gets_to_the_server() {
    use std::os::unix::fs::PermissionsExt;
    let home = tempfile::tempdir().unwrap();
    let at = |name: &str| home.path().join(name);
    let script = format!("#!/bin/sh\ntouch {}\n", at("ran").display());
    fs::create_dir_all(at("hooks")).unwrap();
    for name in [
        "hooks/reference-transaction",
        "hooks/post-checkout",
        "monitor",
    ] {
        fs::write(at(name), &script).unwrap();
        fs::set_permissions(at(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let config = format!(
        "[core]\nhooksPath = {0}/hooks\nfsmonitor = {0}/monitor\n[url \"ext::sh -c {0}/monitor \"]\n\
         insteadOf = https://example.org/\n",
        home.path().display()
    );
    fs::write(at("config"), config).unwrap();
    let server = Server::start(one_commit());
    let origin = RemoteSource::new(&server.url);
    let said = |origin: &RemoteSource, mirrors: &str| {
        let output = in_process(origin, &at(mirrors), None)
            .env("GIT_CONFIG_GLOBAL", at("config"))
            .env("GIT_DIR", at("elsewhere"))
            .env("GIT_OBJECT_DIRECTORY", at("elsewhere"))
            .output()
            .unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let fetched = said(&origin, "mirrors");
    assert!(fetched.contains("fetched"), "{fetched}");
    assert_eq!(served(&origin, &at("mirrors")), Ok(Some(0)));
    let refused = said(&RemoteSource::new("https://example.org/x"), "mirrors");
    assert!(refused.contains("transport 'ext' not allowed"), "{refused}");
    assert!(!at("ran").exists() && !at("elsewhere").exists());
}

#[test]
fn a_machine_without_git_is_told_so() {
    let mirrors = tempfile::tempdir().unwrap();
    let origin = RemoteSource::new("https://example.org/a");
    let output = in_process(&origin, mirrors.path(), None)
        .env("PATH", mirrors.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        said.contains("the program `git` does the fetching"),
        "{said}"
    );
}

/// A file that may not grow is what a full disk is to a program: writing fails in the middle.
#[cfg(unix)]
#[test]
fn a_full_disk_leaves_the_mirror_whole() {
    let mirrors = tempfile::tempdir().unwrap();
    let mut contents = one_commit();
    let parent = contents.references["refs/heads/master"];
    let server = Server::start(contents.clone());
    let origin = RemoteSource::new(&server.url);
    get(&origin, mirrors.path()).unwrap();
    // Not compressible, so that the pack is larger than allowed.
    let mut dice = Dice(5);
    let noise: String = (0..80_000)
        .map(|_| char::from(b'0' + u8::try_from(dice.below(75)).unwrap()))
        .collect();
    let id = contents.commit(Some(parent), &[("a", "1\n"), ("b", &format!("1\n{noise}"))]);
    contents.point("refs/heads/master", id);
    *server.contents.lock().unwrap() = contents;
    for blocks in [1, 4, 16, 40] {
        let limit = format!("trap '' XFSZ; ulimit -f {blocks}");
        let output = in_process(&origin, mirrors.path(), Some(&limit))
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(said.contains("failed: "), "{said}");
        assert_eq!(served(&origin, mirrors.path()), Ok(Some(0)), "{said}");
    }
    get(&origin, mirrors.path()).unwrap();
    assert_eq!(served(&origin, mirrors.path()), Ok(Some(1)));
}

#[test]
fn of_two_fetches_at_once_one_is_told_to_wait() {
    let mirrors = tempfile::tempdir().unwrap();
    let server = Server::start(one_commit());
    let origin = RemoteSource::new(&server.url);
    server.set(Fault::Slow(300));
    thread::scope(|scope| {
        let first = scope.spawn(|| get(&origin, mirrors.path()));
        thread::sleep(Duration::from_millis(100));
        let second = get(&origin, mirrors.path()).unwrap_err();
        assert!(matches!(second, FetchError::Busy { .. }), "{second}");
        first.join().unwrap().unwrap();
    });
    assert_eq!(served(&origin, mirrors.path()), Ok(Some(0)));
}

/// The only file in a folder of the mirror with an ending.
fn file_of(mirror: &Path, ending: &str) -> PathBuf {
    let entries = fs::read_dir(mirror.join("objects/pack")).unwrap().flatten();
    entries
        .map(|entry| entry.path())
        .find(|path| path.extension().is_some_and(|e| e == ending))
        .unwrap()
}

#[cfg(unix)]
fn writable(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o644)).unwrap();
}

#[cfg(not(unix))]
fn writable(_: &Path) {}

#[test]
#[expect(clippy::too_many_lines, reason = "one case for each kind of damage")]
fn a_damaged_mirror_is_reported_and_never_panics() {
    let server = Server::start(one_commit());
    let origin = RemoteSource::new(&server.url);
    let damaged = |damage: &dyn Fn(&Path)| {
        let mirrors = tempfile::tempdir().unwrap();
        get(&origin, mirrors.path()).unwrap();
        damage(&origin.repository(mirrors.path()));
        served(&origin, mirrors.path())
    };
    let cut = |ending: &'static str, at: u64| {
        damaged(&move |mirror| {
            let path = file_of(mirror, ending);
            writable(&path);
            let file = fs::File::options().write(true).open(&path).unwrap();
            file.set_len(file.metadata().unwrap().len() * at / 10)
                .unwrap();
        })
    };
    for at in 0..10 {
        for ending in ["pack", "idx"] {
            match cut(ending, at) {
                Ok(number) => assert_eq!(number, Some(0), "{ending} {at}"),
                Err(why) => assert!(why.contains("127.0.0.1"), "{ending} {at}: {why}"),
            }
        }
    }
    let no_pack = damaged(&|mirror| fs::remove_file(file_of(mirror, "idx")).unwrap()).unwrap_err();
    assert!(
        no_pack.contains("is missing") && no_pack.contains("refs/remotes/origin/master"),
        "{no_pack}"
    );
    let bad_reference = damaged(&|mirror| {
        fs::create_dir_all(mirror.join("refs/heads")).unwrap();
        fs::write(mirror.join("refs/heads/broken"), "rubbish\n").unwrap();
    });
    assert!(
        bad_reference
            .clone()
            .unwrap_err()
            .contains("references cannot be read"),
        "{bad_reference:?}"
    );
    let bad_list = damaged(&|mirror| fs::write(mirror.join("packed-refs"), "rubbish\n").unwrap());
    assert!(
        bad_list
            .clone()
            .is_err_and(|why| why.contains("references cannot be read")),
        "{bad_list:?}"
    );
    let elsewhere = damaged(&|mirror| {
        fs::write(
            mirror.join("packed-refs"),
            format!("{} refs/heads/master\n", "1".repeat(40)),
        )
        .unwrap();
    });
    assert!(
        elsewhere.clone().unwrap_err().contains(&"1".repeat(40)),
        "{elsewhere:?}"
    );
    let no_head = damaged(&|mirror| fs::remove_file(mirror.join("HEAD")).unwrap());
    assert!(
        no_head
            .clone()
            .unwrap_err()
            .contains("not a readable git repository"),
        "{no_head:?}"
    );
}

/// Bytes of a pack are changed one after the other.
#[test]
fn a_flipped_byte_in_a_mirror_is_an_error_or_changes_nothing() {
    let server = Server::start(one_commit());
    let origin = RemoteSource::new(&server.url);
    let mirrors = tempfile::tempdir().unwrap();
    get(&origin, mirrors.path()).unwrap();
    for ending in ["pack", "idx"] {
        let path = file_of(&origin.repository(mirrors.path()), ending);
        writable(&path);
        let whole = fs::read(&path).unwrap();
        for at in (0..whole.len()).step_by(if ending == "idx" { 7 } else { 3 }) {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x41;
            fs::write(&path, bytes).unwrap();
            if let Ok(files) = open(&origin, mirrors.path()) {
                let _ = files.fetch(&SaltPath::from_relative("a"), "base");
                let _ = files.list("base", "");
            }
        }
        fs::write(&path, whole).unwrap();
    }
    assert_eq!(served(&origin, mirrors.path()), Ok(Some(0)));
}
