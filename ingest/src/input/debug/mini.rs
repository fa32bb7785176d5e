//! `.gnu_debugdata`: an xz-compressed ELF file with the symbols that the binary itself leaves out.

use std::io::Read as _;

use elfscope_schema::Found;

use super::DebugInput;
use crate::{
    diagnostics::Diagnostics,
    elf::Outline,
    input::{Bytes, Input},
    limits,
};

const SECTION: &str = ".gnu_debugdata";

/// Unpacks it; what is wrong with it costs only itself.
pub(super) fn unpack(binary: &Input, diagnostics: &mut Diagnostics) -> Option<DebugInput> {
    let elf = binary.outline().ok()?;
    let packed = elf.mini()?;
    let inflated = inflate(packed).and_then(|bytes| match Outline::read(&bytes, SECTION) {
        Ok(_) => Ok(bytes),
        Err(error) => Err(error.to_string()),
    });
    match inflated {
        Ok(bytes) => {
            let path = format!("{}: {SECTION}", binary.path.display()).into();
            let input = Input::new(path, SECTION.as_bytes(), Bytes::Owned(bytes), None);
            Some(DebugInput { input, found: Found::Minidebuginfo })
        }
        Err(reason) => {
            let message = format!("it can't be read: {reason}; names in it are lost");
            diagnostics.add("minidebuginfo-unreadable", SECTION.as_bytes(), message);
            None
        }
    }
}

fn inflate(packed: &[u8]) -> Result<Vec<u8>, String> {
    let concatenated = liblzma::stream::CONCATENATED;
    let stream = liblzma::stream::Stream::new_stream_decoder(limits::XZ_MEMORY, concatenated);
    let stream = stream.map_err(|error| error.to_string())?;
    let allowed =
        (packed.len() as u64 * limits::UNPACKED_RATIO).clamp(limits::MINIDEBUG_FLOOR, limits::MINIDEBUG);
    let mut bytes = Vec::new();
    let mut decoder = liblzma::bufread::XzDecoder::new_stream(packed, stream).take(allowed + 1);
    decoder.read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() as u64 > allowed {
        return Err(format!("its {} bytes unpack to more than the {allowed} that are allowed", packed.len()));
    }
    Ok(bytes)
}
