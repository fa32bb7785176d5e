//! The MD5 that debug data gives a source file.

/// What the units that cite a file say of its MD5.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Md5 {
    /// None gives it.
    #[default]
    Unknown,
    /// Some give this one, others none: what these were compiled from is not known.
    Partly([u8; 16]),
    /// All give this one.
    Known([u8; 16]),
    /// They disagree: it was another file for each.
    Differs,
}

impl Md5 {
    /// What one unit says.
    pub(crate) fn of(md5: Option<[u8; 16]>) -> Self {
        md5.map_or(Self::Unknown, Self::Known)
    }

    /// What that unit and others say.
    pub(crate) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Unknown, Self::Unknown) => Self::Unknown,
            (Self::Known(a), Self::Known(b)) if a == b => Self::Known(a),
            (Self::Partly(a) | Self::Known(a), Self::Partly(b) | Self::Known(b)) if a == b => Self::Partly(a),
            (Self::Partly(a) | Self::Known(a), Self::Unknown)
            | (Self::Unknown, Self::Partly(a) | Self::Known(a)) => Self::Partly(a),
            _ => Self::Differs,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Md5;

    #[test]
    fn an_md5_is_known_where_every_unit_gives_it() {
        let (a, b) = ([1; 16], [2; 16]);
        for (units, expected) in [
            (&[Some(a)][..], Md5::Known(a)),
            (&[Some(a), Some(a)], Md5::Known(a)),
            (&[None, None], Md5::Unknown),
            (&[Some(a), None], Md5::Partly(a)),
            (&[None, Some(a), Some(a)], Md5::Partly(a)),
            (&[Some(a), Some(b)], Md5::Differs),
            (&[Some(a), None, Some(b)], Md5::Differs),
            (&[Some(a), Some(b), Some(a), None], Md5::Differs),
        ] {
            let all = units.iter().copied().map(Md5::of).reduce(Md5::and);
            assert_eq!(all, Some(expected), "{units:?}");
            assert_eq!(units.iter().rev().copied().map(Md5::of).reduce(Md5::and), all);
        }
    }
}
