//! Links: the page's URL of exactly one view, pinned to an edition. One spelling, for the page, citations and rooms alike.
//!
//! `BASE/#v=1&b=<build-id>/<edition>&w=listing&f=…&r=12-18&o=14&e=3`. The keys, in the order in which they are written:
//!
//! | key | meaning |
//! | --- | --- |
//! | `v` | version of this form: 1 |
//! | `b` | the edition, `<build-id>/<edition>`; none in the catalogue |
//! | `w` | the view: `catalogue`, `search`, `diff`, `strings`, `atlas`, `listing`, `graph`, `source` |
//! | `q`, `m`, `k` | a search's text, match and kind |
//! | `a` | the other side of a diff: `<build-id>/<edition>`, and `:<function key>` where functions are compared |
//! | `f` | a function key |
//! | `i` | an imported name whose callers are shown |
//! | `r` | rows, `first-last`, from 0 |
//! | `o` | the row in focus |
//! | `e` | the number of an edge among the function's |
//! | `p`, `l` | a source's path and its lines, `first-last`, from 1 |
//!
//! Values are percent-encoded but for unreserved characters (RFC 3986, section 2.3) and `/:@`.
