//! Any bytes as an ELF file. The mutator mostly keeps what says that they are one, so that what follows is reached.

#![no_main]

use elfscope_fuzz::{Random, feed, sections};
use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};

fuzz_target!(|bytes: &[u8]| feed("input", bytes));

/// Magic, class, order, type, machine, version.
const IDENT: usize = 24;
const SEEDS: [&[u8]; 5] = [
    include_bytes!("../../fixtures/bin/changed-puts-x86_64"),
    include_bytes!("../../fixtures/bin/relocatable-aarch64.o"),
    include_bytes!("../../fixtures/bin/other-i386.so"),
    include_bytes!("../../fixtures/bin/static-aarch64"),
    include_bytes!("../../fixtures/bin/pointers-relr-x86_64.so"),
];

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let mut random = Random(seed.into());
    let whole = SEEDS[random.below(SEEDS.len())];
    if size < 64 && whole.len() <= max_size {
        data[..whole.len()].copy_from_slice(whole);
        return whole.len();
    }
    let ident: Vec<u8> = data[..size.min(IDENT)].to_vec();
    let found = sections(&data[..size]);
    if random.below(2) == 0 && !found.is_empty() {
        // The bytes of one section or its header, nothing moves.
        let section = &found[random.below(found.len())];
        let part = if random.below(3) == 0 {
            section.header..section.header + 64
        } else {
            section.start..section.start + section.size
        };
        if !part.is_empty() && part.end <= size {
            fuzzer_mutate(&mut data[part.clone()], part.len(), part.len());
        }
        return size;
    }
    let size = fuzzer_mutate(data, size, max_size);
    if random.below(8) != 0 && size >= ident.len() {
        data[..ident.len()].copy_from_slice(&ident);
    }
    size
});
