//! The rules by name.

use std::fmt;
use std::str::FromStr;

use mapstack::Means;

use crate::finding::Level;

/// Rules with their names, levels and what they are about, in the order people read them.
macro_rules! rules {
    ($($rule:ident $name:literal $level:ident $about:literal;)*) => {
        /// A rule, which findings are about. The names are stable: suppressions and programs rely on them.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Rule {
            $(#[doc = $about] $rule,)*
        }

        impl Rule {
            /// All rules.
            pub const ALL: &[Rule] = &[$(Rule::$rule),*];

            /// The name, as in suppressions.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Rule::$rule => $name,)* }
            }

            /// The level by default.
            #[must_use]
            pub fn level(self) -> Level {
                match self { $(Rule::$rule => Level::$level,)* }
            }

            /// The subject, in a sentence.
            #[must_use]
            pub fn about(self) -> &'static str {
                match self { $(Rule::$rule => $about,)* }
            }
        }
    };
}

rules! {
    UnreachableFile "unreachable-file" Warning
        "A parameter file that no source leads to on any known platform or minion.";
    RedundantOverride "redundant-override" Note
        "A key that a layer sets to what is inherited anyway.";
    KindChange "kind-change" Warning
        "A mapping that replaces a list or a scalar, or is replaced by one.";
    ListReplaced "list-replaced" Warning
        "A list that a layer replaces where another layer appends to it.";
    SharedAnchor "shared-anchor" Warning
        "A mapping or list with an alias, which a later layer merges into: Salt changes both spellings.";
    UnknownStrategy "unknown-strategy" Error
        "A merge strategy that does not exist.";
    UnknownLayerKey "unknown-layer-key" Error
        "A top-level key of a parameter file besides values, strategy and merge_lists.";
    MisplacedOption "misplaced-option" Warning
        "A strategy or merge_lists among the values, where it is ordinary data.";
    QuotedSwitch "quoted-switch" Warning
        "A merge_lists in quotes: map.data takes every text but the empty one for true.";
    NoValues "no-values" Warning
        "A parameter file without values, which contributes nothing.";
    DataSource "data-source" Error
        "A parameter file that is not a mapping.";
    YamlBool "yaml-bool" Warning
        "A yes, no, on or off that YAML reads as a boolean where text is meant.";
    YamlOctal "yaml-octal" Warning
        "A number with a leading zero, which is lost.";
    YamlSexagesimal "yaml-sexagesimal" Warning
        "A number with colons, which YAML reads to base 60.";
    YamlFloat "yaml-float" Warning
        "A version such as 1.10 that YAML reads as the number 1.1.";
    YamlDate "yaml-date" Note
        "A plain date, which is text for Salt and a date for other readers of YAML.";
    DuplicateKey "duplicate-key" Error
        "A mapping with two equal keys.";
    YamlTab "yaml-tab" Error
        "A tab where YAML needs spaces.";
    YamlSyntax "yaml-syntax" Error
        "Text that is not YAML.";
    UnquotedExpression "unquoted-expression" Warning
        "An unquoted template expression whose text YAML reads as something else.";
    DeprecatedSourceForm "deprecated-source-form" Warning
        "A source in the form Y:G@os, which map.data keeps for old formulas; it is Y!G@os now.";
    UnknownMapJinjaKey "unknown-map-jinja-key" Warning
        "A key of map_jinja.yaml that nothing reads.";
    BadSource "bad-source" Error
        "A source of map_jinja.yaml that is not a valid definition.";
    UnknownFunction "unknown-function" Warning
        "A template that calls a function that does not exist.";
    AbsentFunction "absent-function" Warning
        "A question whether Salt has a function that nothing answers here: the answer is no.";
    TemplateSyntax "template-syntax" Error
        "A template that Jinja refuses.";
    UndefinedVariable "undefined-variable" Error
        "A variable that is undefined on some or all platforms.";
    RenderFailure "render-failure" Error
        "A parameter file, map.jinja or sls that fails on some or all platforms or minions.";
    MissingImport "missing-import" Error
        "A template that loads a missing template, or imports a missing name.";
    MissingSource "missing-source" Error
        "A file on the file server that a state names and that does not exist.";
    MissingInclude "missing-include" Error
        "An sls that includes a missing sls, or a top file of the pillar that names one.";
    StatesShape "states-shape" Error
        "An sls that is not a mapping of states, or whose include is not a list.";
    MisspeltKey "misspelt-key" Warning
        "A key of an override that nothing uses, and that is similar to one of the defaults.";
    MisspeltName "misspelt-name" Warning
        "A grain, or a system in a look-up by a grain, that does not exist but is similar to one that does.";
    Schema "schema" Error
        "A value that the schema does not allow, or an invalid schema.";
    UnusedSls "unused-sls" Warning
        "An sls of the pillar that no minion gets.";
    UnmatchedTarget "unmatched-target" Warning
        "A target in a top file of the pillar that means no minion.";
    MergeOrder "merge-order" Note
        "A value of the pillar that several sls of one target set, so that their order decides.";
    PillarInPillar "pillar-in-pillar" Warning
        "A look-up of what another sls of the pillar sets: sls do not see the pillar that they make.";
    Ciphertext "ciphertext" Warning
        "Ciphertext of the pillar that no renderer and no option decrypts.";
    PlainSecret "plain-secret" Warning
        "A secret of the pillar in plain text.";
    PillarShape "pillar-shape" Error
        "An sls of the pillar that is not a mapping, or whose include is not a list.";
    TopFile "top-file" Error
        "A top file of the pillar that fails, is not a mapping of targets, or names a saltenv without roots.";
    ExternalPillar "external-pillar" Error
        "An external pillar that fails.";
    Suppression "suppression" Warning
        "A comment that silences a rule that does not exist.";
}

impl Rule {
    /// The rule that a person names.
    ///
    /// # Errors
    /// What to say without one.
    ///
    /// ```
    /// use mapstack_lint::Rule;
    /// assert_eq!(Rule::given("unreachable-file"), Ok(Rule::UnreachableFile));
    /// assert!(Rule::given("unreachable-fil").unwrap_err().contains("unreachable-file"));
    /// ```
    pub fn given(name: &str) -> Result<Self, String> {
        name.parse()
            .map_err(|error: UnknownRule| format!("{error}; {} lists them", Means::Rules))
    }

    /// True if only pillars are checked for it.
    #[must_use]
    pub fn is_about_pillars(self) -> bool {
        matches!(
            self,
            Rule::UnusedSls
                | Rule::UnmatchedTarget
                | Rule::MergeOrder
                | Rule::PillarInPillar
                | Rule::Ciphertext
                | Rule::PlainSecret
                | Rule::PillarShape
                | Rule::TopFile
                | Rule::ExternalPillar
        )
    }

    /// True if what it finds can make a run fail: the run's own error says no more then.
    pub(crate) fn can_fail_a_run(self) -> bool {
        matches!(
            self,
            Rule::TemplateSyntax
                | Rule::MissingImport
                | Rule::UnknownFunction
                | Rule::UnknownLayerKey
                | Rule::UnknownStrategy
                | Rule::DataSource
                | Rule::DuplicateKey
                | Rule::YamlTab
                | Rule::YamlSyntax
                | Rule::UnquotedExpression
        )
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that no rule has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownRule {
    /// The name.
    pub name: String,
    /// The rule that was probably meant.
    pub near: Option<Rule>,
}

impl fmt::Display for UnknownRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown rule '{}'", self.name)?;
        self.near
            .map_or(Ok(()), |near| write!(f, "; did you mean {near}?"))
    }
}

impl std::error::Error for UnknownRule {}

impl FromStr for Rule {
    type Err = UnknownRule;

    fn from_str(name: &str) -> Result<Self, UnknownRule> {
        let all = Rule::ALL.iter().copied();
        all.clone().find(|rule| rule.name() == name).ok_or_else(|| {
            let near = mapstack::nearest(name, Rule::ALL.iter().map(|rule| rule.name()));
            let near = near.and_then(|near| all.clone().find(|rule| rule.name() == near));
            UnknownRule {
                name: name.chars().take(80).collect(),
                near,
            }
        })
    }
}
