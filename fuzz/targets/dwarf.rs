//! Debug data: a fixture whose `.debug_*` sections alone are changed, with the headers of units and tables mostly kept.

#![no_main]

use elfscope_fuzz::{Random, feed, sections};
use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};

fuzz_target!(|bytes: &[u8]| feed("input", bytes));

const SEEDS: [&[u8]; 6] = [
    include_bytes!("../../fixtures/bin/dwarf5-dropped-bfd-x86_64.so"),
    include_bytes!("../../fixtures/bin/dwarf4-dropped-lld-x86_64.so"),
    include_bytes!("../../fixtures/bin/dwarf-lines-x86_64.so"),
    include_bytes!("../../fixtures/bin/dwarf5-relative-x86_64.so"),
    include_bytes!("../../fixtures/bin/dwarf-rust-x86_64.so"),
    include_bytes!("../../fixtures/bin/dwarf5-clang-x86_64.so"),
];

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let mut random = Random(seed.into());
    let whole = SEEDS[random.below(SEEDS.len())];
    let mut found = sections(&data[..size]);
    found.retain(|section| section.name.starts_with(b".debug_") && section.size > 0);
    if found.is_empty() {
        // It is none of ours, or has lost what is to be changed.
        if whole.len() <= max_size {
            data[..whole.len()].copy_from_slice(whole);
            return whole.len();
        }
        return size;
    }
    for _ in 0..=random.below(3) {
        let section = &found[random.below(found.len())];
        if random.below(16) == 0 {
            let cut = random.below(section.size) as u64;
            data[section.header + 0x20..section.header + 0x28].copy_from_slice(&cut.to_le_bytes());
            break;
        }
        let bytes = section.start..section.start + section.size;
        let before = data[bytes.clone()].to_vec();
        fuzzer_mutate(&mut data[bytes.clone()], section.size, section.size);
        if matches!(&section.name[..], b".debug_info" | b".debug_line") && random.below(8) != 0 {
            restore_headers(&mut data[bytes], &before);
        }
    }
    size
});

/// Gives units or line tables the lengths and versions back that they had.
fn restore_headers(bytes: &mut [u8], before: &[u8]) {
    let mut at = 0;
    while let Some(length) = before.get(at..at + 4).and_then(|length| length.first_chunk()) {
        let end = (at + 8).min(bytes.len());
        bytes[at..end].copy_from_slice(&before[at..end]);
        at = at.saturating_add(4).saturating_add(u32::from_le_bytes(*length) as usize);
    }
}
