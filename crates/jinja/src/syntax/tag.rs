//! Tags in addition to those of the language.

/// A tag that is not part of the language itself: one of an extension, or of a dialect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Tag {
    /// Its name, the first word in `{% … %}`.
    pub name: &'static str,
    /// The form: the way it is written, and the node it becomes.
    pub form: TagForm,
}

/// The forms that a tag can have.
///
/// ```
/// use mapstack_jinja::syntax::ast::StmtKind;
/// use mapstack_jinja::syntax::{TagForm, Syntax, Tag, parse};
///
/// let tags = &[Tag { name: "load_csv", form: TagForm::Load { end: &["endload"] } }];
/// let template = parse("{% load_csv as rows %}a,b{% endload %}", None, &Syntax::default(), tags).unwrap();
/// assert!(matches!(template.body[0].kind, StmtKind::Load { tag: "load_csv", .. }));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TagForm {
    /// `{% do expr %}`: [`StmtKind::Do`](crate::syntax::ast::StmtKind::Do).
    Do,
    /// `{% break %}`: [`StmtKind::Break`](crate::syntax::ast::StmtKind::Break).
    Break,
    /// `{% continue %}`: [`StmtKind::Continue`](crate::syntax::ast::StmtKind::Continue).
    Continue,
    /// `{% name as target %}…{% end %}`: [`StmtKind::Load`](crate::syntax::ast::StmtKind::Load).
    Load {
        /// The tag that ends the body.
        end: &'static [&'static str; 1],
    },
    /// `{% name expr as target with context %}`: [`StmtKind::ImportData`](crate::syntax::ast::StmtKind::ImportData).
    ImportData,
    /// `{% name as expr %}…{% end %}`: [`StmtKind::Labelled`](crate::syntax::ast::StmtKind::Labelled).
    Labelled {
        /// The tag that ends the body.
        end: &'static [&'static str; 1],
    },
}

/// `do`, of Jinja2's extension `jinja2.ext.do`.
pub const DO: Tag = Tag {
    name: "do",
    form: TagForm::Do,
};

/// `break` and `continue`, of Jinja2's extension `jinja2.ext.loopcontrols`.
pub const LOOP_CONTROLS: [Tag; 2] = [
    Tag {
        name: "break",
        form: TagForm::Break,
    },
    Tag {
        name: "continue",
        form: TagForm::Continue,
    },
];
