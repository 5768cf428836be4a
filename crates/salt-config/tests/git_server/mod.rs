//! A git server for tests: smart HTTP, protocol 2, with faults on demand.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use gix::ObjectId;
use gix::objs::Kind;

/// A repository in memory.
#[derive(Default, Clone)]
pub struct Contents {
    pub objects: Vec<(Kind, Vec<u8>)>,
    pub references: BTreeMap<String, ObjectId>,
}

impl Contents {
    pub fn add(&mut self, kind: Kind, bytes: impl Into<Vec<u8>>) -> ObjectId {
        let bytes = bytes.into();
        let id = gix::objs::compute_hash(gix::hash::Kind::Sha1, kind, &bytes).unwrap();
        self.objects.push((kind, bytes));
        id
    }

    /// A commit with files, none of them in a folder.
    pub fn commit(&mut self, parent: Option<ObjectId>, files: &[(&str, &str)]) -> ObjectId {
        let mut files: Vec<_> = files.to_vec();
        files.sort_unstable();
        let mut tree = Vec::new();
        for (name, text) in files {
            let id = self.add(Kind::Blob, text);
            tree.extend_from_slice(format!("100644 {name}\0").as_bytes());
            tree.extend_from_slice(id.as_bytes());
        }
        let tree = self.add(Kind::Tree, tree);
        let parent = parent
            .map(|id| format!("parent {id}\n"))
            .unwrap_or_default();
        let who = "A <a@example.org> 1700000000 +0000";
        self.add(
            Kind::Commit,
            format!("tree {tree}\n{parent}author {who}\ncommitter {who}\n\nx\n"),
        )
    }

    pub fn tag(&mut self, name: &str, at: ObjectId) -> ObjectId {
        let who = "A <a@example.org> 1700000000 +0000";
        self.add(
            Kind::Tag,
            format!("object {at}\ntype commit\ntag {name}\ntagger {who}\n\nx\n"),
        )
    }

    pub fn point(&mut self, name: &str, at: ObjectId) {
        self.references.insert(name.into(), at);
    }

    fn pack(&self) -> Vec<u8> {
        let mut pack = b"PACK\0\0\0\x02".to_vec();
        pack.extend_from_slice(&u32::try_from(self.objects.len()).unwrap().to_be_bytes());
        for (kind, bytes) in &self.objects {
            let kind = match kind {
                Kind::Commit => 1,
                Kind::Tree => 2,
                Kind::Blob => 3,
                Kind::Tag => 4,
            };
            let mut size = bytes.len();
            let mut byte = (kind << 4) | u8::try_from(size & 15).unwrap();
            size >>= 4;
            while size > 0 {
                pack.push(byte | 0x80);
                byte = u8::try_from(size & 0x7f).unwrap();
                size >>= 7;
            }
            pack.push(byte);
            let mut deflated = gix::zlib::stream::deflate::Write::new(
                Vec::new(),
                gix::zlib::Compression::BEST_SPEED,
            );
            deflated.write_all(bytes).unwrap();
            deflated.flush().unwrap();
            pack.extend(deflated.into_inner());
        }
        let mut hasher = gix::hash::hasher(gix::hash::Kind::Sha1);
        hasher.update(&pack);
        pack.extend_from_slice(hasher.try_finalize().unwrap().as_bytes());
        pack
    }
}

/// The fault of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    None,
    /// The connection ends after this many bytes of answers, counted over all of them.
    CloseAfter(usize),
    /// One byte of the pack is another one.
    Flip(usize),
    /// One object is not sent.
    Leave(usize),
    /// The answer to everything.
    Status(u16),
    /// Every answer takes so many milliseconds.
    Slow(u64),
    /// The answers of a hostile server.
    Hostile(Hostile),
}

/// A kind of hostile server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hostile {
    /// `HEAD` is a reference outside of the repository.
    SymrefOutside,
    /// References have names that lead out of the repository.
    NamesOutside,
    /// There are very many references.
    ManyReferences,
    /// Each address redirects to another.
    Redirects,
    /// The address redirects to a file of the machine.
    RedirectToFile,
    /// A packet is longer than its header says.
    WrongLength,
    /// The body is shorter than the header says.
    ShortBody,
    /// The server is silent.
    Silence,
    /// The server is one of web pages.
    Page,
    /// The old protocol, with objects of other servers.
    Alternates,
    /// A line of megabytes.
    LongLine,
    /// Megabytes of messages, which steer the terminal.
    Talk,
    /// A pack of more objects than there are.
    MoreObjects,
    /// A pack of very many small objects.
    SmallObjects,
    /// An object of many zeros.
    Zeros,
    /// A commit of which the tree has names that lead out of it.
    TreeOutside,
}

impl Hostile {
    pub const ALL: [Hostile; 16] = [
        Hostile::SymrefOutside,
        Hostile::NamesOutside,
        Hostile::ManyReferences,
        Hostile::Redirects,
        Hostile::RedirectToFile,
        Hostile::WrongLength,
        Hostile::ShortBody,
        Hostile::Silence,
        Hostile::Page,
        Hostile::Alternates,
        Hostile::LongLine,
        Hostile::Talk,
        Hostile::MoreObjects,
        Hostile::SmallObjects,
        Hostile::Zeros,
        Hostile::TreeOutside,
    ];

    /// The number that a file of the server has after a fetch that works; without the branch the file does not exist.
    pub fn files(self) -> Option<u64> {
        let has_branch = !matches!(self, Hostile::NamesOutside | Hostile::ManyReferences);
        has_branch.then_some(0)
    }
}

pub struct Server {
    pub url: String,
    pub contents: Arc<Mutex<Contents>>,
    pub fault: Arc<Mutex<Fault>>,
    /// The header that requests must have.
    pub authorization: Arc<Mutex<Option<String>>>,
    /// The number of packs that were sent.
    pub packs: Arc<AtomicUsize>,
    /// True if `/moved` redirects to `/repository`.
    ended: Arc<AtomicBool>,
}

struct Request {
    path: String,
    authorization: Option<String>,
    body: Vec<u8>,
}

impl Server {
    pub fn start(contents: Contents) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = Server {
            url: format!("http://{}/repository", listener.local_addr().unwrap()),
            contents: Arc::new(Mutex::new(contents)),
            fault: Arc::new(Mutex::new(Fault::None)),
            authorization: Arc::default(),
            packs: Arc::default(),
            ended: Arc::default(),
        };
        let (contents, fault) = (server.contents.clone(), server.fault.clone());
        let (authorization, packs, ended) = (
            server.authorization.clone(),
            server.packs.clone(),
            server.ended.clone(),
        );
        thread::spawn(move || {
            let budget = Arc::new(Mutex::new((Fault::None, 0)));
            for stream in listener.incoming() {
                if ended.load(Ordering::Relaxed) {
                    break;
                }
                let Ok(stream) = stream else { continue };
                let (contents, fault) = (contents.lock().unwrap().clone(), *fault.lock().unwrap());
                let (authorization, packs, budget) =
                    (authorization.clone(), packs.clone(), budget.clone());
                // One at a time but where a slow answer must not hold up others.
                let work = move || {
                    let _ = answer(stream, &contents, fault, &authorization, &packs, &budget);
                };
                if matches!(fault, Fault::Slow(_) | Fault::Hostile(_)) {
                    thread::spawn(work);
                } else {
                    work();
                }
            }
        });
        server
    }

    pub fn set(&self, fault: Fault) {
        *self.fault.lock().unwrap() = fault;
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
        let address = self
            .url
            .trim_start_matches("http://")
            .split('/')
            .next()
            .unwrap();
        let _ = TcpStream::connect(address);
    }
}

fn read(stream: &TcpStream) -> std::io::Result<Request> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let path = line.split(' ').nth(1).unwrap_or_default().to_string();
    let (mut length, mut authorization) = (0, None);
    loop {
        line.clear();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(": ") else {
            break;
        };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.parse().unwrap_or(0),
            "authorization" => authorization = Some(value.to_string()),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(Request {
        path,
        authorization,
        body,
    })
}

fn packet(text: impl AsRef<[u8]>) -> Vec<u8> {
    let text = text.as_ref();
    [format!("{:04x}", text.len() + 4).as_bytes(), text].concat()
}

fn answer(
    mut stream: TcpStream,
    contents: &Contents,
    fault: Fault,
    authorization: &Mutex<Option<String>>,
    packs: &AtomicUsize,
    budget: &Mutex<(Fault, usize)>,
) -> std::io::Result<()> {
    let request = read(&stream)?;
    if let Fault::Slow(milliseconds) = fault {
        thread::sleep(Duration::from_millis(milliseconds));
    }
    if let Fault::Hostile(kind) = fault {
        return hostile(stream, contents, kind, &request);
    }
    let wanted = authorization.lock().unwrap().clone();
    let text = String::from_utf8_lossy(&request.body).into_owned();
    let (status, kind, body) = match fault {
        Fault::Status(status) => (status, "text/plain", Vec::new()),
        _ if wanted.is_some() && wanted != request.authorization => (401, "text/plain", Vec::new()),
        _ if request.path.starts_with("/moved/") => (301, "text/plain", Vec::new()),
        _ if request.path.contains("/info/refs") => {
            (200, "x-git-upload-pack-advertisement", advertisement())
        }
        _ if text.contains("command=ls-refs") => {
            (200, "x-git-upload-pack-result", references(contents))
        }
        _ => {
            packs.fetch_add(1, Ordering::Relaxed);
            let is_done = text.contains("0009done");
            (
                200,
                "x-git-upload-pack-result",
                objects(contents, fault, is_done),
            )
        }
    };
    let location = match status {
        301 => format!(
            "Location: {}\r\n",
            request.path.replacen("/moved/", "/repository/", 1)
        ),
        401 => "WWW-Authenticate: Basic realm=\"test\"\r\n".into(),
        _ => String::new(),
    };
    let head = format!(
        "HTTP/1.1 {status} X\r\nContent-Type: application/{kind}\r\n{location}Content-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    let whole = [head.as_bytes(), &body].concat();
    let mut sent = whole.len();
    if let Fault::CloseAfter(most) = fault {
        let mut budget = budget.lock().unwrap();
        if budget.0 != fault {
            *budget = (fault, most);
        }
        sent = sent.min(budget.1);
        budget.1 -= sent;
    }
    stream.write_all(&whole[..sent])
}

fn advertisement() -> Vec<u8> {
    [
        packet("# service=git-upload-pack\n"),
        b"0000".to_vec(),
        packet("version 2\n"),
        packet("agent=test\n"),
        packet("ls-refs\n"),
        packet("fetch\n"),
        packet("object-format=sha1\n"),
        b"0000".to_vec(),
    ]
    .concat()
}

fn references(contents: &Contents) -> Vec<u8> {
    let mut lines: Vec<u8> = contents
        .references
        .iter()
        .flat_map(|(name, id)| packet(format!("{id} {name}\n")))
        .collect();
    lines.extend_from_slice(b"0000");
    lines
}

fn objects(contents: &Contents, fault: Fault, is_done: bool) -> Vec<u8> {
    let mut contents = contents.clone();
    if let Fault::Leave(index) = fault {
        contents.objects.remove(index % contents.objects.len());
    }
    let mut pack = contents.pack();
    if let Fault::Flip(index) = fault {
        let index = index % pack.len();
        pack[index] ^= 0x55;
    }
    let mut lines = Vec::new();
    // Who names what is there already wants to know when that is enough.
    if !is_done {
        lines.extend(
            [
                packet("acknowledgments\n"),
                packet("ready\n"),
                b"0001".to_vec(),
            ]
            .concat(),
        );
    }
    lines.extend(packet("packfile\n"));
    for part in pack.chunks(1000) {
        lines.extend(packet([b"\x01", part].concat()));
    }
    lines.extend_from_slice(b"0000");
    lines
}

/// The longest that a hostile server keeps a connection open.
const OPEN: Duration = Duration::from_secs(20);

/// The answer of a hostile server.
fn hostile(
    mut stream: TcpStream,
    contents: &Contents,
    kind: Hostile,
    request: &Request,
) -> std::io::Result<()> {
    let text = String::from_utf8_lossy(&request.body).into_owned();
    let (status, more, body) = match kind {
        Hostile::Silence => {
            thread::sleep(OPEN);
            return Ok(());
        }
        Hostile::Redirects => {
            let next = format!("Location: /x{}\r\n", request.path);
            (301, next, Vec::new())
        }
        Hostile::RedirectToFile => (301, "Location: file:///etc/\r\n".to_owned(), Vec::new()),
        Hostile::Page => (
            200,
            String::new(),
            b"<html>\n<p>hello</p>\n</html>\n".to_vec(),
        ),
        Hostile::Alternates => (200, String::new(), of_old_protocol(contents, &request.path)),
        _ if request.path.contains("/info/refs") => (200, String::new(), advertisement()),
        _ if text.contains("command=ls-refs") => (200, String::new(), listed(contents, kind)),
        _ => (200, String::new(), packed(contents, kind)),
    };
    let content = match (kind, request.path.contains("/info/refs")) {
        (Hostile::Page, _) => "text/html",
        (Hostile::Alternates, _) => "text/plain",
        (_, true) => "application/x-git-upload-pack-advertisement",
        (_, false) => "application/x-git-upload-pack-result",
    };
    let length = match kind {
        Hostile::ShortBody => body.len() + 1000,
        _ => body.len(),
    };
    let head = format!(
        "HTTP/1.1 {status} X\r\nContent-Type: {content}\r\n{more}Content-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(&[head.as_bytes(), &body].concat())
}

fn listed(contents: &Contents, kind: Hostile) -> Vec<u8> {
    let id = contents.references["refs/heads/master"];
    match kind {
        Hostile::SymrefOutside => [
            packet(format!("{id} HEAD symref-target:../../x\n")),
            packet(format!("{id} refs/heads/master\n")),
            b"0000".to_vec(),
        ]
        .concat(),
        Hostile::NamesOutside => [
            packet(format!("{id} refs/heads/../../../x\n")),
            packet(format!("{id} refs/heads//etc/passwd\n")),
            packet(format!("{id} refs/heads/a\x1b]0;x\x07\n")),
            b"0000".to_vec(),
        ]
        .concat(),
        Hostile::ManyReferences => {
            let mut lines: Vec<u8> = (0..20_000)
                .flat_map(|number| packet(format!("{id} refs/heads/b{number}\n")))
                .collect();
            lines.extend_from_slice(b"0000");
            lines
        }
        Hostile::WrongLength => format!("0009{id} refs/heads/master\n0000").into_bytes(),
        Hostile::LongLine => format!("fffe{}", "x".repeat(4 << 20)).into_bytes(),
        _ => references(contents),
    }
}

fn packed(contents: &Contents, kind: Hostile) -> Vec<u8> {
    let mut contents = contents.clone();
    match kind {
        Hostile::SmallObjects => (0..2_000).for_each(|number| {
            contents.add(Kind::Blob, format!("{number}"));
        }),
        Hostile::Zeros => drop(contents.add(Kind::Blob, vec![0; 4 << 20])),
        Hostile::TreeOutside => {
            let blob = contents.add(Kind::Blob, "x");
            let tree = [b"100644 ../../x\0".as_slice(), blob.as_bytes()].concat();
            contents.add(Kind::Tree, tree);
        }
        _ => {}
    }
    let mut pack = contents.pack();
    if kind == Hostile::MoreObjects {
        pack[8..12].copy_from_slice(&u32::MAX.to_be_bytes());
    }
    let mut lines = packet("packfile\n");
    if kind == Hostile::Talk {
        for _ in 0..2_000 {
            lines.extend(packet(
                [b"\x02\x1b]0;x\x07".as_slice(), &[b'y'; 1000], b"\n"].concat(),
            ));
        }
        lines.extend(packet(b"\x03the end\x1b[2J\n"));
        return lines;
    }
    for part in pack.chunks(60_000) {
        lines.extend(packet([b"\x01", part].concat()));
    }
    lines.extend_from_slice(b"0000");
    lines
}

/// The files of a server of the old protocol: its objects are elsewhere.
fn of_old_protocol(contents: &Contents, path: &str) -> Vec<u8> {
    let id = contents.references["refs/heads/master"];
    match path.rsplit('/').next() {
        Some(name) if name.starts_with("refs") => format!("{id}\trefs/heads/master\n").into_bytes(),
        Some("HEAD") => b"ref: refs/heads/master\n".to_vec(),
        Some("http-alternates" | "alternates") => {
            b"file:///etc/\n/etc/\nhttp://127.0.0.1:1/x/objects/\n".to_vec()
        }
        _ => Vec::new(),
    }
}
