//! `gpg` and `nacl`: the pillar so far, decrypted (Salt: `salt.pillar.gpg`, and `salt.pillar.nacl`, which Salt 3008 no longer
//! has).

use mapstack::how_to_decrypt;
use mapstack::secrets::Cipher;
use mapstack_diagnostic::{Diagnostic, ErrorKind, Result};
use mapstack_value::Value;

use super::asked::ExternalPillarInput;

/// The pillar that it is given. Without anything that decrypts, ciphertext stays, which is a warning.
pub(super) fn data(asked: &ExternalPillarInput<'_, '_>, cipher: Cipher) -> Result<Value> {
    let pillar = Value::Map(asked.run.current_pillar());
    if cipher.is_in(&pillar) && !asked.run.decrypts(cipher) {
        let message = format!(
            "the external pillar '{}' leaves ciphertext in the pillar",
            asked.one.name
        );
        let warning = Diagnostic::warning(ErrorKind::Unsupported, message);
        asked.run.warn(Diagnostic {
            place: asked.one.place.clone(),
            ..warning.with_help(how_to_decrypt(cipher))
        });
    }
    asked.run.decrypted(cipher, &pillar)
}
