//! The reading layer alone, with small limits.

use std::{
    io::{Read as _, Write as _},
    path::PathBuf,
};

use super::{Limits, PackageFacts, read, recognise};
use crate::error::InputError;

type Members = Vec<(String, Vec<u8>)>;

fn write(name: &str, bytes: &[u8]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    (folder, path)
}

fn read_with(bytes: &[u8], limits: &Limits) -> Result<(Members, PackageFacts), InputError> {
    let (_folder, path) = write("package", bytes);
    let mut members = Vec::new();
    let facts = read(&path, limits, &mut |member| {
        let mut bytes = Vec::new();
        let name = String::from_utf8_lossy(member.path).into_owned();
        let elf = member.is_elf().map_err(|error| super::unreadable(&path, error))?;
        member.read_to_end(&mut bytes).map_err(|error| super::unreadable(&path, error))?;
        assert_eq!(elf, bytes.starts_with(b"\x7fELF"));
        assert_eq!(member.size, bytes.len() as u64);
        members.push((name, bytes));
        Ok::<_, InputError>(())
    })?;
    Ok((members, facts))
}

fn read_all(bytes: &[u8]) -> Result<(Members, PackageFacts), InputError> {
    read_with(bytes, &Limits::default())
}

fn refusal(bytes: &[u8]) -> String {
    read_all(bytes).map(|(members, _)| members.len()).unwrap_err().to_string()
}

/// A header and contents, whatever the path and kind.
fn entry(path: &[u8], kind: u8, contents: &[u8]) -> Vec<u8> {
    let mut header = tar::Header::new_gnu();
    header.as_old_mut().name[..path.len()].copy_from_slice(path);
    header.set_entry_type(tar::EntryType::new(kind));
    header.set_mode(0o644);
    header.set_size(contents.len() as u64);
    header.set_cksum();
    let mut bytes = header.as_bytes().to_vec();
    bytes.extend_from_slice(contents);
    bytes.resize(bytes.len().next_multiple_of(512), 0);
    bytes
}

fn tar_of(entries: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = entries.concat();
    bytes.resize(bytes.len() + 1024, 0);
    bytes
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn xz(bytes: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    liblzma::read::XzEncoder::new(bytes, 1).read_to_end(&mut packed).unwrap();
    packed
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::stream::encode_all(bytes, 3).unwrap()
}

fn bzip2(bytes: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    bzip2::read::BzEncoder::new(bytes, bzip2::Compression::fast()).read_to_end(&mut packed).unwrap();
    packed
}

type Pack = fn(&[u8]) -> Vec<u8>;

const PACKINGS: [(&str, Pack); 5] =
    [("", <[u8]>::to_vec), (".gz", gzip), (".xz", xz), (".zst", zstd), (".bz2", bzip2)];

const CONTROL: &[u8] = b"Package: hello\nSource: greetings (2.0)\nVersion: 2.10-3\nArchitecture: amd64\n";

fn deb(parts: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut bytes = b"!<arch>\n".to_vec();
    for (name, contents) in parts {
        bytes.extend(format!("{name:<16}0           0     0     100644  {:<10}`\n", contents.len()).bytes());
        bytes.extend(contents);
        bytes.resize(bytes.len().next_multiple_of(2), b'\n');
    }
    bytes
}

fn whole_deb(suffix: &str, pack: Pack, data: &[Vec<u8>]) -> Vec<u8> {
    deb(&[
        ("debian-binary", b"2.0\n".to_vec()),
        (&format!("control.tar{suffix}"), pack(&tar_of(&[entry(b"./control", b'0', CONTROL)]))),
        (&format!("data.tar{suffix}"), pack(&tar_of(data))),
    ])
}

#[test]
fn every_packing_gives_the_same_members() {
    let entries = [
        entry(b"./", b'5', b""),
        entry(b"./usr/bin/hello", b'0', b"\x7fELF and more"),
        entry(b"./usr/bin/hi", b'2', b""),
        entry(b"./empty", b'0', b""),
        entry(b"./block", b'\0', &[7; 512]),
        entry(b"./old/", b'\0', b""),
        entry(b"./device", b'3', b""),
    ];
    let expected = vec![
        ("usr/bin/hello".to_owned(), b"\x7fELF and more".to_vec()),
        ("empty".to_owned(), Vec::new()),
        ("block".to_owned(), vec![7; 512]),
    ];
    for (suffix, pack) in PACKINGS {
        let (members, facts) = read_all(&pack(&tar_of(&entries))).unwrap();
        assert_eq!(members, expected, "tar{suffix}");
        assert_eq!(facts.about, None);
        let entries_found = &facts.entries;
        let counted =
            (entries_found.files, entries_found.folders, entries_found.links, entries_found.special);
        assert_eq!(counted, (3, 2, 1, 1));
        assert!(!entries_found.after_end);
        let package = whole_deb(suffix, pack, &entries);
        let (members, facts) = read_all(&package).unwrap();
        assert_eq!(members, expected, "deb of {suffix}");
        assert_eq!(facts.sha256, elfscope_schema::Sha256Digest::of(&package));
        let about = facts.about.unwrap();
        assert_eq!(
            (about.name.as_str(), about.version.as_str(), about.architecture.as_str()),
            ("hello", "2.10-3", "amd64")
        );
        let source = about.source.unwrap();
        assert_eq!((source.name.as_str(), source.version.as_str()), ("greetings", "2.0"));
    }
}

#[test]
fn streams_after_each_other_are_one() {
    let whole = tar_of(&[entry(b"a", b'0', b"first"), entry(b"b", b'0', &[1; 2000])]);
    for (suffix, pack) in &PACKINGS[1..] {
        let mut packed = pack(&whole[..700]);
        packed.extend(pack(&whole[700..1500]));
        packed.extend(pack(&whole[1500..]));
        assert_eq!(read_all(&packed).unwrap().0.len(), 2, "{suffix}");
    }
}

#[test]
fn a_cut_package_is_refused_wherever_it_is_cut() {
    let entries = [entry(b"a", b'0', b"first"), entry(b"b", b'0', b"second")];
    for (suffix, pack) in PACKINGS {
        for whole in [pack(&tar_of(&entries)), whole_deb(suffix, pack, &entries)] {
            for length in (0..whole.len()).step_by(if suffix.is_empty() { 37 } else { 1 }) {
                // One block of zeros ends an archive too: GNU tar writes two, others one.
                let one_is_left = suffix.is_empty() && whole.starts_with(b"a") && whole.len() - length <= 512;
                // Nothing is lost with the byte that fills the last member.
                let is_padding = whole.ends_with(b"\n") && length + 1 == whole.len();
                if one_is_left || is_padding {
                    continue;
                }
                let Err(error) = read_all(&whole[..length]) else {
                    panic!("{suffix} of {} cut at {length} is taken", whole.len())
                };
                let sentence = error.to_string();
                assert!(sentence.contains("package`"), "{suffix} cut at {length}: {sentence}");
            }
        }
    }
}

#[test]
fn damage_is_told_of_its_part() {
    let entries = [entry(b"a", b'0', b"first and some more"), entry(b"b", b'0', b"second")];
    for (suffix, pack) in &PACKINGS[1..] {
        let mut packed = whole_deb(suffix, *pack, &entries);
        let at = packed.len() - 40;
        packed[at..at + 8].copy_from_slice(&[0xa5; 8]);
        let sentence = refusal(&packed);
        // gzip has no sum before its end, so there the archive inside shows it first.
        let told = sentence.contains(&format!("`data.tar{suffix}`")) || sentence.contains("it is damaged");
        assert!(told, "{sentence}");
        let mut trailing = pack(&tar_of(&entries));
        trailing.extend(b"garbage");
        // The programs warn of it and go on; here nothing is passed over in silence.
        let _ = refusal(&trailing);
    }
}

#[test]
fn whatever_is_changed_it_is_read_or_refused() {
    let entries =
        [entry(b"long", b'L', b"name\0"), entry(b"a", b'0', b"first"), entry(b"b", b'0', b"second")];
    let mut state = 1_u64;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    for (suffix, pack) in PACKINGS {
        let whole = whole_deb(suffix, pack, &entries);
        for _ in 0..200 {
            let mut changed = whole.clone();
            for _ in 0..=random(3) {
                let at = random(changed.len());
                changed[at] = random(256) as u8;
            }
            if let Err(error) = read_all(&changed) {
                assert!(!error.to_string().contains('\n'), "{error}");
            }
        }
    }
}

#[test]
fn paths_that_lead_out_cost_only_their_member() {
    let long = vec![b'a'; 5000];
    let pax = |path: &[u8]| {
        let record = [b"path=", path, b"\n"].concat();
        let length = record.len() + 1 + (record.len() + 3).to_string().len();
        entry(b"pax", b'x', &[length.to_string().as_bytes(), b" ", &record].concat())
    };
    let entries = [
        entry(b"../../etc/passwd", b'0', b"1"),
        entry(b"/etc/passwd", b'0', b"2"),
        entry(b"a/../../b", b'0', b"3"),
        entry(b"long", b'L', &long),
        entry(b"short", b'0', b"4"),
        pax(b"/absolute"),
        entry(b"relative", b'0', b"5"),
        pax(b"nul\0byte"),
        entry(b"plain", b'0', b"6"),
        pax(b"fine/by/pax"),
        entry(b"/not/this", b'0', b"7"),
        entry(b"long", b'L', b"fine/by/gnu\0"),
        entry(b"/not/that", b'0', b"8"),
        entry(b"link", b'1', b""),
        entry(b"last", b'0', b"9"),
    ];
    let (members, facts) = read_all(&tar_of(&entries)).unwrap();
    let names: Vec<&str> = members.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["fine/by/pax", "fine/by/gnu", "last"]);
    assert_eq!((facts.entries.refused, facts.entries.links), (7, 1));
    let reasons: Vec<&str> = facts.entries.first_refused.iter().map(|(_, reason)| *reason).collect();
    assert!(reasons[0].contains("`..`") && reasons[1].contains("absolute"), "{reasons:?}");
    assert!(reasons[3].contains("too long") && reasons[5].contains("NUL"), "{reasons:?}");
    assert!(reasons[6].contains("hard link"), "{reasons:?}");
}

#[test]
fn bombs_end_at_the_limit() {
    let limits = Limits { unpacked: 8 << 20, ratio: 100, floor: 1 << 20, entries: 50 };
    let zeros = tar_of(&[entry(b"zeros", b'0', &vec![0; 4 << 20])]);
    for (suffix, pack) in &PACKINGS[1..] {
        for bomb in [pack(&zeros), whole_deb(suffix, *pack, &[entry(b"zeros", b'0', &vec![0; 4 << 20])])] {
            let sentence = read_with(&bomb, &limits).map(drop).unwrap_err().to_string();
            let expected = format!("it has {} bytes and unpacks to more than", bomb.len());
            assert!(sentence.contains(&expected), "{suffix}: {sentence}");
        }
        // Zeros after the end count as well.
        let mut end = tar_of(&[entry(b"a", b'0', b"a")]);
        end.resize(4 << 20, 0);
        assert!(read_with(&pack(&end), &limits).is_err());
    }
    let many: Vec<Vec<u8>> = (0..60).map(|number| entry(format!("{number}").as_bytes(), b'0', b"")).collect();
    let sentence = read_with(&tar_of(&many), &limits).map(drop).unwrap_err().to_string();
    assert!(sentence.contains("more than 50 entries"), "{sentence}");
    // A header that claims a size which isn't there.
    let mut header = tar::Header::new_gnu();
    header.set_size(1 << 60);
    header.set_entry_type(tar::EntryType::GNULongName);
    header.set_cksum();
    assert!(refusal(&tar_of(&[header.as_bytes().to_vec()])).contains("it is cut"));
    header.set_size(2 << 20);
    header.set_entry_type(tar::EntryType::XHeader);
    header.set_cksum();
    let large = [header.as_bytes().to_vec(), vec![b'1'; 2 << 20]].concat();
    assert!(refusal(&tar_of(&[large])).contains("2097152 bytes, more than the 1048576"));
}

#[test]
fn a_deb_out_of_order_is_refused() {
    let version = ("debian-binary", b"2.0\n".to_vec());
    let control = ("control.tar", tar_of(&[entry(b"control", b'0', CONTROL)]));
    let data = ("data.tar", tar_of(&[entry(b"a", b'0', b"a")]));
    let of = |parts: &[&(&str, Vec<u8>)]| {
        let parts: Vec<_> = parts.iter().map(|part| (part.0, part.1.clone())).collect();
        deb(&parts)
    };
    let extra = ("_extra", b"odd".to_vec());
    assert_eq!(read_all(&of(&[&version, &extra, &control, &extra, &data])).unwrap().0.len(), 1);
    let slashed = ("debian-binary/", b"2.0\n".to_vec());
    assert_eq!(read_all(&of(&[&slashed, &control, &data])).unwrap().0.len(), 1);
    for (parts, expected) in [
        (vec![&version, &data, &control], "`data.tar` stands before `control.tar`"),
        (vec![&version, &control, &control, &data], "`control.tar` stands in it where `data.tar` should"),
        (vec![&version, &control], "it has no `data.tar`"),
        (vec![&version], "it has no `control.tar`"),
        (vec![&("debian-binary", b"3.0\n".to_vec()), &control, &data], "only format 2 is read"),
        (
            vec![&version, &("control.tar", tar_of(&[entry(b"md5sums", b'0', b"")])), &data],
            "holds no `control`",
        ),
        (vec![&version, &("control.tar", b"what is this".repeat(60)), &data], "is no tar archive"),
        (vec![&("control.tar", Vec::new()), &version, &data], "neither a Debian package nor a tar archive"),
    ] {
        let sentence = refusal(&of(&parts));
        assert!(sentence.contains(expected), "{sentence}");
    }
    assert!(
        refusal(&of(&[&version, &control, &("data.tar", vec![b'x'; 600])])).contains("is no tar archive")
    );
    let mut large = of(&[&version, &control, &data]);
    let at = large.len() - data.1.len() - 12;
    large[at..at + 10].copy_from_slice(b"9999999999");
    assert!(refusal(&large).contains("`data.tar` has 9999999999 bytes, of which the file holds"));
}

#[test]
fn packages_are_known_by_content() {
    for (bytes, expected) in [
        (&b"!<arch>\ndebian-binary   "[..], true),
        (b"!<arch>\nfoo.o/          ", false),
        (b"\x7fELF\x02\x01\x01", false),
        (b"", false),
        (&[0; 2048], false),
        (&gzip(b"x"), true),
        (&tar_of(&[entry(b"a", b'0', b"")]), true),
    ] {
        let (_folder, path) = write("name.deb", bytes);
        assert_eq!(recognise(&path).unwrap().is_some(), expected, "{bytes:?}");
    }
}
