//! `hashutil.*`: hashes, signatures and Base64 of text. Files of the machine are not read.

use mapstack_pyobject::{CallArgs, Error, Obj, Result, required};
use mapstack_salt_jinja::{
    Vm,
    python::{filter, hmac, to_str},
};

use super::{ModuleTable, refused, text};

pub(super) const TABLE: ModuleTable = &[
    ("hashutil.base64_b64decode", |_, vm, args| {
        apply(vm, args, "hashutil.base64_b64decode", "base64_decode")
    }),
    ("hashutil.base64_b64encode", |_, vm, args| {
        apply(vm, args, "hashutil.base64_b64encode", "base64_encode")
    }),
    ("hashutil.base64_decodestring", |_, vm, args| {
        apply(vm, args, "hashutil.base64_decodestring", "base64_decode")
    }),
    ("hashutil.base64_encodestring", |_, vm, args| {
        let encoded = apply(vm, args, "hashutil.base64_encodestring", "base64_encode")?;
        // Lines of 76 characters, each ended.
        let encoded = to_str(&encoded)?;
        let mut lines = String::with_capacity(encoded.len() + encoded.len() / 76 + 1);
        let mut rest = &*encoded;
        while !rest.is_empty() {
            let (line, after) = rest.split_at(rest.len().min(76));
            lines.push_str(line);
            lines.push('\n');
            rest = after;
        }
        Ok(Obj::from(lines))
    }),
    ("hashutil.digest", |_, vm, args| {
        let [input, checksum] = args.bind("hashutil.digest", ["instr", "checksum"])?;
        let input = required(input, "hashutil.digest", "instr")?;
        let checksum =
            checksum.map_or_else(|| Ok("md5".to_string()), |checksum| to_str(&checksum))?;
        if !["md5", "sha256", "sha512"].contains(&&*checksum) {
            return Err(refused(format!("Hash func '{checksum}' is not supported."))
                .with_help("md5, sha256 and sha512 are"));
        }
        filter(vm, &checksum, input, CallArgs::default())
    }),
    ("hashutil.github_signature", |_, _, args| {
        let names = ["string", "shared_secret", "challenge_hmac"];
        let [message, secret, challenge] = args.bind("hashutil.github_signature", names)?;
        let message = bytes(&required(message, "hashutil.github_signature", names[0])?)?;
        let secret = bytes(&required(secret, "hashutil.github_signature", names[1])?)?;
        let challenge = required(challenge, "hashutil.github_signature", names[2])?;
        let challenge = text(&challenge, "hashutil.github_signature", names[2])?;
        let parts: Vec<&str> = challenge.split('=').collect();
        let [kind, digest] = parts[..] else {
            return Err(Error::value_error(
                "the signature must be the name of a hash, '=' and the digest",
            ));
        };
        match hmac(kind, &secret, &message) {
            Some(signature) => Ok(Obj::Bool(hex::encode(&signature) == digest)),
            None => Err(Error::python(
                "AttributeError",
                format!("module 'hashlib' has no attribute '{kind}'"),
            )),
        }
    }),
    ("hashutil.hmac_compute", |_, vm, args| {
        let [message, secret] = args.bind("hashutil.hmac_compute", ["string", "shared_secret"])?;
        let message = required(message, "hashutil.hmac_compute", "string")?;
        let secret = required(secret, "hashutil.hmac_compute", "shared_secret")?;
        filter(vm, "hmac_compute", message, CallArgs::positional([secret]))
    }),
    ("hashutil.hmac_signature", |_, vm, args| {
        let names = ["string", "shared_secret", "challenge_hmac"];
        let [message, secret, challenge] = args.bind("hashutil.hmac_signature", names)?;
        let message = required(message, "hashutil.hmac_signature", names[0])?;
        let secret = required(secret, "hashutil.hmac_signature", names[1])?;
        let challenge = required(challenge, "hashutil.hmac_signature", names[2])?;
        filter(
            vm,
            "hmac",
            message,
            CallArgs::positional([secret, challenge]),
        )
    }),
    ("hashutil.md5_digest", |_, vm, args| {
        apply(vm, args, "hashutil.md5_digest", "md5")
    }),
    ("hashutil.sha256_digest", |_, vm, args| {
        apply(vm, args, "hashutil.sha256_digest", "sha256")
    }),
    ("hashutil.sha512_digest", |_, vm, args| {
        apply(vm, args, "hashutil.sha512_digest", "sha512")
    }),
];

/// A function of one text that is a filter, too.
fn apply(vm: &Vm<'_>, args: CallArgs, function: &str, name: &str) -> Result<Obj> {
    let [input] = args.bind(function, ["instr"])?;
    filter(
        vm,
        name,
        required(input, function, "instr")?,
        CallArgs::default(),
    )
}

fn bytes(object: &Obj) -> Result<Vec<u8>> {
    match object {
        Obj::Str(s) | Obj::Markup(s) => Ok(s.as_bytes().to_vec()),
        Obj::Bytes(bytes) => Ok(bytes.to_vec()),
        other => Err(Error::type_error(format!(
            "a text or bytes are signed, not {}",
            other.type_name()
        ))),
    }
}
