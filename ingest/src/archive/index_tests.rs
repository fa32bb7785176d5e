//! Tests of the catalogue: bounds, order, and that changing it gives what deriving it gives.

use elfscope_schema::{CurrentEdition, Name, Sha256Digest, from_slice};

use super::*;

fn current(number: u64, name: &str, package: Option<&str>) -> Current {
    let digest = |what: &str| Sha256Digest::of(format!("{what} {number}").as_bytes());
    let file = digest("file");
    let mut current = Current {
        build_id: BuildId::from_note(&digest("build").as_bytes()[..20]).unwrap(),
        check: None,
        editions: vec![CurrentEdition {
            also: Vec::new(),
            content: digest("content"),
            derivation: 1,
            diagnostics: 0,
            edition: digest("edition").to_string()[..32].parse().unwrap(),
            file,
            functions: number,
            has_dwarf: false,
            inputs: digest("inputs"),
            machine: "x86-64".to_owned(),
            name: name.into(),
            package: package.map(str::to_owned),
            package_verified: Vec::new(),
            provenance: String::new(),
            rows: number * 20,
            named: 0,
            rows_with_line: 0,
            soname: name.contains(".so").then(|| name.into()),
            sources: 0,
        }],
        file,
        schema: schema::CURRENT.to_owned(),
        tombstones: Vec::new(),
    };
    current.seal();
    current
}

/// Looks a key up as a reader does: the builds that have it, and how many pages were read.
fn look_up(files: &BTreeMap<String, Vec<u8>>, by: By, key: &str) -> (Vec<BuildId>, usize) {
    let digest = by.digits(key);
    let read = |path: &str| files.get(path).map(|bytes| from_slice::<IndexPage>(bytes).unwrap());
    let mut reads = 0;
    for length in 0..64 {
        let prefix = &digest[..length];
        reads += 1;
        let Some(page) = read(&by.page(prefix)) else { break };
        let Some(mut builds) = page.builds else {
            if page.split.unwrap().contains(&digest[length..=length]) { continue } else { break }
        };
        for number in 1..=page.pages.unwrap_or(0) {
            builds.extend(read(&by.further(prefix, number as usize)).unwrap().builds.unwrap());
        }
        let found = builds.into_iter().filter(|entry| by.key(entry) == Some(key));
        return (found.map(|entry| entry.build_id).collect(), reads);
    }
    (Vec::new(), reads)
}

fn check_sizes(files: &BTreeMap<String, Vec<u8>>) {
    for (path, bytes) in files {
        assert!(bytes.len() <= limits::INDEX_PAGE, "{path} has {} bytes", bytes.len());
        assert!(elfscope_schema::is_canonical(bytes), "{path}");
    }
}

#[test]
fn twenty_thousand_builds_are_found_in_few_reads() {
    let builds: Vec<Current> = (0..20_000)
        .map(|number| {
            current(
                number,
                &format!("lib{}.so.1", number / 3),
                Some(&format!("pkg{} 1.0 amd64", number / 30)),
            )
        })
        .collect();
    let entries: Vec<IndexEntry> = builds.iter().filter_map(entry).collect();
    let files = derive(entries.clone());
    check_sizes(&files);
    let index: Index = from_slice(&files[store::INDEX]).unwrap();
    assert_eq!((index.builds, index.total), (None, 20_000));
    for entry in entries.iter().step_by(97) {
        for by in By::ALL {
            let key = by.key(entry).unwrap();
            let (found, reads) = look_up(&files, by, key);
            let expected = entries.iter().filter(|other| by.key(other) == Some(key)).count();
            assert!(
                found.contains(&entry.build_id) && found.len() == expected && reads <= 6,
                "{by:?} {key} {reads}"
            );
        }
    }
    assert_eq!(look_up(&files, By::Name, "libnone.so").0, []);
    let reversed = entries.into_iter().rev().collect();
    assert!(derive(reversed) == files);
}

#[test]
fn ids_are_found_by_their_start_and_long_starts_in_common_are_not_deep() {
    let with_id = |number: u64, id: String| {
        let mut current = current(number, &format!("lib{number}.so"), None);
        current.build_id = id.parse().unwrap();
        current
    };
    // A ladder: at every digit of a long id some ids turn off, and hundreds share all of it.
    let mut ids: Vec<String> = (0..120)
        .flat_map(|at| {
            let ladder = "a".repeat(at);
            ["b", "c"].map(|turn| format!("{:0<128}", format!("{ladder}{turn}")))
        })
        .collect();
    ids.extend((0..400).map(|number| format!("{}{number:08x}", "a".repeat(120))));
    ids.extend(
        (0..300).map(|number| format!("sha256-{}", Sha256Digest::of(&[number as u8, (number / 256) as u8]))),
    );
    ids.extend((0..300).map(|number| format!("aaaaaaaa{number:04x}")[..8 + 2 * (number % 3)].to_owned()));
    ids.sort();
    ids.dedup();
    let entries: Vec<IndexEntry> =
        (0..).zip(ids).filter_map(|(number, id)| entry(&with_id(number, id))).collect();
    let files = derive(entries.clone());
    check_sizes(&files);
    for entry in &entries {
        let (found, reads) = look_up(&files, By::Id, entry.build_id.as_str());
        assert_eq!(found, std::slice::from_ref(&entry.build_id));
        assert!(reads <= IndexPage::OWN_DIGITS + 4, "{} took {reads}", entry.build_id);
    }
    // All that start alike stand under one page.
    let own = |id: &str| IndexPage::own_digits(id);
    assert_eq!(
        (own("sha256-0123456789abcdef"), own("abcdef")),
        ("s0123456789a".to_owned(), "abcdef".to_owned())
    );
}

#[test]
fn a_thousand_builds_of_one_name_go_on_in_numbered_pages() {
    let builds = (0..1000).map(|number| current(number, "libc.so.6", Some("libc6 2.36 amd64")));
    let entries: Vec<IndexEntry> = builds.filter_map(|current| entry(&current)).collect();
    let files = derive(entries);
    check_sizes(&files);
    for (by, key) in [(By::Name, "libc.so.6"), (By::Soname, "libc.so.6"), (By::Package, "libc6")] {
        let (found, reads) = look_up(&files, by, key);
        assert_eq!((found.len(), reads), (1000, 1));
        assert!(found.is_sorted());
        assert!(files.contains_key(&by.further("", 1)));
    }
}

#[test]
fn names_at_their_longest_still_fit() {
    let long = Name::from_bytes(&[1; 4096]);
    let entries = (0..300).filter_map(|number| {
        let mut current = current(number, "x", Some(&"\u{1}".repeat(4000)));
        let told = &mut current.editions[0];
        told.name = crate::archive::clip::name(&long);
        told.soname = Some(told.name.clone());
        told.package =
            told.package.as_ref().map(|text| crate::archive::clip::text(text, crate::archive::clip::TEXT));
        entry(&current)
    });
    check_sizes(&derive(entries.collect()));
}

#[test]
fn changing_gives_what_deriving_gives() {
    let guard = tempfile::tempdir().unwrap();
    let archive = Archive::create(guard.path().join("archive")).unwrap();
    let name = |number: u64| match number % 4 {
        0 => "libc.so.6".to_owned(),
        1 => format!("lib{}.so", number / 40),
        _ => format!("tool{number}"),
    };
    let package = |number: u64| (!number.is_multiple_of(3)).then(|| format!("pkg{} 1", number % 5));
    let put = |current: &Current| {
        fs::create_dir_all(archive.build_path(&current.build_id)).unwrap();
        fs::write(archive.current_path(&current.build_id), to_canonical(current)).unwrap();
    };
    for number in 0..280 {
        put(&current(number, &name(number), package(number).as_deref()));
    }
    rebuild(&archive).unwrap();
    let mut seed = 1u64;
    let mut updates = 0;
    for _ in 0..220 {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let number = (seed >> 33) % 320;
        // Mostly fewer builds in the second half, so that pages grow together again.
        let mut now = current(number, &name(number + (seed >> 60) % 2), package(number).as_deref());
        if (seed >> 50) % 4 < 2 {
            now.editions.clear();
            now.seal();
        }
        put(&now);
        updates += u64::from(super::super::index_update::update(&archive, &now.build_id).unwrap());
        let (pointers, damaged) = read_pointers(&archive).unwrap();
        assert_eq!(damaged, []);
        let derived = derive(pointers.iter().filter_map(entry).collect());
        let stored = stored(&archive).unwrap();
        let stored: BTreeMap<String, Vec<u8>> = stored
            .into_iter()
            .map(|path| (path.clone(), fs::read(archive.root().join(path)).unwrap()))
            .collect();
        assert!(derived == stored, "after {number}");
    }
    assert_eq!(updates, 220, "some changes derived everything");
}
