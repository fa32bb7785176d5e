//! Which files of the trees stand for a path that debug data cites: the rule of matching, and nothing else.
//!
//! Debug data has the path on the machine that compiled; a tree has paths below its root, and nothing says what folder of that
//! machine its root was. Every file of a tree *shares* with the cited path those last components that are the same. It is
//! *anchored* where these are its whole path in the tree: then the tree's root is one folder of that machine, and the file
//! stands where it stood. Else it is *inside*: only some folder of the tree would be one of that machine.
//!
//! 1. A source map that applies says where the file is, and it is nowhere else.
//! 2. Otherwise these fit:
//!    - of a *reserved* path, which belongs to a compiler, a library or a system ([`is_reserved`]): what is anchored and shares
//!      all of it. A package's own `include/stdio.h` is no `/usr/include/stdio.h`.
//!    - of a path below the compilation folder: what shares all that is below it, and is anchored or shares two components. A
//!      relative path is below it as a whole.
//!    - of any other path: what is anchored and shares two components, or all of it. What stands before the first folder of
//!      a path such as `../a/b.c` is not known, so that it is never shared whole.
//! 3. Of those that fit, the anchored ones that share most count, and those inside that share more than these. Where these
//!    are files of other bytes, it is not known which is the one.
//!
//! What is found inside has less to say for it: [`super::judge`] asks that it declare one of the functions that it should.

use super::{
    Trees,
    find::{self, At},
    map,
    path::components,
};

/// Where compilers, libraries and systems keep what is theirs, on any machine.
const RESERVED: [&[&[u8]]; 11] = [
    &[b"rustc"],
    &[b"usr", b"include"],
    &[b"usr", b"lib"],
    &[b"usr", b"lib32"],
    &[b"usr", b"lib64"],
    &[b"usr", b"libexec"],
    &[b"usr", b"local", b"go"],
    &[b"usr", b"local", b"include"],
    &[b"usr", b"local", b"lib"],
    &[b"usr", b"local", b"share"],
    &[b"usr", b"share"],
];
/// Folders of any home where such things are kept: every crate has a `src/lib.rs`.
const RESERVED_ANYWHERE: [&[&[u8]]; 3] = [&[b".cargo", b"git"], &[b".cargo", b"registry"], &[b".rustup"]];

/// The files that fit a path, in the order of the rule.
pub(super) enum Fits<'a> {
    /// Where a source map says.
    Mapped(Vec<At>),
    /// Those that are anchored, and those inside that share more.
    Found { anchored: &'a [At], inside: &'a [At] },
}

/// The files that fit a path. `below` is how many of its last components stand below the compilation folder.
pub(super) fn find<'a>(trees: &'a Trees, path: &[u8], below: Option<usize>) -> Fits<'a> {
    let absolute = path.starts_with(b"/");
    let parts = components(path);
    if let Some(path) = map::apply(&trees.maps, absolute, &parts) {
        return Fits::Mapped(find::exact(&trees.trees, &path));
    }
    let up = parts.iter().take_while(|part| **part == b"..").count();
    let parts = &parts[up..];
    let all = parts.len();
    let (shared, longest) = trees.index.longest(&trees.trees, parts);
    let (least, may_be_inside) = match below {
        _ if is_reserved(parts, absolute || up > 0) => (all, false),
        _ if up > 0 => (2, false),
        _ if !absolute => (all, true),
        Some(below) => (below, true),
        None => (all.min(2), false),
    };
    let ends = (least.max(1)..=shared).rev();
    let mut anchored = ends.map(|length| (length, trees.index.exactly(&trees.trees, &parts[all - length..])));
    let (length, anchored) = anchored.find(|(_, found)| !found.is_empty()).unwrap_or((0, &[]));
    let is_inside = may_be_inside && shared >= least.max(2) && shared > length;
    Fits::Found { anchored, inside: if is_inside { longest } else { &[] } }
}

/// Whether a path belongs to a compiler, a library or a system. `from_root` is whether its first component may be one of
/// the root folder.
fn is_reserved(parts: &[&[u8]], from_root: bool) -> bool {
    let roots = RESERVED.iter().any(|root| parts.starts_with(root));
    // Debian's place for the sources of Rust's library: `/usr/src/rustc-1.63.0/library`.
    let rust = matches!(parts, [b"usr", b"src", rust, ..] if rust.starts_with(b"rustc-"));
    let mut rests = (0..parts.len()).map(|start| &parts[start..]);
    // Go's modules: `pkg/mod/github.com/a/b@v1.2.3`.
    let is_module =
        |rest: &[&[u8]]| rest.starts_with(&[b"pkg", b"mod"]) && rest.iter().any(|part| part.contains(&b'@'));
    (from_root && (roots || rust))
        || rests.any(|rest| RESERVED_ANYWHERE.iter().any(|kept| rest.starts_with(kept)) || is_module(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_belongs_to_a_compiler_or_a_system_is_reserved() {
        let reserved = |path: &str| {
            let parts = components(path.as_bytes());
            let up = parts.iter().take_while(|part| **part == b"..").count();
            is_reserved(&parts[up..], path.starts_with('/') || up > 0)
        };
        for path in [
            "/rustc/90b35a/library/core/src/fmt.rs",
            "/usr/src/rustc-1.63.0/library/core/src/fmt.rs",
            "/usr/include/stdio.h",
            "../../usr/include/stdio.h",
            "/usr/lib/gcc/x86_64-linux-gnu/12/include/emmintrin.h",
            "/usr/lib/go-1.19/src/runtime/proc.go",
            "/usr/local/go/src/fmt/print.go",
            "/usr/local/include/a/b.h",
            "/usr/share/gocode/src/a.go",
            "/home/me/.cargo/registry/src/index/a-1.0.0/src/lib.rs",
            ".cargo/git/checkouts/a/src/lib.rs",
            "/home/me/.rustup/toolchains/stable/lib/a.rs",
            "/home/me/go/pkg/mod/github.com/a/b@v1.2.3/cmd/main.go",
        ] {
            assert!(reserved(path), "{path}");
        }
        for path in [
            "rustc/main.c",
            "usr/include/own.h",
            "/usr/src/packages/BUILD/zlib-1.2/inflate.c",
            "/usr/library/a.c",
            "/home/me/usr/include/a.h",
            "/home/me/.cargo/own/src/lib.rs",
            "/home/me/x/pkg/mod/a.go",
        ] {
            assert!(!reserved(path), "{path}");
        }
    }
}
