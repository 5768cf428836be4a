//! Keeps secrets out of messages: the policy of [`mapstack_diagnostic::redact`], applied to messages and runs.

pub use mapstack_diagnostic::redact::{
    Cipher, Policy, Redact, Redacted, Secrets, is_ciphertext, is_secret_name,
};
use mapstack_minion::Minion;
use mapstack_salt_jinja::Taint;
use mapstack_value::{Str, Value};

use crate::run::Run;

impl<'e> Run<'e> {
    /// Track the texts that templates make from secrets, so that messages can be masked. Secrets are all values of
    /// the pillar, unless the engine's [policy](crate::Engine::with_policy) shows it, and values in grains, options and
    /// data that are secret by that policy, as under [secret names](is_secret_name).
    ///
    /// ```
    /// use mapstack::{DataOptions, Engine, loader::MemoryFiles, minion::Minion};
    /// use mapstack::secrets::{Redact, Secrets};
    /// let files = MemoryFiles::new().file("base", "f/parameters/defaults.yaml", "values: {{ {}[pillar.pw|upper] }}");
    /// let minion = Minion::parse(b"id: web1\npillar: {pw: hunter2}\n", "web1.yaml").unwrap().complete();
    /// let engine = Engine::new(files);
    /// let run = engine.run(&minion).following_secrets();
    /// let error = run.data("f", &DataOptions::default()).unwrap_err();
    /// assert!(error.to_string().contains("HUNTER2"));
    /// let secrets = Secrets::new(b"salt").derived(run.secret_texts());
    /// assert!(!error.redacted(&secrets).to_string().contains("HUNTER2"));
    /// ```
    #[must_use]
    pub fn following_secrets(self) -> Self {
        self.follow_secrets();
        self
    }

    /// Start tracking in an existing run. Texts that templates made before this call are not tracked.
    pub fn follow_secrets(&self) {
        self.observed.taint.get_or_init(|| {
            let taint = Taint::default();
            let minion: &Minion = &self.facts.all();
            let policy = &self.engine.policy;
            if policy.masks_pillar() {
                taint.add(&Value::Map(minion.pillar.clone()));
                taint.add_object(&self.live.pillar);
                taint.add_object(&self.live_pillar());
            }
            let apart = self.live.apart.iter().flat_map(|apart| &apart.given);
            let own = [&minion.pillar, &minion.grains, &minion.opts];
            for facts in own.into_iter().chain(apart) {
                policy.visit_map(facts, &mut |value| taint.add(value));
            }
            taint
        });
    }

    /// The taint for templates; `None` if the run has no secrets, or does not track them.
    pub(crate) fn taint(&self) -> Option<&Taint> {
        self.observed.taint.get().filter(|taint| !taint.is_empty())
    }

    /// The secret texts, including those that templates have made so far. Empty unless the run
    /// [tracks](Self::following_secrets) them.
    #[must_use]
    pub fn secret_texts(&self) -> Vec<Str> {
        self.observed
            .taint
            .get()
            .map(Taint::texts)
            .unwrap_or_default()
    }

    /// Note secrets in the error of a language whose expressions are not tracked: quoted texts and numbers that the
    /// template itself does not contain.
    pub(crate) fn note_quoted_secrets(&self, message: &str, template: &str) {
        let Some(taint) = self.taint().filter(|_| self.may_read_secrets(template)) else {
            return;
        };
        let quoted = message.split(['\'', '"']).skip(1).step_by(2);
        let numbers = message
            .split(|c: char| !c.is_ascii_digit())
            .filter(|digits| !digits.is_empty());
        for computed in quoted.chain(numbers) {
            if !template.contains(computed) {
                taint.add(&Value::from(computed));
            }
        }
    }

    /// True if grains have secret names.
    pub(crate) fn has_secret_grains(&self) -> bool {
        let (policy, mut found) = (&self.engine.policy, false);
        policy.visit_map(&self.facts.unchanged().grains, &mut |_| found = true);
        found
    }

    /// Note the values of a layer that are secret.
    pub(crate) fn note_secrets(&self, values: Option<&Value>) {
        if let (Some(taint), Some(values)) = (self.observed.taint.get(), values) {
            let policy = &self.engine.policy;
            policy.visit(values, &mut |value| taint.add(value));
        }
    }
}
