//! Archives whose sources are not what their documents say.

use elfscope_core::{LeftOut, Request, limits::SOURCE_BYTES, window::From};
use elfscope_schema::{Name, Sha256Digest};
use pollster::block_on;

use super::{
    source,
    support::{
        MemoryStore,
        counting::CountingStore,
        sourced::{COMMON, LARGE, PUTS, archive, large, sourced},
    },
    text, window,
};

#[test]
fn damage_is_told() {
    let whole = archive(600).into_inner();
    let store = CountingStore::new(MemoryStore(whole.0.clone()));
    let edition = sourced(&store);
    for address in ["0x5000", "0x5100", "0x5200", "0x5300"] {
        let (entry, _) = block_on(Request::new(&store).function(&edition, address)).unwrap();
        let error = block_on(Request::new(&store).window(&edition, &entry, From::Row(0), 9)).unwrap_err();
        assert_eq!(error.code(), "E_DAMAGED", "{address}");
    }
    let blob = |bytes: &[u8]| format!("src/{}", Sha256Digest::of(bytes));
    let (puts, big) = (blob(PUTS.as_bytes()), blob(&large()));
    for (path, bytes) in [
        (&puts, None),
        (&puts, Some(PUTS.as_bytes()[..40].to_vec())),
        (&puts, Some(PUTS.replace("EOF", "NUL").into_bytes())),
        (&big, Some(large()[..3_000_000].to_vec())),
        (&big, None),
    ] {
        let mut damaged = MemoryStore(whole.0.clone());
        damaged.0.remove(path);
        damaged.0.extend(bytes.map(|bytes| (path.clone(), bytes)));
        let store = CountingStore::new(damaged);
        let (function, line) = if *path == puts { ("puts", 5) } else { ("large", 200_000) };
        let (window, _) = window(&store, &edition, function);
        assert_eq!(window.files[0].left_out, Some(LeftOut::Damaged));
        let told = text(&edition, &window);
        assert!(told.contains("source text left out here: the archive's copy of it is damaged"), "{told}");
        assert!(told.contains("nop"));
        let file = source(&store, &edition, window.files[0].path.text()).unwrap();
        let error = block_on(Request::new(&store).source_lines(&edition, &file, line, 1)).unwrap_err();
        assert_eq!(error.code(), "E_DAMAGED");
    }
    // Any byte of its documents.
    for path in whole.0.keys().filter(|path| path.contains("sources.jsonl") || path.contains("lookup")) {
        let length = whole.0[path].len();
        for at in (0..length).step_by(1 + length / 60) {
            let mut store = MemoryStore(whole.0.clone());
            store.0.get_mut(path).unwrap()[at] ^= 0x55;
            let store = CountingStore::new(store);
            block_on(async {
                if let Ok(file) = Request::new(&store).source(&edition, "large.c").await {
                    let _ = Request::new(&store).source_lines(&edition, &file, 200_000, 9).await;
                }
                let _ = Request::new(&store).cited_by(&edition, &Name::from(COMMON), 9, None).await;
            });
        }
    }
}

#[test]
fn a_record_that_lies_costs_no_more_than_its_limit() {
    let store = archive(16384);
    let edition = sourced(&store);
    let file = source(&store, &edition, LARGE).unwrap();
    // One mark: all before a line has to be read for it, and that is too much.
    let mut one = file.clone();
    let lines = one.lines.as_mut().unwrap();
    (lines.marks, lines.step) = (vec![0], 1 << 18);
    let mut request = Request::new(&store);
    let answer = block_on(request.source_lines(&edition, &one, 1, 9)).unwrap().value;
    assert_eq!((answer.lines.len(), answer.next_line), (9, Some(10)));
    assert!(request.budget().source <= SOURCE_BYTES);
    let error = block_on(Request::new(&store).source_lines(&edition, &one, 240_000, 9)).unwrap_err();
    assert_eq!(error.code(), "E_OVER_BUDGET", "{error}");
    for (marks, step, bytes) in [
        (vec![], 2048, 5_250_000),
        (vec![0], 0, 5_250_000),
        (vec![u64::MAX], 1 << 20, u64::MAX),
        (vec![9, 3], 1, 2),
        (vec![0], 1 << 20, u64::MAX),
    ] {
        let mut wrong = file.clone();
        let lines = wrong.lines.as_mut().unwrap();
        (lines.marks, lines.step, lines.bytes) = (marks, step, bytes);
        let mut request = Request::new(&store);
        let found = block_on(request.source_lines(&edition, &wrong, 1, 400));
        assert!(request.budget().source <= SOURCE_BYTES);
        if let Err(error) = found {
            assert_eq!(error.code(), "E_DAMAGED", "{error}");
        }
    }
}
