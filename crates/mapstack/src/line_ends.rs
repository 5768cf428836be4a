//! Line ends of what templates print, which are those of the machine that renders.

use mapstack_value::Value;
use mapstack_value::split::{is_line_break, lines};

use crate::run::Run;

impl Run<'_> {
    /// The output of a template in Jinja or Mako as a file (Salt: `wrap_tmpl_func`). On Windows every line ends in
    /// `\r\n`, whatever ended it; only a final line break of another kind than `\n` is dropped.
    pub(crate) fn with_line_ends(&self, text: &str) -> String {
        if !self.is_on_windows() {
            return text.to_owned();
        }
        let mut out = lines(text, false, is_line_break).join("\r\n");
        if text.ends_with('\n') {
            out += "\r\n";
        }
        out
    }

    /// True if the machine that renders runs Windows: the minion's own, and never a master.
    fn is_on_windows(&self) -> bool {
        let kernel = || self.facts.grain("kernel");
        !self.is_elsewhere && kernel().as_ref().and_then(Value::as_str) == Some("Windows")
    }
}
