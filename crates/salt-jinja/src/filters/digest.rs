//! Salt's filters for hashes, signatures and encodings.

use hmac::{Hmac, KeyInit, Mac};
use mapstack_pyobject::{CallArgs, Error, Obj, Result};
use mapstack_value::pytext::base64;
use md5::Md5;
use sha1::Sha1;
use sha2::{Digest, Sha224, Sha256, Sha384, Sha512};

use super::strings::{bytes_of, expected_text};
use mapstack_jinja::Filters;
use mapstack_jinja::Vm;
use mapstack_jinja::call::plain;

pub(super) const TABLE: Filters = &[
    ("base64_decode", base64_decode),
    ("base64_encode", |_, x, args| {
        plain("base64_b64encode", "instr").alone(args)?;
        bytes_of(&x).map(|bytes| Obj::from(base64::encode(&bytes)))
    }),
    ("hmac", hmac_check),
    ("hmac_compute", hmac_compute),
    ("md5", |vm, x, args| {
        digest(vm, &x, args, "md5_digest", "md5")
    }),
    ("sha1", |vm, x, args| {
        digest(vm, &x, args, "sha1_digest", "sha1")
    }),
    ("sha256", |vm, x, args| {
        digest(vm, &x, args, "sha256_digest", "sha256")
    }),
    ("sha512", |vm, x, args| {
        digest(vm, &x, args, "sha512_digest", "sha512")
    }),
    ("uuid", uuid),
];

/// A hash by the name `hashlib` has for it.
#[must_use]
pub fn hash(name: &str, bytes: &[u8]) -> Option<Vec<u8>> {
    Some(match name {
        "md5" => Md5::digest(bytes).to_vec(),
        "sha1" => Sha1::digest(bytes).to_vec(),
        "sha224" => Sha224::digest(bytes).to_vec(),
        "sha256" => Sha256::digest(bytes).to_vec(),
        "sha384" => Sha384::digest(bytes).to_vec(),
        "sha512" => Sha512::digest(bytes).to_vec(),
        _ => return None,
    })
}

fn digest(vm: &Vm<'_>, x: &Obj, args: CallArgs, function: &'static str, name: &str) -> Result<Obj> {
    plain(function, "instr").alone(args)?;
    let bytes = bytes_of(x)?;
    vm.burn(bytes.len() / 64)?;
    Ok(Obj::from(hex::encode(
        hash(name, &bytes).unwrap_or_default(),
    )))
}

fn signature(key: &[u8], message: &[u8]) -> Vec<u8> {
    hmac("sha256", key, message).unwrap_or_default()
}

/// `hmac.new(key, message, hashlib.NAME).digest()`; `None` for a hash that is not here.
///
/// ```
/// use mapstack_salt_jinja::python::hmac;
/// assert!(hex::encode(&hmac("sha1", b"key", b"message").unwrap()).starts_with("2088df74"));
/// ```
#[must_use]
pub fn hmac(name: &str, key: &[u8], message: &[u8]) -> Option<Vec<u8>> {
    macro_rules! by {
        ($hash:ty) => {{
            // A key of any length is fine.
            let mut mac = Hmac::<$hash>::new_from_slice(key).ok()?;
            mac.update(message);
            mac.finalize().into_bytes().to_vec()
        }};
    }
    Some(match name {
        "md5" => by!(Md5),
        "sha1" => by!(Sha1),
        "sha224" => by!(Sha224),
        "sha256" => by!(Sha256),
        "sha384" => by!(Sha384),
        "sha512" => by!(Sha512),
        _ => return None,
    })
}

fn hmac_check(_: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    let names = ["shared_secret", "challenge_hmac"];
    let [secret, challenge] = plain("hmac_signature", "string").bind(args, 2, names)?;
    let message = bytes_of(&x)?;
    let key = bytes_of(&secret.unwrap_or_default())?;
    let challenge = bytes_of(&challenge.unwrap_or_default())?;
    Ok(Obj::Bool(
        base64::encode(&signature(&key, &message)).into_bytes() == challenge,
    ))
}

fn hmac_compute(_: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    let [secret] = plain("hmac_compute", "string").bind(args, 1, ["shared_secret"])?;
    let message = bytes_of(&x)?;
    let key = bytes_of(&secret.unwrap_or_default())?;
    Ok(Obj::from(hex::encode(signature(&key, &message))))
}

/// Salt's namespace for UUIDs.
const NAMESPACE: [u8; 16] = [
    0x91, 0x63, 0x3e, 0xbf, 0x1c, 0x86, 0x5e, 0x33, 0x93, 0x5a, 0x28, 0x06, 0x1f, 0x4b, 0x48, 0x0e,
];

/// A version 5 UUID.
fn uuid(_: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    plain("uuid_", "val").alone(args)?;
    let name = match &x {
        Obj::Bytes(bytes) => String::from_utf8(bytes.to_vec()).map_err(|e| {
            Error::python(
                "UnicodeDecodeError",
                format!("the bytes are not UTF-8: {e}"),
            )
        })?,
        Obj::Str(s) | Obj::Markup(s) => s.to_string(),
        _ => return Err(expected_text(&x)),
    };
    let mut bytes = Sha1::digest([&NAMESPACE[..], name.as_bytes()].concat()).to_vec();
    bytes.truncate(16);
    bytes[6] = (bytes[6] & 0x0f) | 0x50;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    let digits = hex::encode(&bytes);
    let parts = [
        &digits[..8],
        &digits[8..12],
        &digits[12..16],
        &digits[16..20],
        &digits[20..],
    ];
    Ok(Obj::from(parts.join("-")))
}

fn base64_decode(vm: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    plain("base64_b64decode", "instr").alone(args)?;
    let text = bytes_of(&x)?;
    vm.burn(text.len() / 64)?;
    let decoded = base64::decode(&text).map_err(|e| Error::python("Error", e.to_string()))?;
    Ok(match String::from_utf8(decoded) {
        Ok(text) => Obj::from(text),
        Err(e) => Obj::Bytes(e.into_bytes().into()),
    })
}
