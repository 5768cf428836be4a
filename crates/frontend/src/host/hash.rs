//! Checksums of files.

use std::io::Read;
use std::path::Path;

use mapstack::value::Value;
use mapstack::{Call, CallError};
use sha1::Digest;

use crate::host::args::{Result, expand_home, os_error, text, text_or};
use crate::host::file::open;
use crate::host::table::FunctionTable;

pub(crate) const TABLE: FunctionTable = &[
    ("file.get_hash", get_hash),
    ("file.get_sum", get_sum),
    ("file_hashsum", file_hashsum),
];

fn get_hash(call: &Call) -> Result<Value> {
    let [path, form, _chunk_size] = call.bind(["path", "form", "chunk_size"])?;
    let form = text_or(form, call, "form", "sha256")?;
    Ok(of_file(&expand_home(&text(path, call, "path")?), &form)?.into())
}

fn file_hashsum(call: &Call) -> Result<Value> {
    let [path, form, _chunk_size] = call.bind(["path", "form", "chunk_size"])?;
    let form = text_or(form, call, "form", "sha256")?;
    Ok(of_file(Path::new(&text(path, call, "path")?), &form)?.into())
}

fn get_sum(call: &Call) -> Result<Value> {
    let [path, form] = call.bind(["path", "form"])?;
    let form = text_or(form, call, "form", "sha256")?;
    let path = expand_home(&text(path, call, "path")?);
    if !path.is_file() {
        return Ok("File not found".into());
    }
    Ok(of_file(&path, &form)?.into())
}

/// The checksum of a file's content in hexadecimal digits.
pub(crate) fn of_file(path: &Path, form: &str) -> Result<String> {
    match form {
        "md5" => digest::<md5::Md5>(path),
        "sha1" => digest::<sha1::Sha1>(path),
        "sha224" => digest::<sha2::Sha224>(path),
        "sha256" => digest::<sha2::Sha256>(path),
        "sha384" => digest::<sha2::Sha384>(path),
        "sha512" => digest::<sha2::Sha512>(path),
        _ => Err(
            CallError::python("ValueError", format!("Invalid hash type: {form}"))
                .with_help("there are md5, sha1, sha224, sha256, sha384 and sha512"),
        ),
    }
}

fn digest<D: Digest>(path: &Path) -> Result<String> {
    let failed = |e: std::io::Error| os_error(&e, path);
    let mut file = open(path)?;
    let mut digest = D::new();
    let mut chunk = vec![0; 64 << 10];
    loop {
        let n = file.read(&mut chunk).map_err(failed)?;
        if n == 0 {
            break;
        }
        digest.update(&chunk[..n]);
    }
    Ok(hex::encode(digest.finalize()))
}
