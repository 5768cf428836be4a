//! The input of the rules about pillars.

use crate::Document;
use mapstack::secrets::Secrets;
use mapstack::value::Map;

use crate::pillar::files::ReadablePillarFiles;
use crate::pillar::seen::PillarRecord;

/// The input of rules.
pub(crate) struct PillarSubject<'s> {
    pub seen: &'s PillarRecord,
    pub files: &'s ReadablePillarFiles,
    /// The data of sls: as they render for minions, or as they are if none gets them.
    pub documents: &'s [Document],
    pub secrets: &'s Secrets,
    /// The options of the master.
    pub options: &'s Map,
    /// True if the minions are the ones that the pillar is for.
    pub is_fleet: bool,
    /// True if the grains of the minions are assumed.
    pub assumes_grains: bool,
    /// Roots of the pillar that are not here.
    pub missing_roots: &'s [String],
}
