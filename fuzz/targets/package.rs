//! Packages. What is fuzzed says how it is packed: mutating packed bytes would only ever fail their checksums.
//!
//! The first byte says what it is, the second how it is compressed; the rest is a tar archive, whose headers get the right
//! checksums, or the package itself.

#![no_main]

use std::io::{Read as _, Write as _};

use elfscope_fuzz::{Random, feed};
use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};

const ELF: &[u8] = include_bytes!("../../fixtures/bin/relocatable-x86_64.o");
const CONTROL: &[u8] = b"Package: made\nVersion: 1.0-1\nArchitecture: amd64\nSource: made (1.0)\n";
/// The first byte: a tar archive, the data of a .deb, its control, or bytes as they are.
const KINDS: u8 = 4;
/// The second: none, gzip, xz, zstd, bzip2.
const PACKINGS: u8 = 5;

fuzz_target!(|input: &[u8]| {
    let [kind, packing, rest @ ..] = input else { return };
    feed("input", &packed(kind % KINDS, packing % PACKINGS, rest));
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let mut random = Random(seed.into());
    if size < 512 {
        let kind = random.below(KINDS.into()) as u8;
        let packing = random.below(PACKINGS.into()) as u8;
        let whole = match kind {
            2 => tar(&[("./control", CONTROL)]),
            3 => packed(1, packing, &tar(&[("./usr/lib/a.o", ELF)])),
            _ => tar(&[("./usr/share/doc/a", b"text"), ("./usr/lib/a.o", ELF), ("./usr/lib/b.o", ELF)]),
        };
        if whole.len() + 2 > max_size {
            return size;
        }
        (data[0], data[1]) = (kind, packing);
        data[2..whole.len() + 2].copy_from_slice(&whole);
        return whole.len() + 2;
    }
    match random.below(8) {
        0 => data[0] = random.below(KINDS.into()) as u8,
        1 => data[1] = random.below(PACKINGS.into()) as u8,
        // A header of a tar archive, where one may be.
        2..5 => {
            let header = 2 + 512 * random.below((size - 2) / 512);
            fuzzer_mutate(&mut data[header..header + 512], 512, 512);
        }
        _ => return 2 + fuzzer_mutate(&mut data[2..], size - 2, max_size - 2),
    }
    size
});

/// The package that an input describes.
fn packed(kind: u8, packing: u8, rest: &[u8]) -> Vec<u8> {
    let mut archive = rest.to_vec();
    if kind != 3 {
        checksums(&mut archive);
    }
    let names = ["", ".gz", ".xz", ".zst", ".bz2"];
    let ending = names[usize::from(packing)];
    let about = ("control.tar", compressed(0, &tar(&[("./control", CONTROL)])));
    let data = compressed(packing, &archive);
    match kind {
        0 => data,
        1 => deb(&[(about.0.to_owned(), &about.1), (format!("data.tar{ending}"), &data)]),
        2 => {
            let files = tar(&[("./usr/lib/a.o", ELF)]);
            deb(&[(format!("control.tar{ending}"), &data), ("data.tar".to_owned(), &files)])
        }
        _ => archive,
    }
}

fn compressed(packing: u8, bytes: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    let done = match packing {
        1 => {
            let mut encoder = flate2::write::GzEncoder::new(&mut packed, flate2::Compression::fast());
            encoder.write_all(bytes).and_then(|()| encoder.finish().map(drop))
        }
        2 => liblzma::read::XzEncoder::new(bytes, 0).read_to_end(&mut packed).map(drop),
        3 => zstd::stream::copy_encode(bytes, &mut packed, 1),
        4 => {
            bzip2::read::BzEncoder::new(bytes, bzip2::Compression::fast()).read_to_end(&mut packed).map(drop)
        }
        _ => {
            packed.extend_from_slice(bytes);
            Ok(())
        }
    };
    done.expect("memory takes all");
    packed
}

fn deb(parts: &[(String, &[u8])]) -> Vec<u8> {
    let mut archive = b"!<arch>\n".to_vec();
    let version = ("debian-binary".to_owned(), &b"2.0\n"[..]);
    for (name, bytes) in std::iter::once(&version).chain(parts) {
        archive.extend(format!("{name:<16}0           0     0     100644  {:<10}`\n", bytes.len()).bytes());
        archive.extend_from_slice(bytes);
        archive.resize(archive.len().next_multiple_of(2), b'\n');
    }
    archive
}

fn tar(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = Vec::new();
    for (name, bytes) in files {
        let mut header = [0; 512];
        header[..name.len()].copy_from_slice(name.as_bytes());
        header[100..108].copy_from_slice(b"0000644\0");
        header[124..136].copy_from_slice(format!("{:011o}\0", bytes.len()).as_bytes());
        header[156] = b'0';
        header[257..265].copy_from_slice(b"ustar  \0");
        archive.extend(header);
        archive.extend_from_slice(bytes);
        archive.resize(archive.len().next_multiple_of(512), 0);
    }
    archive.resize(archive.len() + 1024, 0);
    checksums(&mut archive);
    archive
}

/// Gives every block that looks like a header of a tar archive its checksum.
fn checksums(archive: &mut [u8]) {
    let mut at = 0;
    while let Some(header) = archive.get_mut(at..at + 512).filter(|header| header[0] != 0) {
        header[148..156].fill(b' ');
        let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
        header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        let digits = header[124..136].iter().filter(|byte| byte.is_ascii_digit());
        let size = digits.fold(0usize, |size, digit| size.saturating_mul(8) + usize::from(digit - b'0'));
        at = at.saturating_add(512).saturating_add(size.min(1 << 40).next_multiple_of(512));
    }
}
