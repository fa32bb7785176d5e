//! Data: what is at an address, and which rows refer to it.

use elfscope_schema::{Address, DataItem, DataPage, limits};
use serde::Serialize;

use crate::{
    Answer, Edition, Error, Request, Result, Store, cursor,
    functions::{in_build, spell},
    tree::{Key, Seek, index},
};

const PACK: &str = "data.jsonl.gz";

/// What is at an address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DataAt {
    /// The address that was asked for.
    pub asked: Address,
    /// The items that start or lie there, each with the references and entries of one page.
    pub items: Vec<DataItem>,
}

impl<S: Store> Request<S> {
    /// The data items that have this address, with the rows that refer to them. Where an item's references go on past
    /// its page, the cursor goes on with them.
    ///
    /// # Errors
    /// [`Error::NotFound`] where nothing is known there, naming the section.
    pub async fn data(
        &mut self,
        edition: &Edition,
        asked: Address,
        cursor: Option<&str>,
    ) -> Result<Answer<DataAt>> {
        let question = format!("data {asked}");
        let name = edition.source().edition.as_str();
        let Some(root) = self.index_root(edition, index::DATA).await? else {
            return Err(self.nothing_at(edition, asked).await);
        };
        let start = match cursor {
            Some(cursor) => cursor::read::<1>(cursor, name, &question)?[0],
            None => {
                let key = Key::Address(asked);
                let found = self.descend(edition, index::DATA, &root, &key, Seek::First).await?;
                let Some((ordinal, _)) = found else { return Err(self.nothing_at(edition, asked).await) };
                ordinal
            }
        };
        let mut items: Vec<DataItem> = Vec::new();
        let mut next = None;
        let mut ordinal = start;
        // An item may stand at the end of the page that its key leads to, and go on over the next ones.
        while let Some(page) = self.member::<DataPage>(edition.folder(), PACK, ordinal).await? {
            items.extend(page.items.iter().filter(|item| has(item, asked)).cloned());
            if page.items.last().is_some_and(|item| item.address > asked) {
                break;
            }
            ordinal += 1;
            if !self.has_room(1, limits::PAGE) {
                // Going on is worth a cursor only inside an item that has more to tell.
                let unfinished = items.last().is_none_or(goes_on);
                next = unfinished.then_some([ordinal]);
                break;
            }
        }
        if items.is_empty() && next.is_none() && cursor.is_none() {
            return Err(self.nothing_at(edition, asked).await);
        }
        let next_cursor = next.map(|at| cursor::write(name, &question, at));
        Ok(Answer { source: edition.source().clone(), value: DataAt { asked, items }, next_cursor })
    }

    /// Says where in the binary an address is of which nothing is known.
    async fn nothing_at(&mut self, edition: &Edition, asked: Address) -> Error {
        let place = match self.meta(edition).await {
            Ok(meta) => {
                let inside = meta.sections.items.iter().find(|section| {
                    let size = u64::from_str_radix(&section.size, 16).unwrap_or(0);
                    let start = section.address;
                    start.section == asked.section
                        && (start.section != 0 || start.offset != 0)
                        && asked.offset.checked_sub(start.offset).is_some_and(|within| within < size)
                });
                match inside {
                    Some(section) => {
                        format!("{}, section {}", in_build(edition), crate::escape::name(section.name.text()))
                    }
                    None => format!("{}: it is in none of the sections listed first", in_build(edition)),
                }
            }
            Err(error) => return error,
        };
        Error::NotFound {
            what: "function or data item at",
            given: spell(asked),
            place,
            near: Vec::new(),
            fix: Some(
                "addresses are the file's own: `0x` and hex, or `s<section>-<hex>` in a relocatable file"
                    .to_owned(),
            ),
        }
    }
}

fn has(item: &DataItem, asked: Address) -> bool {
    item.address == asked
        || (item.address.section == asked.section
            && asked
                .offset
                .checked_sub(item.address.offset)
                .is_some_and(|within| within < item.size.unwrap_or(0)))
}

fn goes_on(item: &DataItem) -> bool {
    item.refs_from + (item.refs.len() as u64) < item.refs_total
        || item.entries_from + (item.entries.len() as u64) < item.entries_total
}
