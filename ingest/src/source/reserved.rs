//! Paths that belong to a compiler, a library or a system: a package's own `include/stdio.h` is no `/usr/include/stdio.h`, and
//! every crate has a `src/lib.rs`. What [`super::align`] finds of them, it finds by the whole path.

/// Where compilers, libraries and systems keep what is theirs, on any machine.
const RESERVED: [&[&[u8]]; 12] = [
    // Where the standard library's own dependencies were built.
    &[b"rust", b"deps"],
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
/// Folders of any home where such things are kept.
const RESERVED_ANYWHERE: [&[&[u8]]; 3] = [&[b".cargo", b"git"], &[b".cargo", b"registry"], &[b".rustup"]];
/// Folders of cargo's home, whatever its name is, with a folder a registry or repository below them.
const CARGO: [&[&[u8]]; 2] = [&[b"registry", b"src"], &[b"git", b"checkouts"]];

/// Whether a path belongs to a compiler, a library or a system. `from_root` is whether its first component may be one of
/// the root folder.
pub(super) fn is_reserved(parts: &[&[u8]], from_root: bool) -> bool {
    let roots = RESERVED.iter().any(|root| parts.starts_with(root));
    let system = match parts {
        // Debian's place for the sources of Rust's library: `/usr/src/rustc-1.63.0/library`.
        [b"usr", b"src", rust, ..] => rust.starts_with(b"rustc-"),
        // What a cross compiler has of a machine: `/usr/aarch64-linux-gnu/include`.
        [b"usr", machine, b"include" | b"lib" | b"sys-root" | b"usr", ..] => machine.contains(&b'-'),
        _ => false,
    };
    let mut rests = (0..parts.len()).map(|start| &parts[start..]);
    // Go's modules: `pkg/mod/github.com/a/b@v1.2.3`.
    let is_module =
        |rest: &[&[u8]]| rest.starts_with(&[b"pkg", b"mod"]) && rest.iter().any(|part| part.contains(&b'@'));
    // A file, in a package, in a registry.
    let is_crate = |rest: &[&[u8]]| rest.len() > 4 && CARGO.iter().any(|kept| rest.starts_with(kept));
    let is_kept = |rest: &[&[u8]]| RESERVED_ANYWHERE.iter().any(|kept| rest.starts_with(kept));
    (from_root && (roots || system)) || rests.any(|rest| is_kept(rest) || is_crate(rest) || is_module(rest))
}

#[cfg(test)]
mod tests {
    use super::{super::path::components, *};

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
            "/ci/cache/registry/src/index-1949cf8c6b5b557f/memchr-2.7.4/src/lib.rs",
            "ci/git/checkouts/a-0123/89abcde/src/lib.rs",
            "/rust/deps/addr2line-0.25.1/src/lookup.rs",
            "/usr/aarch64-linux-gnu/include/getopt.h",
            "/usr/x86_64-w64-mingw32/sys-root/mingw/include/a.h",
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
            "/home/me/registry/src/lib.rs",
            "/home/me/git/checkouts/main.c",
            "/home/me/rust/deps/a.rs",
            "/usr/include-own/a.h",
            "/usr/src/foo-1.0/include/a.h",
        ] {
            assert!(!reserved(path), "{path}");
        }
    }
}
