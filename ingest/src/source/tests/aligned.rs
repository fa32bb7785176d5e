//! Where trees stand, and what is nowhere in them: programs as their debug data cites them, with trees that are theirs, or not.

use super::*;

/// A program and a tree: what its debug data cites, each file with the functions that it declares there (`name:line`), and
/// where that is in the tree, or its level.
struct Case {
    what: &'static str,
    tree: &'static [(&'static str, &'static str)],
    maps: &'static [&'static str],
    cited: &'static [(&'static str, &'static str, &'static str)],
}

fn cites(path: &str, declared: &str) -> Cited {
    let declared = declared.split(' ').filter_map(|word| word.split_once(':'));
    let declared = declared.map(|(name, line)| (name.as_bytes().to_vec(), line.parse().unwrap())).collect();
    Cited { is_below: !path.starts_with('/'), declared, ..cited(path) }
}

#[track_caller]
fn check(cases: &[Case]) {
    for Case { what, tree, maps, cited } in cases {
        let tree = folder(tree);
        let trees = open(&[tree.path()], maps).unwrap();
        let all: Vec<Cited> = cited.iter().map(|(path, declared, _)| cites(path, declared)).collect();
        let aligned = trees.align(&all);
        for (cites, (path, _, expected)) in all.iter().zip(*cited) {
            assert_eq!(placed(&trees, &aligned.judge(cites).unwrap()), *expected, "{what}: {path}");
        }
        // Nor does the order say anything.
        let reversed: Vec<Cited> = all.iter().rev().cloned().collect();
        let again = trees.align(&reversed);
        assert!(
            all.iter().all(|cited| again.judge(cited).unwrap() == aligned.judge(cited).unwrap()),
            "{what}"
        );
    }
}

const MAIN: &str = "#include <a.h>\nint main (void)\n{\n}\n";

#[test]
fn a_tree_stands_where_it_was_compiled() {
    check(&[
        Case {
            what: "Debian's relative paths",
            tree: &[("csu/init.c", "int first;\n"), ("elf/rtld.c", "int start;\n"), ("x/elf/rtld.c", "\n")],
            maps: &[],
            cited: &[
                ("csu/init.c", "first:1", "csu/init.c"),
                ("elf/rtld.c", "made_by_a_macro:1", "elf/rtld.c"),
                ("elf/../x/elf/rtld.c", "", "x/elf/rtld.c"),
                ("elf/generated.h", "", "missing"),
                ("../elf/rtld.c", "start:1", "missing"),
            ],
        },
        Case {
            what: "a package in the folder of its build",
            tree: &[("src/main.c", MAIN), ("config.h", "int conf;\n"), ("own.h", "int own;\n")],
            maps: &[],
            cited: &[
                ("/build/foo-AbC/foo-1.0/src/main.c", "main:2", "src/main.c"),
                ("/build/foo-AbC/foo-1.0/own.h", "own:1", "own.h"),
                ("/build/foo-AbC/foo-1.0/obj-x86_64-linux-gnu/config.h", "conf_value:1", "missing"),
                ("/usr/include/stdio.h", "", "missing"),
            ],
        },
        Case {
            what: "a package whose prefix is mapped by the compiler",
            tree: &[("src/main.c", MAIN), ("config.h", "int conf;\n"), ("own.h", "int own;\n")],
            maps: &[],
            cited: &[
                ("/usr/src/foo-1.0-1/src/main.c", "main:2", "src/main.c"),
                ("/usr/src/foo-1.0-1/own.h", "", "own.h"),
                ("/usr/src/foo-1.0-1/obj/config.h", "conf:1", "missing"),
            ],
        },
        Case {
            what: "a build outside the tree, with files at its root",
            tree: &[("main.c", MAIN), ("util.c", "int util;\n"), ("build/config.h", "")],
            maps: &[],
            cited: &[
                ("/w/proj/main.c", "main:2", "main.c"),
                ("/w/proj/util.c", "util:1", "util.c"),
                ("/w/build/config.h", "", "missing"),
            ],
        },
        Case {
            what: "the folder that the project is in",
            tree: &[("proj/main.c", MAIN), ("proj/lib/util.c", "int util;\n"), ("other/lib/util.c", "")],
            maps: &[],
            cited: &[
                ("/old/name/main.c", "main:2", "proj/main.c"),
                ("/old/name/lib/util.c", "util:1", "proj/lib/util.c"),
                ("/old/other/lib/util.c", "", "missing"),
            ],
        },
        Case {
            what: "a folder of the project",
            tree: &[("src/main.rs", "fn main() {}\n"), ("src/lib.rs", "pub fn own() {}\n")],
            maps: &[],
            cited: &[
                ("/ws/crates/aa/src/main.rs", "main:1", "src/main.rs"),
                ("/ws/crates/aa/src/lib.rs", "own:1", "src/lib.rs"),
                ("/ws/crates/bb/src/lib.rs", "other:1", "missing"),
                ("/rust/deps/memchr-2.7.4/src/lib.rs", "own:1", "missing"),
            ],
        },
        Case {
            what: "a whole workspace",
            tree: &[
                ("crates/aa/src/main.rs", "fn main() {}\n"),
                ("crates/bb/src/lib.rs", "pub fn other() {}\n"),
                ("src/lib.rs", "pub fn memchr() {}\n"),
            ],
            maps: &[],
            cited: &[
                ("/ws/crates/aa/src/main.rs", "main:1", "crates/aa/src/main.rs"),
                ("/ws/crates/bb/src/lib.rs", "other:1", "crates/bb/src/lib.rs"),
                ("/cache/registry/src/index-6f17d22bba15001f/memchr-2.7.4/src/lib.rs", "memchr:1", "missing"),
                ("/home/me/.cargo/registry/src/i/memchr-2.7.4/src/lib.rs", "memchr:1", "missing"),
            ],
        },
        Case {
            what: "an image of a system, without functions",
            tree: &[("usr/include/own.h", "\n"), ("home/me/a.c", "\n")],
            maps: &[],
            cited: &[
                ("/usr/include/own.h", "", "usr/include/own.h"),
                ("/home/me/a.c", "", "home/me/a.c"),
                ("../usr/include/own.h", "", "missing"),
                ("usr/include/own.h", "", "missing"),
            ],
        },
    ]);
}

#[test]
fn another_projects_files_are_nowhere_in_a_tree() {
    check(&[
        Case {
            what: "a library that was linked in",
            tree: &[("src/main.c", MAIN), ("src/util.c", "int own_util;\n")],
            maps: &[],
            cited: &[
                ("/build/foo-1/src/main.c", "main:2", "src/main.c"),
                ("/build/libz-2/src/util.c", "z_util:1", "missing"),
            ],
        },
        Case {
            what: "what the build made, and a test has beside",
            tree: &[("src/main.c", MAIN), ("tests/data/gen/ops.inc", "int op;\n")],
            maps: &[],
            cited: &[("src/main.c", "main:2", "src/main.c"), ("gen/ops.inc", "op:1", "missing")],
        },
        Case {
            what: "a header of a compiler for another machine",
            tree: &[("m.c", MAIN), ("include/getopt.h", "int other_fn;\n")],
            maps: &[],
            cited: &[
                ("/w/proj/m.c", "main:2", "m.c"),
                ("/usr/aarch64-linux-gnu/include/getopt.h", "other_fn:1", "missing"),
                ("/opt/gcc-13/include/getopt.h", "getopt_len:1", "missing"),
            ],
        },
        Case {
            what: "another crate",
            tree: &[("src/lib.rs", "pub fn find() {}\n"), ("src/lookup.rs", "fn it() {}\n")],
            maps: &[],
            cited: &[
                ("/ws/crates/aa/src/lib.rs", "own:1", "missing"),
                ("/rust/deps/addr2line-0.25.1/src/lookup.rs", "it:1", "missing"),
                ("/cache/registry/src/index/memchr-2.7.4/src/lib.rs", "find:1", "missing"),
                ("/cache/git/checkouts/memchr-01/89ab/src/lib.rs", "find:1", "missing"),
                ("/rustc/90b35a/library/std/src/lib.rs", "find:1", "missing"),
            ],
        },
        Case {
            what: "the compiler's own library beside one of the same name",
            tree: &[("x/y/deep.c", "int deep;\n"), ("stdio.h", ""), ("include/stdio.h", "int puts;\n")],
            maps: &[],
            cited: &[
                ("/usr/include/stdio.h", "puts:1", "missing"),
                ("/usr/lib/gcc/x86_64-linux-gnu/12/include/stdio.h", "puts:1", "missing"),
                ("../../usr/include/stdio.h", "puts:1", "missing"),
                ("/usr/local/go/x/y/deep.c", "deep:1", "missing"),
                ("/home/me/go/pkg/mod/a.org/b@v1.0.0/x/y/deep.c", "deep:1", "missing"),
                ("", "", "missing"),
                ("/", "", "missing"),
                ("..", "", "missing"),
            ],
        },
    ]);
}

#[test]
fn without_evidence_a_tree_stands_nowhere() {
    let tree: &[(&str, &str)] = &[("lib/start.S", "start:\n"), ("lib/end.S", "end:\n")];
    let cited: &[(&str, &str, &str)] =
        &[("/w/lib/start.S", "", "missing"), ("/w/lib/end.S", "last:1", "missing")];
    let mapped = &[("/w/lib/start.S", "", "lib/start.S"), ("/w/lib/end.S", "last:1", "lib/end.S")];
    let confirmed = &[("/w/lib/start.S", "", "lib/start.S"), ("/w/lib/end.S", "last:1 end:1", "lib/end.S")];
    check(&[
        Case { what: "nothing is declared that is there", tree, maps: &[], cited },
        Case { what: "a map is taken at its word", tree, maps: &["/w=."], cited: mapped },
        Case { what: "one of two functions is there", tree, maps: &[], cited: confirmed },
    ]);
    let tree = folder(tree);
    let trees = open(&[tree.path()], &[]).unwrap();
    let start = cites("/w/lib/start.S", "last:1");
    let end = Cited { md5: Md5::Known(Hasher::digest("end:\n").into()), ..cites("/w/lib/end.S", "") };
    let aligned = trees.align(&[start.clone(), end]);
    assert_eq!(placed(&trees, &aligned.judge(&start).unwrap()), "lib/start.S", "an MD5 is evidence");
    assert_eq!(aligned.elsewhere(0, b"/w/lib/start.S"), None);
    // What a hint says where there is none.
    let aligned = trees.align(&[start]);
    let map = ("/w".to_owned(), ".".to_owned());
    assert_eq!(aligned.elsewhere(0, b"/w/lib/start.S"), Some(map));
    assert_eq!(aligned.elsewhere(0, b"/w/lib/other.S"), None);
}

#[test]
fn a_generated_file_is_not_sought_in_another_place() {
    let config = "int config(void);\n";
    let tree = folder(&[("config.h", config), ("own.h", "int own;\n"), ("src/main.c", MAIN)]);
    let trees = open(&[tree.path()], &[]).unwrap();
    let generated = cites("/w/obj/config.h", "config:1");
    let cited = [cites("/w/src/main.c", "main:2"), cites("/w/own.h", "own:1"), generated.clone()];
    let aligned = trees.align(&cited);
    assert!(aligned.judge(&generated).unwrap().from.is_none());
    assert_eq!(aligned.elsewhere(0, b"/w/obj/config.h"), None);
}

#[test]
fn the_place_that_most_files_confirm_is_the_one() {
    const COPY: &[(&str, &str)] = &[
        ("a/src/main.c", MAIN),
        ("a/src/one.c", "int one;\n"),
        ("b/src/main.c", MAIN),
        ("b/src/one.c", "int other;\n"),
        ("b/src/two.c", "int two;\n"),
    ];
    check(&[
        Case {
            what: "one has more of its functions",
            tree: COPY,
            maps: &[],
            cited: &[("/w/src/main.c", "main:2", "a/src/main.c"), ("/w/src/one.c", "one:1", "a/src/one.c")],
        },
        Case {
            what: "one has more of its files",
            tree: COPY,
            maps: &[],
            cited: &[
                ("/w/src/main.c", "main:2", "b/src/main.c"),
                ("/w/src/one.c", "none:1", "b/src/one.c"),
                ("/w/src/two.c", "", "b/src/two.c"),
            ],
        },
        Case {
            what: "both are as good",
            tree: COPY,
            maps: &[],
            cited: &[
                ("/w/src/main.c", "main:2", "ambiguous"),
                ("/w/src/one.c", "", "ambiguous"),
                ("/w/src/none.c", "", "missing"),
            ],
        },
        Case {
            what: "both have the same bytes",
            tree: COPY,
            maps: &[],
            cited: &[("/w/src/main.c", "main:2", "a/src/main.c")],
        },
        Case {
            what: "at the root, where a test has more of the path and less of the functions",
            tree: &[
                ("main.c", "int main;\nint run;\n"),
                ("tests/proj/main.c", "int main;\n"),
                ("u.c", "int u;\n"),
            ],
            maps: &[],
            cited: &[("/w/proj/main.c", "main:1", "main.c"), ("/w/proj/u.c", "u:1", "u.c")],
        },
        Case {
            what: "a second place needs a map",
            tree: COPY,
            maps: &["/elsewhere=b"],
            cited: &[
                ("/w/a/src/main.c", "main:2", "a/src/main.c"),
                ("/w/a/src/one.c", "one:1", "a/src/one.c"),
                ("/x/src/two.c", "two:1", "missing"),
                ("/elsewhere/src/two.c", "", "b/src/two.c"),
            ],
        },
    ]);
    // What is below the compilation folder counts for more than the length of a path.
    let tree = folder(&[("m.c", MAIN), ("include/getopt.h", "int getopt_len;\n")]);
    let trees = open(&[tree.path()], &[]).unwrap();
    let own = Cited { is_below: true, ..cites("/w/m.c", "main:2") };
    let aligned = trees.align(&[cites("/opt/gcc/include/getopt.h", "getopt_len:1"), own.clone()]);
    assert_eq!(placed(&trees, &aligned.judge(&own).unwrap()), "m.c");
}
