//! Where a build has code with a given digest, for many digests at once: neighbours in an index cost one read.

use elfscope_schema::{Address, BodyDigest, FunctionEntry, FunctionKey, Name, limits};
use serde::Serialize;

use crate::{
    Edition, Request, Result, Store,
    functions::key_of,
    raw,
    tree::{Key, Seek, damaged, index},
};

/// Most bodies that are told of one digest.
pub(super) const MOST: usize = 4;

/// A body with equal code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Same {
    /// The body.
    pub key: FunctionKey,
    /// The name that listings show of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<Name>,
}

/// A digest that is looked for.
#[derive(Clone, Copy)]
pub(super) struct Wanted {
    /// Whose it is.
    pub(super) number: usize,
    pub(super) body: BodyDigest,
}

impl<S: Store> Request<S> {
    /// The bodies that have each digest, nothing in them unknown; what there was no room to look for is left out.
    pub(super) async fn same_code_of(
        &mut self,
        edition: &Edition,
        mut wanted: Vec<Wanted>,
    ) -> Result<Vec<(usize, Vec<Same>)>> {
        wanted.sort_by_key(|one| one.body);
        let keys: Vec<Key> = wanted.iter().map(|one| Key::Text(one.body.to_string())).collect();
        let text = |digest: BodyDigest| format!("\"{digest}\"").into_bytes();
        let mut found: Vec<(usize, Vec<Address>)> = Vec::new();
        for (number, records) in self.records_at(edition, index::DIGEST, &keys, Seek::First).await? {
            let digest = text(wanted[number].body);
            let mut addresses = Vec::new();
            for record in records.iter().map(Vec::as_slice) {
                let parts = raw::elements(record).ok_or_else(|| damaged(edition))?;
                if let [told, address, b"true"] = parts.as_slice()
                    && *told == digest.as_slice()
                    && addresses.len() < MOST
                {
                    let address = raw::text(address).and_then(|address| address.parse::<Address>().ok());
                    addresses.push(address.ok_or_else(|| damaged(edition))?);
                }
            }
            found.push((wanted[number].number, addresses));
        }
        let mut addresses: Vec<Address> = found.iter().flat_map(|(_, addresses)| addresses.clone()).collect();
        addresses.sort_unstable();
        addresses.dedup();
        let keys: Vec<Key> = addresses.iter().map(|address| Key::Address(*address)).collect();
        let mut bodies: Vec<Same> = Vec::new();
        for (number, records) in self.records_at(edition, index::ADDRESS, &keys, Seek::Last).await? {
            let start = format!("[\"{}\",", addresses[number]);
            for record in records.iter().filter(|record| record.starts_with(start.as_bytes())) {
                if !self.budget().has(0, record.len()) {
                    break;
                }
                let entry: FunctionEntry = self.parse_record(edition, record)?;
                bodies.push(Same { key: key_of(&entry), name: entry.5.first().map(|name| name.0.clone()) });
            }
        }
        let body_at = |address: &Address| bodies.iter().find(|body| body.key.address == *address).cloned();
        // What isn't known of all its bodies is not known.
        let told = found.into_iter().filter_map(|(number, addresses)| {
            Some((number, addresses.iter().map(body_at).collect::<Option<Vec<_>>>()?))
        });
        Ok(told.collect())
    }

    /// For each of these keys (in order) that there is room for, the records of an index that may have it, unparsed: of the leaf
    /// that it leads to and the one after it. Records that don't start like the key are left out where that is cheap to see.
    async fn records_at(
        &mut self,
        edition: &Edition,
        index: &str,
        keys: &[Key],
        seek: Seek,
    ) -> Result<Vec<(usize, Vec<Vec<u8>>)>> {
        let mut found = Vec::new();
        let Some(root) = self.index_root(edition, index).await? else {
            return Ok((0..keys.len()).map(|number| (number, Vec::new())).collect());
        };
        let Some(first) = root.first_leaf else {
            let records: Vec<Vec<u8>> = root.leaf.iter().flatten().map(canonical).collect();
            let of = |key: &Key| records.iter().filter(|record| starts_with(record, key)).cloned().collect();
            return Ok(keys.iter().enumerate().map(|(number, key)| (number, of(key))).collect());
        };
        if keys.is_empty() || !self.budget().has(6, 3 * limits::INDEX_PAGE) {
            return Ok(found);
        }
        let leaves = self.leaves_of(edition, index, &root).await?;
        let mut places: Vec<(usize, u64)> = Vec::new();
        for (number, key) in keys.iter().enumerate() {
            // Tables cost two reads at most; two are kept for the leaves.
            if !self.budget().has(4, 2 * limits::INDEX_PAGE) {
                break;
            }
            let Some((ordinal, _)) = self.descend(edition, index, &root, key, seek).await? else { break };
            places.push((number, ordinal.saturating_sub(first)));
        }
        let mut wanted: Vec<u64> =
            places.iter().flat_map(|(_, leaf)| [*leaf, leaf + 1]).filter(|leaf| *leaf < leaves).collect();
        wanted.sort_unstable();
        wanted.dedup();
        let mut read: std::collections::BTreeMap<u64, Vec<Vec<u8>>> = std::collections::BTreeMap::new();
        let mut rest = wanted.as_slice();
        while !rest.is_empty() {
            let part = self.raw_leaves(edition, index, first, rest).await?;
            if part.is_empty() {
                break;
            }
            rest = &rest[part.len()..];
            for leaf in part {
                let records = leaf.records(edition)?.into_iter().map(<[u8]>::to_vec).collect();
                read.insert(leaf.number, records);
            }
        }
        for (number, leaf) in places {
            let both = [leaf, leaf + 1].into_iter().filter(|leaf| *leaf < leaves);
            let Some(both) = both.map(|leaf| read.get(&leaf)).collect::<Option<Vec<_>>>() else { continue };
            let records = both.into_iter().flatten().filter(|record| starts_with(record, &keys[number]));
            found.push((number, records.cloned().collect()));
        }
        Ok(found)
    }
}

fn canonical(record: &elfscope_schema::Record) -> Vec<u8> {
    let mut bytes = elfscope_schema::to_canonical(record);
    bytes.pop();
    bytes
}

/// Whether a record is an array that starts with the key.
fn starts_with(record: &[u8], key: &Key) -> bool {
    let key = match key {
        Key::Address(address) => address.to_string(),
        Key::Text(text) => text.clone(),
    };
    record.starts_with(format!("[\"{key}\",").as_bytes())
}
