//! Trees from tarballs and source packages.

use super::*;

/// The trees of paths that are unpacked. They are gone afterwards, so only what is told of them can be asked.
fn unpacked(paths: &[&Path]) -> Result<Trees, InputError> {
    let scratch = tempfile::tempdir().unwrap();
    let paths: Vec<PathBuf> = paths.iter().map(|path| path.to_path_buf()).collect();
    let mut asked = 0;
    let trees = Trees::open(&paths, &[], &mut || {
        asked += 1;
        Ok(scratch.path().to_owned())
    });
    assert!(asked <= 1);
    trees
}

/// A source package of `hello` below `folder`: its upstream tarball, Debian's with a patch, and the `.dsc`.
fn package(folder: &Path, format: &str) -> PathBuf {
    let patch = "--- a/hello.c\n+++ b/hello.c\n@@ -1 +1 @@\n-int old;\n+int patched;\n";
    let upstream = tarball(&[("hello-2.10/hello.c", "int old;\n"), ("hello-2.10/lib/a.c", "int a;\n")]);
    let debian = tarball(&[
        ("debian/changelog", "hello (2.10-3) sid; urgency=low\n"),
        ("debian/source/format", "3.0 (quilt)\n"),
        ("debian/patches/series", "fix.patch\n"),
        ("debian/patches/fix.patch", patch),
    ]);
    let (mut files, mut strong) = (String::new(), String::new());
    for (name, bytes) in [("hello_2.10.orig.tar.gz", upstream), ("hello_2.10-3.debian.tar.gz", debian)] {
        let md5: String = Hasher::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        files += &format!(" {md5} {} {name}\n", bytes.len());
        strong += &format!(" {} {} {name}\n", Sha256Digest::of(&bytes), bytes.len());
        fs::write(folder.join(name), bytes).unwrap();
    }
    let dsc = folder.join("hello_2.10-3.dsc");
    let fields = format!("Format: {format}\nSource: hello\nVersion: 2.10-3\n");
    fs::write(&dsc, format!("{fields}Checksums-Sha256:\n{strong}Files:\n{files}")).unwrap();
    dsc
}

fn tarball(files: &[(&str, &str)]) -> Vec<u8> {
    tarball_with(files, &[])
}

/// One with symbolic links before the files.
fn tarball_with(files: &[(&str, &str)], links: &[(&str, &str)]) -> Vec<u8> {
    let mut tar = tar::Builder::new(flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast()));
    for (path, to) in links {
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(tar::EntryType::Symlink);
        header.set_size(0);
        tar.append_link(&mut header, path, to).unwrap();
    }
    for (path, text) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(text.len() as u64);
        header.set_mode(0o644);
        tar.append_data(&mut header, path, text.as_bytes()).unwrap();
    }
    tar.into_inner().unwrap().finish().unwrap()
}

/// What [`package`] unpacks to.
const UNPACKED: [(&str, &str); 7] = [
    (".pc/applied-patches", "fix.patch\n"),
    ("hello.c", "int patched;\n"),
    ("lib/a.c", "int a;\n"),
    ("debian/changelog", "hello (2.10-3) sid; urgency=low\n"),
    ("debian/source/format", "3.0 (quilt)\n"),
    ("debian/patches/series", "fix.patch\n"),
    ("debian/patches/fix.patch", "--- a/hello.c\n+++ b/hello.c\n@@ -1 +1 @@\n-int old;\n+int patched;\n"),
];

/// Needs `dpkg-source`, as the product does.
#[test]
fn a_source_package_is_the_folder_that_it_unpacks_to() {
    let packed = tempfile::tempdir().unwrap();
    let dsc = package(packed.path(), "3.0 (quilt)");
    let plain = folder(&UNPACKED);
    let expected = open(&[plain.path()], &[]).unwrap();
    for path in [&*dsc, packed.path()] {
        let trees = unpacked(&[path]).unwrap();
        assert_eq!(trees.given(), expected.given());
        assert_eq!(trees.documents(None), expected.documents(None));
    }
    assert_eq!(expected.documents(None)[0].package.as_ref().unwrap().version, "2.10-3");
    assert_eq!(expected.unpatched().count(), 0);
}

/// Every file that a `.dsc` names is held to its SHA-256 there; a signature is not asked for, and one that nobody here knows
/// changes nothing.
#[test]
fn a_source_package_that_was_tampered_with_is_refused() {
    let tampered = |name: &str, change: &dyn Fn(Vec<u8>) -> Vec<u8>| {
        let packed = tempfile::tempdir().unwrap();
        let dsc = package(packed.path(), "3.0 (quilt)");
        let path = packed.path().join(name);
        fs::write(&path, change(fs::read(&path).unwrap())).unwrap();
        unpacked(&[&dsc])
    };
    let other = tarball(&[("hello-2.10/hello.c", "int old;\n"), ("hello-2.10/lib/a.c", "int b;\n")]);
    refused(tampered("hello_2.10.orig.tar.gz", &|_| other.clone()), "hello_2.10.orig.tar.gz");
    // Bytes after the end are another file too.
    let longer = |mut bytes: Vec<u8>| {
        bytes.push(0);
        bytes
    };
    refused(tampered("hello_2.10-3.debian.tar.gz", &longer), "hello_2.10-3.debian.tar.gz");
    let weak = |bytes: Vec<u8>| {
        let text = String::from_utf8(bytes).unwrap();
        let (fields, rest) = text.split_once("Checksums-Sha256:").unwrap();
        format!("{fields}Files:{}", rest.split_once("Files:").unwrap().1).into_bytes()
    };
    refused(tampered("hello_2.10-3.dsc", &weak), "weak checksums");
    let signed = |bytes: Vec<u8>| {
        let text = String::from_utf8(bytes).unwrap();
        let (begin, end) =
            ("-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n", "-----END PGP SIGNATURE-----\n");
        format!("{begin}\n{text}\n-----BEGIN PGP SIGNATURE-----\n\niQ==\n{end}").into_bytes()
    };
    assert_eq!(tampered("hello_2.10-3.dsc", &signed).unwrap().unpatched().count(), 0);
}

#[test]
fn a_tarball_is_the_folder_that_it_unpacks_to() {
    let plain = folder(&UNPACKED);
    let expected = open(&[plain.path()], &[]).unwrap();
    let packed = tempfile::tempdir().unwrap();
    let path = packed.path().join("hello.tar.gz");
    let below = |top: &str| UNPACKED.map(|(path, text)| (format!("{top}{path}"), text));
    // The first `hello.c` is not the one that is left.
    let twice = |top: &str| [vec![(format!("{top}hello.c"), "int old;\n")], below(top).to_vec()].concat();
    for files in
        [below("").to_vec(), below("hello-2.10/").to_vec(), below("./hello-2.10/").to_vec(), twice("h/")]
    {
        let mut files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
        files.push((if files[0].0.starts_with('h') { "h/.git/HEAD" } else { ".git/HEAD" }, "x"));
        fs::write(&path, tarball(&files)).unwrap();
        let trees = unpacked(&[&path]).unwrap();
        assert_eq!(trees.given(), expected.given(), "{files:?}");
        assert_eq!(trees.documents(None), expected.documents(None));
    }
    let scratch = tempfile::tempdir().unwrap();
    let trees = Trees::open(&[path], &[], &mut || Ok(scratch.path().to_owned())).unwrap();
    let judged = judge(&trees, &declaring("/x/hello-2.10/lib/a.c", &["a"])).unwrap();
    assert_published(&trees, &judged);
    assert_eq!(trees.read(judged.from.unwrap()).unwrap(), b"int a;\n");
}

#[cfg(unix)]
#[test]
fn a_symbolic_link_to_a_file_of_the_tree_is_that_file() {
    use std::os::unix::fs::symlink;

    let files = [("h/lib/a.c", "int a;\n"), ("h/b.c", "int b;\n")];
    let links = [
        ("h/lib/b.c", "../b.c"),
        ("h/again.c", "lib/b.c"),
        ("h/folder", "lib"),
        ("h/through.c", "folder/a.c"),
        ("h/out.c", "../../b.c"),
        ("h/passwd", "/etc/passwd"),
        ("h/loop", "loop"),
        ("h/gone.c", "none.c"),
        ("h/.git", "lib/a.c"),
    ];
    let plain = folder(&files);
    for (path, to) in links {
        symlink(to, plain.path().join(path)).unwrap();
    }
    let linked = open(&[&plain.path().join("h")], &[]).unwrap();
    let expected = folder(&[
        ("lib/a.c", "int a;\n"),
        ("b.c", "int b;\n"),
        ("lib/b.c", "int b;\n"),
        ("again.c", "int b;\n"),
        ("through.c", "int a;\n"),
    ]);
    assert_eq!(linked.given(), open(&[expected.path()], &[]).unwrap().given());
    assert_eq!(found(&linked, &declaring("/x/h/again.c", &["b"])), "again.c");
    let packed = tempfile::tempdir().unwrap();
    let path = packed.path().join("h.tar.gz");
    fs::write(&path, tarball_with(&files, &links)).unwrap();
    assert_eq!(unpacked(&[&path]).unwrap().given(), linked.given());
}

#[test]
fn a_tarball_that_is_not_one_tree_is_refused() {
    let packed = tempfile::tempdir().unwrap();
    let path = packed.path().join("x.tar");
    let hostile = |name: &[u8], message: &str| {
        let mut header = tar::Header::new_old();
        header.as_mut_bytes()[..name.len()].copy_from_slice(name);
        header.set_size(0);
        header.set_cksum();
        let mut bytes = header.as_bytes().to_vec();
        bytes.resize(bytes.len() + 1024, 0);
        fs::write(&path, bytes).unwrap();
        refused(unpacked(&[&path]), message);
    };
    hostile(b"../x.c", "`../x.c` in it is refused");
    hostile(b"/etc/x.c", "`/etc/x.c` in it is refused");
    hostile(&b"a/".repeat(limits::FOLDER_DEPTH / 2 + 1), "hold no file");
    let deep = "a/".repeat(limits::FOLDER_DEPTH + 1) + "x.c";
    fs::write(&path, tarball(&[(&deep, "")])).unwrap();
    refused(unpacked(&[&path]), "levels of folders");
    fs::write(&path, "no tarball").unwrap();
    refused(unpacked(&[&path]), "neither a Debian package nor a tar archive");
    fs::write(&path, &tarball(&UNPACKED)[..200]).unwrap();
    refused(unpacked(&[&path]), "can't be");
    assert_eq!(fs::read_dir(packed.path()).unwrap().count(), 1);
}

#[test]
fn a_source_package_that_cannot_be_unpacked_says_why() {
    let packed = tempfile::tempdir().unwrap();
    let dsc = package(packed.path(), "3.0 (git)");
    refused(unpacked(&[&dsc]), "its format is `3.0 (git)`");
    fs::write(&dsc, "Source: hello\n").unwrap();
    refused(unpacked(&[&dsc]), "it has no `Format`");
    let dsc = package(packed.path(), "3.0 (quilt)");
    fs::remove_file(packed.path().join("hello_2.10.orig.tar.gz")).unwrap();
    refused(unpacked(&[&dsc]), "hello_2.10.orig.tar.gz");

    let scratch = tempfile::tempdir().unwrap();
    let mut give = || Ok(scratch.path().to_owned());
    let mut unpacker = unpack::Unpacker::new(&mut give);
    unpacker.dpkg_source = "dpkg-source-that-is-not-here";
    refused(unpacker.trees(&dsc), "unpack it on a Debian machine");
}

#[cfg(unix)]
#[test]
fn a_source_package_fills_no_disk() {
    use std::os::unix::fs::PermissionsExt as _;

    let packed = tempfile::tempdir().unwrap();
    let dsc = package(packed.path(), "3.0 (quilt)");
    let scratch = tempfile::tempdir().unwrap();
    let mut give = || Ok(scratch.path().to_owned());
    let mut unpacker = unpack::Unpacker::new(&mut give);
    let program = packed.path().join("unpacks-for-ever");
    unpacker.dpkg_source = program.to_str().unwrap();
    unpacker.most = 64 << 10;
    // One large file, then many small ones. A file's size alone ends the first.
    let loops = "while :; do n=$((n+1)); printf '%4096s' x >>";
    for (script, message) in
        [(format!("{loops} one; done"), "SIGXFSZ"), (format!("{loops} $n; done"), "more than 65536 bytes")]
    {
        fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        refused(unpacker.trees(&dsc), message);
    }
}
