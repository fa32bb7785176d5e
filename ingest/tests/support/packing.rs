//! Packages as dpkg-deb and tar write them, and as nobody should.

use std::io::{Read as _, Write as _};

/// One entry of a tar archive.
pub(crate) struct Entry<'a> {
    pub(crate) path: &'a str,
    pub(crate) kind: tar::EntryType,
    pub(crate) contents: &'a [u8],
    pub(crate) link: &'a str,
}

/// A regular file.
pub(crate) fn file<'a>(path: &'a str, contents: &'a [u8]) -> Entry<'a> {
    Entry { path, kind: tar::EntryType::Regular, contents, link: "" }
}

/// A link to another path.
pub(crate) fn link<'a>(path: &'a str, kind: tar::EntryType, to: &'a str) -> Entry<'a> {
    Entry { path, kind, contents: b"", link: to }
}

/// A tar archive; paths stand in it as they are.
pub(crate) fn tar(entries: &[Entry<'_>]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for entry in entries {
        let mut header = tar::Header::new_gnu();
        header.as_old_mut().name[..entry.path.len()].copy_from_slice(entry.path.as_bytes());
        header.as_old_mut().linkname[..entry.link.len()].copy_from_slice(entry.link.as_bytes());
        header.set_entry_type(entry.kind);
        header.set_mode(0o755);
        header.set_size(entry.contents.len() as u64);
        header.set_cksum();
        builder.append(&header, entry.contents).unwrap();
    }
    builder.into_inner().unwrap()
}

/// How a tar archive is packed.
pub(crate) type Pack = fn(&[u8]) -> Vec<u8>;

/// Every way, with its suffix.
pub(crate) const PACKINGS: [(&str, Pack); 5] =
    [("", <[u8]>::to_vec), (".gz", gzip), (".xz", xz), (".zst", zstd), (".bz2", bzip2)];

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn xz(bytes: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    liblzma::read::XzEncoder::new(bytes, 1).read_to_end(&mut packed).unwrap();
    packed
}

pub(crate) fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::stream::encode_all(bytes, 3).unwrap()
}

pub(crate) fn bzip2(bytes: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    bzip2::read::BzEncoder::new(bytes, bzip2::Compression::fast()).read_to_end(&mut packed).unwrap();
    packed
}

/// An ar archive.
pub(crate) fn ar(parts: &[(&str, &[u8])]) -> Vec<u8> {
    let mut builder = ar::Builder::new(Vec::new());
    for (name, contents) in parts {
        builder.append(&ar::Header::new(name.as_bytes().to_vec(), contents.len() as u64), *contents).unwrap();
    }
    builder.into_inner().unwrap()
}

/// A Debian package of a name.
pub(crate) fn deb(name: &str, (suffix, pack): (&str, Pack), entries: &[Entry<'_>]) -> Vec<u8> {
    let control = format!("Package: {name}\nVersion: 1.2-3\nArchitecture: amd64\nSource: {name}-src (1.2)\n");
    let control = pack(&tar(&[file("./control", control.as_bytes())]));
    let data = pack(&tar(entries));
    ar(&[
        ("debian-binary", b"2.0\n"),
        (&format!("control.tar{suffix}"), &control),
        (&format!("data.tar{suffix}"), &data),
    ])
}
