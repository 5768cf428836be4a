//! External pillars that follow from files, options and what the minion asks with.

mod arguments;
mod asked;
mod decrypted;
mod extra_data;
mod file_tree;
mod nodegroups;
mod reclass;
mod saltclass;

use mapstack::secrets::Cipher;
use mapstack_diagnostic::Result;

use crate::recipe::OwnPillarResult;

pub(crate) use self::asked::ExternalPillarInput;
pub(crate) use self::extra_data::{passed, unasked};

/// An external pillar of this module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BuiltIn {
    /// Decrypts the pillar so far.
    Decrypted(Cipher),
    ExtraData,
    FileTree,
    Nodegroups,
    Reclass,
    Saltclass,
}

impl BuiltIn {
    /// By its name in `ext_pillar`.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "extra_minion_data_in_pillar" => Some(BuiltIn::ExtraData),
            "file_tree" => Some(BuiltIn::FileTree),
            "gpg" => Some(BuiltIn::Decrypted(Cipher::Gpg)),
            "nacl" => Some(BuiltIn::Decrypted(Cipher::Nacl)),
            "nodegroups" => Some(BuiltIn::Nodegroups),
            "reclass" => Some(BuiltIn::Reclass),
            "saltclass" => Some(BuiltIn::Saltclass),
            _ => None,
        }
    }

    /// The data for the minion.
    ///
    /// # Errors
    /// Arguments that it does not have, and files that cannot be read.
    pub fn data(self, asked: &ExternalPillarInput<'_, '_>) -> Result<OwnPillarResult> {
        match self {
            BuiltIn::Decrypted(cipher) => decrypted::data(asked, cipher).map(OwnPillarResult::from),
            BuiltIn::ExtraData => extra_data::data(asked).map(OwnPillarResult::from),
            BuiltIn::FileTree => file_tree::data(asked).map(OwnPillarResult::from),
            BuiltIn::Nodegroups => nodegroups::data(asked).map(OwnPillarResult::from),
            BuiltIn::Reclass => reclass::data(asked),
            BuiltIn::Saltclass => saltclass::data(asked),
        }
    }
}
