//! The rules by name.

use std::fmt;
use std::str::FromStr;

use mapstack::Means;

use crate::finding::Level;

/// Rules with their names and levels, what they are about, why it matters, an example and what to do, in the order
/// people read them.
macro_rules! rules {
    ($($rule:ident $name:literal $level:ident $about:literal $why:literal $example:literal $cure:literal;)*) => {
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

            /// The reason why it matters.
            #[must_use]
            pub fn why(self) -> &'static str {
                match self { $(Rule::$rule => $why,)* }
            }

            /// A text that has the mistake.
            #[must_use]
            pub fn example(self) -> &'static str {
                match self { $(Rule::$rule => $example,)* }
            }

            /// The remedy.
            #[must_use]
            pub fn cure(self) -> &'static str {
                match self { $(Rule::$rule => $cure,)* }
            }
        }
    };
}

rules! {
    UnreachableFile "unreachable-file" Warning
        "A parameter file that no source leads to on any known platform or minion."
        "What it sets never reaches a minion, often because of a misspelt name of a system or a grain."
        "# web/parameters/os_family/Redhat.yaml\n# the grain is RedHat, so this file is never read\nvalues:\n  pkg: httpd"
        "Give the file the name that a source leads to, name its folder in the sources, or delete it.";
    RedundantOverride "redundant-override" Note
        "A key that a layer sets to the value that it inherits anyway."
        "It hides the values of the layers below: a change of the default does not reach these minions."
        "# defaults.yaml\nvalues:\n  port: 22\n# os/Debian.yaml\nvalues:\n  port: 22"
        "Leave the key out, or give it another value.";
    KindChange "kind-change" Warning
        "A mapping that replaces a list or a scalar, or is replaced by one."
        "Templates that expect one kind fail on the other, and what the mapping had is lost."
        "# defaults.yaml\nvalues:\n  service: {name: sshd}\n# os/Arch.yaml\nvalues:\n  service: sshd"
        "Use the same kind of value in every layer.";
    ListReplaced "list-replaced" Warning
        "A list that a layer replaces where another layer appends to it."
        "A list is replaced unless a layer has `merge_lists: true`. If one appends and another replaces, the minion gets less than either of them gives."
        "# os_family/Debian.yaml\nmerge_lists: true\nvalues:\n  pkgs: [b]\n# os/Ubuntu.yaml replaces [a, b]\nvalues:\n  pkgs: [c]"
        "Set `merge_lists: true` in the later layer as well, or repeat the items that are meant to stay.";
    SharedAnchor "shared-anchor" Warning
        "A mapping or list with an alias, which a later layer merges into: Salt changes both spellings."
        "An alias is the same object as its anchor. A merge changes it in place, so both keys change."
        "values:\n  a: &shared {x: 1}\n  b: *shared\n# a later layer that sets a:x sets b:x, too"
        "Write the mapping or the list twice.";
    UnknownStrategy "unknown-strategy" Error
        "A merge strategy that does not exist."
        "The merge fails, and with it every run that reads the file."
        "strategy: recurs\nvalues:\n  a: 1"
        "Use one of smart, aggregate, list, overwrite and recurse; in stacked files, one of merge-first, merge-last, remove and overwrite.";
    UnknownLayerKey "unknown-layer-key" Error
        "A top-level key of a parameter file besides values, strategy and merge_lists."
        "Only values, strategy and merge_lists are read; anything else at the top is lost."
        "pkg: httpd\nvalues:\n  port: 80"
        "Move the key below `values`.";
    MisplacedOption "misplaced-option" Warning
        "A strategy or merge_lists among the values, where it is ordinary data."
        "Below `values` it is a key like any other, so the layer merges as if it were not there."
        "values:\n  strategy: overwrite\n  a: 1"
        "Move it to the top of the file, beside `values`; in a stacked file, to where `__` is read.";
    QuotedSwitch "quoted-switch" Warning
        "A merge_lists in quotes: map.data takes every text but the empty one for true."
        "Text is true unless it is empty, so `'false'` switches the merge of lists on."
        "merge_lists: 'false'\nvalues:\n  a: [1]"
        "Remove the quotes. The linter can do it.";
    NoValues "no-values" Warning
        "A parameter file without values, which contributes nothing."
        "The file is read and adds nothing. Its keys may belong below `values`."
        "strategy: recurse"
        "Add `values`, or delete the file.";
    DataSource "data-source" Error
        "A parameter file that is not a mapping."
        "A layer has to be a mapping. `map.data` fails for every minion that reads the file."
        "- a\n- b"
        "Write a mapping with `values`.";
    YamlBool "yaml-bool" Warning
        "A yes, no, on or off that YAML reads as a boolean although it should be text."
        "Salt reads YAML 1.1, where yes, no, on and off are booleans: the code of Norway becomes false."
        "values:\n  country: NO"
        "Quote the text: `country: 'NO'`.";
    YamlOctal "yaml-octal" Warning
        "A number with a leading zero, which is lost."
        "Salt drops zeros in front of a number, so 0644 is the number 644: a mode without its first digit."
        "values:\n  mode: 0644"
        "Quote it: `mode: '0644'`.";
    YamlSexagesimal "yaml-sexagesimal" Warning
        "A number with colons, which YAML reads to base 60."
        "YAML 1.1 reads digits with colons to base 60, so 12:30:00 is the number 45000."
        "values:\n  at: 12:30:00"
        "Quote it: `at: '12:30:00'`.";
    YamlFloat "yaml-float" Warning
        "A version such as 1.10 that YAML reads as the number 1.1."
        "A version with one dot is a number, which loses its last zero: 1.10 is 1.1."
        "values:\n  version: 1.10"
        "Quote it: `version: '1.10'`.";
    YamlDate "yaml-date" Note
        "A plain date, which is text for Salt and a date for other readers of YAML."
        "Salt keeps a plain date as text; other readers of the same file make a date of it."
        "values:\n  since: 2024-01-31"
        "Quote it, so that every reader has text.";
    DuplicateKey "duplicate-key" Error
        "A mapping with two equal keys."
        "Salt refuses such a file. Readers that take it keep only the last."
        "values:\n  port: 22\n  port: 2222"
        "Delete one of the two keys, or join them.";
    YamlTab "yaml-tab" Error
        "A tab where YAML needs spaces."
        "YAML does not take tabs for indentation, so the file does not parse."
        "values:\n\tport: 22"
        "Indent with blanks. The linter can do it where that is safe.";
    YamlSyntax "yaml-syntax" Error
        "Text that is not YAML."
        "The file cannot be read, so every minion that needs it fails."
        "values:\n  port 22\n  host: web"
        "Correct the text at the place that is shown.";
    ConflictMarker "conflict-marker" Error
        "A merge conflict that is not resolved."
        "The file has both sides of the merge, between lines that are neither YAML nor Jinja."
        "values:\n<<<<<<< HEAD\n  port: 22\n=======\n  port: 2222\n>>>>>>> other"
        "Keep one side, and remove the lines with `<<<<<<<`, `=======` and `>>>>>>>`.";
    InvisibleCharacter "invisible-character" Warning
        "A character that cannot be seen, or that looks like a blank, where it is a mistake."
        "A key or a name with such a character only looks like another one: nothing finds it."
        "values:\n  port\u{200b}: 22   # a zero-width space after port"
        "Remove it, or write a blank; in double quotes, write it as an escape.";
    MissingBlank "missing-blank" Warning
        "A key:value without a blank behind the colon, which is text where a mapping was meant."
        "YAML reads a key only where a blank follows the colon: the key is not set."
        "values:\n  web:\n    port:80"
        "Write a blank behind the colon, or put the text in quotes.";
    UnquotedExpression "unquoted-expression" Warning
        "An unquoted template expression whose text YAML reads as something else."
        "What an expression prints is read as YAML: a version becomes a number, a `#` begins a comment, nothing becomes null."
        "release: {{ grains.osrelease }}   # 22.04 is a number, 22.10 becomes 22.1"
        "Quote it: `'{{ … }}'`, or use the filters json or yaml_encode.";
    DeprecatedSourceForm "deprecated-source-form" Warning
        "A source in the form Y:G@os, which map.data keeps for old formulas; it is Y!G@os now."
        "`map.data` reads it as `Y!G@os`, for old formulas."
        "# map_jinja.yaml\nvalues:\n  sources: ['Y:G@os']"
        "Write `Y!G@os`. The linter can do it, unless the formula's own library reads the file.";
    UnknownMapJinjaKey "unknown-map-jinja-key" Warning
        "A key of map_jinja.yaml that nothing reads."
        "Nothing reads the key, so it has no effect; it may be misspelt."
        "# map_jinja.yaml\nvalues:\n  source: ['Y!G@os']"
        "Write `sources`, or delete the key.";
    BadSource "bad-source" Error
        "A source of map_jinja.yaml that is not a valid definition."
        "`map.data` fails for all minions: no layer is read."
        "# map_jinja.yaml\nvalues:\n  sources: ['Y!Q@os']"
        "Correct the definition; docs/definitions.md has every form.";
    UnknownFunction "unknown-function" Warning
        "A template that calls a function that does not exist."
        "The template fails where the call is reached."
        "{{ salt['grains.gett']('os') }}"
        "Correct the name, add the module below `_modules`, or check `'a.b' in salt` first.";
    AbsentFunction "absent-function" Warning
        "A question whether Salt has a function that nothing answers here: the answer is no."
        "Here the answer is no; on a minion it may be yes, and the template goes another way."
        "{% if 'network.ip_addrs' in salt %}…{% endif %}"
        "Give an answer in a file of stubs, so that the function counts as there.";
    TemplateSyntax "template-syntax" Error
        "A template that Jinja refuses."
        "Nothing of the template can be rendered."
        "{% if grains.os == 'Debian' %}\na: 1"
        "Correct the template at the place that is shown.";
    UndefinedVariable "undefined-variable" Error
        "A variable that is undefined on some or all platforms."
        "Salt raises an error where an attribute of an undefined value is read, and prints nothing for the value itself."
        "{{ web.pkg.name }}   # no layer sets pkg"
        "Set the key in a layer, use a default, or say that the pillar sets it: `# mapstack-lint: from-pillar=pkg`.";
    RenderFailure "render-failure" Error
        "A parameter file, map.jinja or sls that fails on some or all platforms or minions."
        "The minions that are named cannot apply what the file has."
        "{{ 1 // grains.num_disks }}   # fails where it is 0"
        "Correct the cause that the message names, or leave these platforms out of the FORMULA file.";
    MissingImport "missing-import" Error
        "A template that loads a missing template, or imports a missing name."
        "The template fails where the import or the name is reached."
        "{% from 'web/map.jinja' import mapdata, libtofs %}"
        "Correct the name of the template or of its variable or macro.";
    MissingSource "missing-source" Error
        "A file on the file server that a state names and that does not exist."
        "The state fails on the minion, as the file server lacks the file."
        "/etc/motd:\n  file.managed:\n    - source: salt://web/files/mot"
        "Correct the path, or add the file.";
    MissingInclude "missing-include" Error
        "An sls that includes a missing sls, or a top file of the pillar that names one."
        "No minion that gets the sls can render its states; a pillar has an error in their place."
        "include:\n  - web.instal"
        "Correct the name, or add the sls.";
    MissingRequisite "missing-requisite" Error
        "A requisite, such as `require`, that names a state that does not exist."
        "Salt refuses all states of a minion for it, or of the sls that is applied by itself."
        "/etc/motd:\n  file.managed:\n    - require:\n      - pkg: motd   # no state has this name"
        "Correct the state module or the name, or include the sls that has the state.";
    RequisiteCycle "requisite-cycle" Error
        "States that require each other, so that none can be the first."
        "Salt refuses all states of a minion for it."
        "a:\n  test.nop:\n    - require: [{test: b}]\nb:\n  test.nop:\n    - require: [{test: a}]"
        "Remove one of the requisites that the message names.";
    MissingExtend "missing-extend" Error
        "An `extend`, or a requisite such as `require_in`, of a state that does not exist."
        "Salt refuses all states of a minion for it, or of the sls that is applied by itself."
        "extend:\n  nginx:   # no sls that is included has this ID\n    service:\n      - watch: [{file: /etc/nginx.conf}]"
        "Correct the ID, or include the sls that has the state.";
    ConflictingIds "conflicting-ids" Error
        "An ID that two sls of a minion have."
        "Salt refuses all states of the minion."
        "# web.sls and db.sls, which one minion gets\ncurl: pkg.installed"
        "Give one of them another ID and name the state with `name`, or move it to an sls that both include.";
    UnknownState "unknown-state" Error
        "A state module, or a function of one, that does not exist."
        "The state fails on every run, as the minion has no function for it."
        "/etc/motd:\n  file.manged:\n    - source: salt://motd"
        "Correct the name, or add the module below `_states`.";
    MovedState "moved-state" Warning
        "A state module or function that Salt had before 3008, or that an extension has."
        "The state fails on a minion that has Salt 3008 and not the extension."
        "shop:\n  mysql_database.present"
        "Install the extension that is named on the minions, or use another state.";
    UnknownArgument "unknown-argument" Error
        "An argument that the function of a state does not take."
        "Salt stops with an exception at the state, and later states are not applied."
        "/etc/motd:\n  file.symlink:\n    - target: /run/motd\n    - force_it: true"
        "Correct the name of the argument, or remove it.";
    MissingArgument "missing-argument" Error
        "A state without an argument that its function needs."
        "The state fails on every run."
        "/etc/motd:\n  file.symlink:\n    - force: true   # target is missing"
        "Add the argument.";
    StatesShape "states-shape" Error
        "An sls or a state that is not of the form that Salt takes."
        "Salt refuses the sls."
        "include: web.install\nnginx: installed"
        "Write a mapping of ids to mappings of states, a list of arguments below each function, and `include` as a list.";
    MisspeltKey "misspelt-key" Warning
        "A key of an override that nothing uses, and that is similar to one of the defaults."
        "Nothing reads the key, and the setting that it should change keeps its default."
        "# defaults.yaml\nvalues:\n  default_shell: /bin/sh\n# os/Arch.yaml\nvalues:\n  defualt_shell: /bin/bash"
        "Use the spelling of the defaults. The linter can do it if there is only one.";
    MisspeltName "misspelt-name" Warning
        "A grain, or a system in a look-up by a grain, that does not exist but is similar to one that does."
        "The look-up finds nothing on any system, so every system gets its default."
        "{% if grains.os_family == 'Debain' %}…{% endif %}"
        "Correct the name, or look it up under the grain that has it.";
    Schema "schema" Error
        "A value that the schema does not allow, or an invalid schema."
        "The value does not match the schema of the formula or the pillar."
        "# schema.yaml: port is an integer\nvalues:\n  port: '22'"
        "Correct the value, or the schema.";
    UnusedSls "unused-sls" Warning
        "An sls of the pillar that no minion gets, or of the states of an estate that nothing names."
        "It has no effect, and its secrets are kept for nothing. An sls of states may be applied by its name, so this is a note."
        "# pillar/top.sls does not name this\n# pillar/old.sls\na: 1"
        "Name it in the top file or in an include, or delete it.";
    UnmatchedTarget "unmatched-target" Warning
        "A target in a top file of the pillar that matches no minion."
        "No minion gets the sls below it, often because of a misspelt id."
        "base:\n  'wbe1':\n    - web"
        "Correct the target, or delete it.";
    MergeOrder "merge-order" Note
        "A value of the pillar that several sls of one target set, so that their order decides."
        "Which value wins depends on the order of names in a list, which is easily changed."
        "base:\n  '*': [one, two]   # both set port"
        "Set the key in one sls, or move the value that should win below a narrower target.";
    PillarInPillar "pillar-in-pillar" Warning
        "A look-up of what another sls of the pillar sets: sls do not see the pillar that they make."
        "An sls of the pillar sees no pillar that is being made: the look-up gives its default, null or an error."
        "a: {{ salt['pillar.get']('b') }}   # b is set by another sls"
        "Put the value into a file that both import with import_yaml.";
    Ciphertext "ciphertext" Warning
        "Ciphertext of the pillar that no renderer and no option decrypts."
        "Minions get the ciphertext itself where they need the text in it."
        "#!yaml\npassword: |\n  -----BEGIN PGP MESSAGE-----\n  …"
        "Begin the sls with `#!jinja|yaml|gpg`, or name the key in `decrypt_pillar`.";
    PlainSecret "plain-secret" Warning
        "A secret of the pillar in plain text."
        "Whoever can read the repository can read the secret."
        "db:\n  password: hunter2"
        "Encrypt it with GPG or NaCl, or look it up with sdb. A name that only looks like one of a secret can be exempted.";
    PillarShape "pillar-shape" Error
        "An sls of the pillar that is not a mapping, or whose include is not a list."
        "The master puts an error in place of what the sls has."
        "- a\n- b"
        "Write a mapping, and `include` as a list.";
    TopFile "top-file" Error
        "A top file that fails, is not a mapping of targets, or names a saltenv without roots."
        "Minions get no pillar, or only a part of it."
        "base:\n  '*': web"
        "Write a mapping of saltenvs to targets to lists of sls.";
    ExternalPillar "external-pillar" Error
        "An external pillar that fails."
        "Minions lack its data, and states do not run with a pillar that has errors."
        "ext_pillar:\n  - stack: /srv/stack/stack.cfg   # a file that it lists does not parse"
        "Correct the file or the option that the message names.";
    Suppression "suppression" Warning
        "A comment that silences a rule that does not exist."
        "The comment silences nothing, as no rule has that name."
        "mode: 0644  # mapstack-lint: ignore=yaml-octals"
        "Use the name of a rule.";
}

impl Rule {
    /// The rule that a person names.
    ///
    /// # Errors
    /// The message without one.
    ///
    /// ```
    /// use mapstack_lint::Rule;
    /// assert_eq!(Rule::from_name("unreachable-file"), Ok(Rule::UnreachableFile));
    /// assert!(Rule::from_name("unreachable-fil").unwrap_err().contains("unreachable-file"));
    /// ```
    pub fn from_name(name: &str) -> Result<Self, String> {
        name.parse()
            .map_err(|error: UnknownRule| format!("{error}; {} lists them", Means::Rules))
    }

    /// The rule's page, in Markdown.
    ///
    /// ```
    /// let page = mapstack_lint::Rule::YamlOctal.page();
    /// assert!(page.starts_with("## yaml-octal\n\nA number with a leading zero"));
    /// ```
    #[must_use]
    pub fn page(self) -> String {
        let (about, why, cure) = (self.about(), self.why(), self.cure());
        let level = self.level().name();
        let example: String = self
            .example()
            .lines()
            .map(|line| format!("    {line}\n"))
            .collect();
        format!(
            "## {self}\n\n{about}\n\nLevel: {level}\n\n{why}\n\n{example}\n{cure}\n\nTo switch it off, write \
             `# mapstack-lint: ignore={self}` behind the line or above it, `# mapstack-lint: ignore-file={self}` in the \
             file, or `{self}: off` below `levels` in `.mapstack.yaml`.\n"
        )
    }

    /// True if only pillars and whole estates are checked for it.
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
                | Rule::ConflictMarker
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
