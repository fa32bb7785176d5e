//! A function's declaration, written as C declares it whatever its language.
//!
//! Types stand under their own names, without the namespaces around them. What the debug data doesn't say is `?`. Parameters
//! that the compiler added (`DW_AT_artificial`: `this`) are left out.

use gimli::{AttributeValue, DwTag, constants as dw};

use super::{
    Slice,
    file::{Die, Files, UnitId},
};
use crate::limits;

type Entry<'a> = gimli::DebuggingInformationEntry<Slice<'a>>;

/// The declaration of a subprogram; none where it has no name, or would be too long.
pub(super) fn write<'a>(files: &Files<'a>, die: Die) -> Option<String> {
    let mut writer = Writer {
        files,
        is_c: is_c(files, die.unit),
        left: limits::SIGNATURE,
        names_left: limits::SIGNATURE_NAMES,
    };
    writer.function(die).filter(|text| text.len() <= limits::SIGNATURE)
}

/// The object that a member function is called on.
struct Member {
    class: String,
    /// What stands behind its parameters: ` const`.
    qualifiers: String,
}

struct Writer<'f, 'a> {
    files: &'f Files<'a>,
    /// Whether the function is in C, where a structure's name alone is no type. Its types may stand in partial units, which
    /// have no language (dwz).
    is_c: bool,
    /// Bytes that may still be written: types that contain each other grow without end.
    left: usize,
    /// Bytes of names that may still be read.
    names_left: usize,
}

impl<'a> Writer<'_, 'a> {
    fn function(&mut self, die: Die) -> Option<String> {
        // From the instance to what it is an instance of: parameters of an instance may be fewer.
        let mut chain = Vec::new();
        let mut next = Some(die);
        while let Some(die) = next.filter(|_| chain.len() < limits::DEBUG_CHAIN) {
            let entry = self.files.entry(die)?;
            let is_instance = entry.has_attr(dw::DW_AT_abstract_origin);
            next = self.files.origin(die.unit, &entry);
            chain.push((die, entry, is_instance));
        }
        let name = chain.iter().find_map(|(die, entry, _)| self.text(die.unit, entry))?;
        let returns =
            chain.iter().find_map(|(die, entry, _)| Some((die.unit, entry.attr_value(dw::DW_AT_type)?)));
        let source = chain.iter().position(|(_, _, is_instance)| !is_instance).unwrap_or(0);
        let mut parameters = self.parameters(chain[source].0, 0);
        let is_prototyped = chain.iter().any(|(_, entry, _)| entry.has_attr(dw::DW_AT_prototyped));
        for (die, _, _) in &chain[source + 1..] {
            if parameters.is_empty() {
                parameters = self.parameters(*die, 0);
            }
        }
        if parameters.is_empty() && chain.iter().any(|(die, entry, _)| self.takes_anything(die.unit, entry)) {
            parameters.push("...".to_owned());
        }
        let member = chain[source..].iter().find_map(|(die, _, _)| self.member_of(*die));
        let reference = chain.iter().find_map(|(_, entry, _)| reference(entry)).unwrap_or_default();
        let qualifiers = member.as_ref().map_or("", |member| member.qualifiers.as_str());
        let (inside, after) = match self.old_style(chain[source].0, &parameters, is_prototyped) {
            Some((names, declarations)) => (names, format!(" {declarations}")),
            None => (self.inside(&parameters, is_prototyped), format!("{qualifiers}{reference}")),
        };
        let declarator = format!("{name}({inside}){after}");
        // What makes or ends an object returns nothing, not even `void`; what converts one says what it returns in its name.
        let is_maker = member.as_ref().is_some_and(|member| plain(&member.class) == plain(&name))
            || name.starts_with('~');
        Some(match returns {
            None if is_maker => declarator,
            Some(_) if member.is_some() && is_conversion(&name) => declarator,
            Some((unit, value)) => match self.files.follow(unit, &value) {
                Some(returned) => self.declare(returned, declarator, 0),
                None => format!("? {declarator}"),
            },
            None => format!("void {declarator}"),
        })
    }

    /// What stands between a function's parentheses. In C `()` says nothing of parameters, and `(void)` that there are none.
    fn inside(&self, parameters: &[String], is_prototyped: bool) -> String {
        match parameters {
            [] if self.is_c && is_prototyped => "void".to_owned(),
            // So gcc tells that a function without prototype takes anything.
            [any] if self.is_c && !is_prototyped && any == "..." => String::new(),
            parameters => parameters.join(", "),
        }
    }

    /// Whether a function of C++ takes any parameters and names none: gcc 12 tells only its linkage name of them.
    fn takes_anything(&mut self, unit: UnitId, entry: &Entry<'a>) -> bool {
        let name = entry.attr_value(dw::DW_AT_linkage_name);
        let name = name.and_then(|name| self.files.text(unit, name, &mut self.names_left));
        // Where there are no parameters, `v` stands there.
        name.is_some_and(|name| name.starts_with(b"_Z") && name.ends_with(b"z"))
    }

    /// A function of C that declares its parameters but has no prototype is called as if it had none, so that its `float` is
    /// given as a `double`: it is written as it was defined. The names, and the declarations.
    fn old_style(
        &mut self,
        die: Die,
        parameters: &[String],
        is_prototyped: bool,
    ) -> Option<(String, String)> {
        if !self.is_c || is_prototyped {
            return None;
        }
        let mut names = Vec::new();
        self.children(die, &mut |writer, entry| {
            let is_parameter = entry.tag() == dw::DW_TAG_formal_parameter;
            if is_parameter {
                names.push(writer.text(die.unit, entry));
            }
            is_parameter
        });
        let names: Option<Vec<String>> = names.into_iter().collect();
        let names = names.filter(|names| !names.is_empty() && names.len() == parameters.len())?;
        Some((names.join(", "), parameters.iter().map(|one| format!("{one};")).collect::<Vec<_>>().join(" ")))
    }

    /// The object that a function is called on, by the type of its `this`; none where it is no member of a class.
    fn member_of(&mut self, die: Die) -> Option<Member> {
        let mut this = None;
        self.children(die, &mut |_, entry| {
            let is_this = entry.tag() == dw::DW_TAG_formal_parameter && entry.has_attr(dw::DW_AT_artificial);
            this = this.or_else(|| entry.attr_value(dw::DW_AT_type).filter(|_| is_this));
            entry.tag() == dw::DW_TAG_formal_parameter
        });
        let (mut unit, mut value) = (die.unit, this?);
        let (mut is_const, mut is_volatile, mut is_pointer) = (false, false, false);
        for _ in 0..limits::TYPE_DEPTH {
            let at = self.files.follow(unit, &value)?;
            let entry = self.files.entry(at)?;
            match entry.tag() {
                dw::DW_TAG_pointer_type => is_pointer = true,
                // `C *const this` says nothing of the object, `const C *` does.
                dw::DW_TAG_const_type => is_const |= is_pointer,
                dw::DW_TAG_volatile_type => is_volatile |= is_pointer,
                dw::DW_TAG_class_type | dw::DW_TAG_structure_type | dw::DW_TAG_union_type if is_pointer => {
                    let class = self.named(at.unit, &entry).unwrap_or_default();
                    let words = [(is_const, " const"), (is_volatile, " volatile")];
                    let qualifiers = words.iter().filter(|(is, _)| *is).map(|(_, word)| *word).collect();
                    return Some(Member { class: String::from_utf8_lossy(class).into_owned(), qualifiers });
                }
                _ => return None,
            }
            (unit, value) = (at.unit, entry.attr_value(dw::DW_AT_type)?);
        }
        None
    }

    /// The parameters of a subprogram or subroutine type.
    fn parameters(&mut self, die: Die, depth: usize) -> Vec<String> {
        let mut parameters = Vec::new();
        self.children(die, &mut |writer, entry| {
            match entry.tag() {
                dw::DW_TAG_formal_parameter if entry.has_attr(dw::DW_AT_artificial) => {}
                dw::DW_TAG_formal_parameter => {
                    let name = writer.text(die.unit, entry).unwrap_or_default();
                    parameters.push(writer.typed(die.unit, entry, name, depth));
                }
                dw::DW_TAG_unspecified_parameters => parameters.push("...".to_owned()),
                _ => return false,
            }
            writer.spend(2);
            true
        });
        parameters
    }

    /// Goes through the entries right below one, until the given function has not taken [`limits::PARAMETER_GAP`] entries, or
    /// nothing more may be written.
    fn children(&mut self, die: Die, take: &mut dyn FnMut(&mut Self, &Entry<'a>) -> bool) {
        let files = self.files;
        let Some((_, unit)) = files.unit(die.unit) else { return };
        let Ok(mut entries) = unit.entries_raw(Some(die.offset)) else { return };
        let mut entry = Entry::null();
        let (mut gap, mut in_pack) = (0, false);
        while !entries.is_empty() && gap <= limits::PARAMETER_GAP && self.left > 0 {
            // The entry itself is at depth 0.
            let depth = entries.next_depth();
            if depth <= 0 && entries.next_offset() != die.offset {
                return;
            }
            let Ok(is_entry) = entries.read_entry(&mut entry) else { return };
            gap += 1;
            if is_entry && depth == 1 {
                // The parameters of a pack stand below it.
                in_pack = entry.tag() == dw::DW_TAG_GNU_formal_parameter_pack;
            }
            let is_child = depth == 1 || depth == 2 && in_pack;
            if is_entry && is_child && take(self, &entry) {
                gap = 0;
            }
        }
    }

    /// Counts what is written.
    fn spend(&mut self, bytes: usize) {
        self.left = self.left.saturating_sub(bytes);
    }

    /// A declarator of the type that an entry has; `void` where it has none.
    fn typed(&mut self, unit: UnitId, entry: &Entry<'a>, declarator: String, depth: usize) -> String {
        match entry.attr_value(dw::DW_AT_type) {
            Some(value) => match self.files.follow(unit, &value) {
                Some(named) => self.declare(named, declarator, depth),
                None => spaced("?", &declarator),
            },
            None => spaced("void", &declarator),
        }
    }

    /// A declarator of a type: C writes types around what is declared.
    fn declare(&mut self, die: Die, declarator: String, depth: usize) -> String {
        let Some(entry) = self.files.entry(die).filter(|_| depth < limits::TYPE_DEPTH && self.left > 0)
        else {
            return spaced("?", &declarator);
        };
        self.spend(1);
        let (unit, tag) = (die.unit, entry.tag());
        match tag {
            dw::DW_TAG_pointer_type | dw::DW_TAG_reference_type | dw::DW_TAG_rvalue_reference_type => {
                if let Some(name) = self.text(unit, &entry) {
                    // Rust's pointers have names of their own.
                    return spaced(&name, &declarator);
                }
                let mark = match tag {
                    dw::DW_TAG_pointer_type => "*",
                    dw::DW_TAG_reference_type => "&",
                    _ => "&&",
                };
                let inner = format!("{mark}{declarator}");
                let inner = if self.binds_tighter(unit, &entry) { format!("({inner})") } else { inner };
                self.typed(unit, &entry, inner, depth + 1)
            }
            tag if is_qualifier(tag) => {
                let word = match tag {
                    dw::DW_TAG_const_type => "const",
                    dw::DW_TAG_volatile_type => "volatile",
                    dw::DW_TAG_restrict_type => "restrict",
                    _ => "_Atomic",
                };
                let of = self.unqualified(unit, &entry);
                let tag = of.as_ref().map(Entry::tag);
                let has_star = match tag {
                    Some(dw::DW_TAG_pointer_type | dw::DW_TAG_reference_type) => {
                        of.is_some_and(|of| !of.has_attr(dw::DW_AT_name))
                    }
                    tag => tag == Some(dw::DW_TAG_ptr_to_member_type),
                };
                if has_star {
                    // It stands behind that.
                    self.typed(unit, &entry, spaced(word, &declarator), depth + 1)
                } else if tag == Some(dw::DW_TAG_subroutine_type) {
                    // gcc's way to tell functions without effect and those that don't return: what they return isn't `const`.
                    self.typed(unit, &entry, declarator, depth + 1)
                } else {
                    format!("{word} {}", self.typed(unit, &entry, declarator, depth + 1))
                }
            }
            dw::DW_TAG_array_type => {
                let bounds = self.bounds(die);
                if entry.has_attr(dw::DW_AT_GNU_vector) {
                    let count = bounds.trim_matches(['[', ']']);
                    return format!("__vector({count}) {}", self.typed(unit, &entry, declarator, depth + 1));
                }
                self.typed(unit, &entry, format!("{declarator}{bounds}"), depth + 1)
            }
            dw::DW_TAG_subroutine_type => {
                let parameters = self.parameters(die, depth + 1);
                let inside = self.inside(&parameters, entry.has_attr(dw::DW_AT_prototyped));
                // Where it is of members.
                let qualifiers = self.member_of(die).map_or(String::new(), |member| member.qualifiers);
                let reference = reference(&entry).unwrap_or_default();
                let declarator = format!("{declarator}({inside}){qualifiers}{reference}");
                self.typed(unit, &entry, declarator, depth + 1)
            }
            dw::DW_TAG_ptr_to_member_type => {
                let class = entry.attr_value(dw::DW_AT_containing_type);
                let class = class.and_then(|value| self.files.follow(unit, &value));
                let named = class.and_then(|class| Some((class.unit, self.files.entry(class)?)));
                let name =
                    named.and_then(|(unit, class)| self.text(unit, &class)).unwrap_or_else(|| "?".to_owned());
                let inner = format!("{name}::*{declarator}");
                let inner = if self.binds_tighter(unit, &entry) { format!("({inner})") } else { inner };
                self.typed(unit, &entry, inner, depth + 1)
            }
            _ => {
                let name = self.text(unit, &entry).unwrap_or_else(|| "?".to_owned());
                match keyword(tag) {
                    Some(keyword) if self.is_c => spaced(&format!("{keyword} {name}"), &declarator),
                    _ => spaced(&name, &declarator),
                }
            }
        }
    }

    /// Whether what a pointer points to is written behind it, as an array or a function is.
    fn binds_tighter(&self, unit: UnitId, entry: &Entry<'a>) -> bool {
        self.unqualified(unit, entry).is_some_and(|of| match of.tag() {
            dw::DW_TAG_array_type => !of.has_attr(dw::DW_AT_GNU_vector),
            tag => tag == dw::DW_TAG_subroutine_type,
        })
    }

    /// The type of an entry without its qualifiers.
    fn unqualified(&self, mut unit: UnitId, entry: &Entry<'a>) -> Option<Entry<'a>> {
        let mut next = entry.attr_value(dw::DW_AT_type)?;
        for _ in 0..limits::TYPE_DEPTH {
            let at = self.files.follow(unit, &next)?;
            let entry = self.files.entry(at)?;
            if !is_qualifier(entry.tag()) {
                return Some(entry);
            }
            (unit, next) = (at.unit, entry.attr_value(dw::DW_AT_type)?);
        }
        None
    }

    /// The bounds of an array type, `[4][2]`.
    fn bounds(&mut self, die: Die) -> String {
        let mut bounds = String::new();
        self.children(die, &mut |writer, entry| {
            if entry.tag() != dw::DW_TAG_subrange_type {
                return false;
            }
            let number = |at| entry.attr_value(at).and_then(|value: AttributeValue<_>| value.udata_value());
            let upper = number(dw::DW_AT_upper_bound).and_then(|last| last.checked_add(1));
            match number(dw::DW_AT_count).or(upper) {
                Some(count) => bounds.push_str(&format!("[{count}]")),
                None => bounds.push_str("[]"),
            }
            writer.spend(2);
            true
        });
        bounds
    }

    /// The name of an entry. What stands for a type in a unit of its own may have none, but says which that is.
    fn named(&mut self, unit: UnitId, entry: &Entry<'a>) -> Option<&'a [u8]> {
        if let Some(name) = entry.attr_value(dw::DW_AT_name) {
            return self.files.text(unit, name, &mut self.names_left);
        }
        let at = self.files.follow(unit, &entry.attr_value(dw::DW_AT_signature)?)?;
        let name = self.files.entry(at)?.attr_value(dw::DW_AT_name)?;
        self.files.text(at.unit, name, &mut self.names_left)
    }

    /// The name of an entry, as far as names may still be written.
    fn text(&mut self, unit: UnitId, entry: &Entry<'a>) -> Option<String> {
        let name = self.named(unit, entry)?;
        if name.is_empty() || name.len() > self.left {
            self.left = if name.is_empty() { self.left } else { 0 };
            return None;
        }
        self.left -= name.len();
        Some(String::from_utf8_lossy(name).into_owned())
    }
}

fn is_c(files: &Files<'_>, unit: UnitId) -> bool {
    let root = files.unit(unit).and_then(|(_, unit)| unit.entry(unit.header.root_offset()).ok());
    let Some(AttributeValue::Language(language)) = root.and_then(|root| root.attr_value(dw::DW_AT_language))
    else {
        return false;
    };
    // The last is C23, which gimli 0.34 has no name for.
    [dw::DW_LANG_C, dw::DW_LANG_C89, dw::DW_LANG_C99, dw::DW_LANG_C11, dw::DW_LANG_C17, dw::DwLang(0x3e)]
        .contains(&language)
}

/// Whether a member function converts its object: its name is `operator` and a type.
fn is_conversion(name: &str) -> bool {
    let words = ["new", "delete", "co_await"];
    let to = name.strip_prefix("operator ");
    to.is_some_and(|to| !words.iter().any(|word| to.strip_prefix(word).is_some_and(|rest| !is_word(rest))))
}

/// Whether a text goes on with what may be a name's.
fn is_word(text: &str) -> bool {
    text.starts_with(|next: char| next.is_alphanumeric() || next == '_')
}

/// What a member function says of the value that it is called on.
fn reference(entry: &Entry<'_>) -> Option<&'static str> {
    let marks = [(dw::DW_AT_reference, " &"), (dw::DW_AT_rvalue_reference, " &&")];
    marks.iter().find_map(|(at, mark)| entry.has_attr(*at).then_some(*mark))
}

fn is_qualifier(tag: DwTag) -> bool {
    matches!(
        tag,
        dw::DW_TAG_const_type | dw::DW_TAG_volatile_type | dw::DW_TAG_restrict_type | dw::DW_TAG_atomic_type
    )
}

/// A class's or function's name without the arguments of its template.
fn plain(name: &str) -> &str {
    name.split('<').next().unwrap_or(name)
}

fn keyword(tag: DwTag) -> Option<&'static str> {
    match tag {
        dw::DW_TAG_structure_type => Some("struct"),
        dw::DW_TAG_union_type => Some("union"),
        dw::DW_TAG_enumeration_type => Some("enum"),
        _ => None,
    }
}

fn spaced(before: &str, declarator: &str) -> String {
    if declarator.is_empty() { before.to_owned() } else { format!("{before} {declarator}") }
}
