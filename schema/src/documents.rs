//! Every stored document, by the name it gives itself.

/// The names that documents give themselves in their member `schema`.
pub mod schema {
    /// [`crate::CallersPage`]
    pub const CALLERS: &str = "archive.callers/1";
    /// [`crate::Current`]
    pub const CURRENT: &str = "archive.current/1";
    /// [`crate::DataPage`]
    pub const DATA: &str = "archive.data/1";
    /// [`crate::FunctionPage`]
    pub const FN: &str = "archive.fn/1";
    /// [`crate::Index`] and [`crate::IndexPage`]
    pub const INDEX: &str = "archive.index/1";
    /// [`crate::Lookup`] and [`crate::LookupPage`]
    pub const LOOKUP: &str = "archive.lookup/1";
    /// [`crate::Manifest`]
    pub const MANIFEST: &str = "archive.manifest/1";
    /// [`crate::Meta`]
    pub const META: &str = "archive.meta/1";
    /// [`crate::More`]
    pub const MORE: &str = "archive.more/1";
    /// [`crate::Packs`]
    pub const PACKS: &str = "archive.packs/1";
    /// [`crate::SourcesPage`]
    pub const SOURCES: &str = "archive.sources/1";
}

/// One kind of document.
pub struct Document {
    /// Short name of its kind: of its sample and its JSON Schema file.
    pub name: &'static str,
    /// What it gives as its `schema`.
    pub schema: &'static str,
    /// Reads a document of this kind and writes it again, canonically.
    pub rewrite: fn(&[u8]) -> Result<Vec<u8>, serde_json::Error>,
    /// Its JSON Schema.
    #[cfg(feature = "schemars")]
    pub json_schema: fn() -> schemars::Schema,
}

macro_rules! documents {
    ($($name:literal, $schema:expr, $type:ty;)*) => {
        /// Every kind of document.
        pub const DOCUMENTS: &[Document] = &[$(Document {
            name: $name,
            schema: $schema,
            rewrite: |bytes| Ok(crate::to_canonical(&crate::from_slice::<$type>(bytes)?)),
            #[cfg(feature = "schemars")]
            json_schema: || schemars::schema_for!($type),
        }),*];
    };
}

documents! {
    "callers", schema::CALLERS, crate::CallersPage;
    "current", schema::CURRENT, crate::Current;
    "data", schema::DATA, crate::DataPage;
    "fn", schema::FN, crate::FunctionPage;
    "index", schema::INDEX, crate::Index;
    "index-page", schema::INDEX, crate::IndexPage;
    "lookup", schema::LOOKUP, crate::Lookup;
    "lookup-page", schema::LOOKUP, crate::LookupPage;
    "manifest", schema::MANIFEST, crate::Manifest;
    "meta", schema::META, crate::Meta;
    "more", schema::MORE, crate::More;
    "packs", schema::PACKS, crate::Packs;
    "sources", schema::SOURCES, crate::SourcesPage;
}
