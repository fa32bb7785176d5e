#!/usr/bin/env python3
"""Checks an elfscope archive without elfscope: python3 verify_archive.py ARCHIVE

A second implementation of what the rustdoc of the `schema` crate promises, with nothing but the standard library. It
recomputes `inputs`, `content` and the name of every edition, inflates every pack member by member, holds every document
to its canonical bytes, checks the digest of every `current.json` and derives the catalogue again. It hashes every published
source, counts its lines, and holds what functions cite to what their edition tells of its sources.

One line a finding; exit code 0 if there are none, 1 if there are, 2 for wrong usage.
"""

import hashlib
import json
import re
import struct
import sys
import zlib
from pathlib import Path

BUILD_ID = re.compile(r"([0-9a-f]{2}){4,64}|sha256-[0-9a-f]{64}")
EDITION = re.compile(r"[0-9a-f]{32}")
NOT_CONTENT = {"manifest.json", "packs.json", "meta.json"}
GZIP_HEADER = bytes.fromhex("1f8b08000000000000ff")
INDEX_PAGE = 16 * 1024
SHA256 = re.compile(r"[0-9a-f]{64}")
SORT_KEY = 192
MARKS = 128
PUBLISHED = {"md5-verified", "path-matched"}
# What functions repeat of a published source.
CITED = ("also", "level", "names", "path", "sha256", "tree")

# What each file of an edition holds.
SCHEMAS = {
    "callers.jsonl.gz": "archive.callers/1",
    "data.jsonl.gz": "archive.data/1",
    "fn.jsonl.gz": "archive.fn/1",
    "lookup.json": "archive.lookup/1",
    "lookup.jsonl.gz": "archive.lookup/1",
    "manifest.json": "archive.manifest/1",
    "meta.json": "archive.meta/1",
    "more.jsonl.gz": "archive.more/1",
    "packs.json": "archive.packs/1",
    "sources.jsonl.gz": "archive.sources/1",
}

# Members of an edition in `current.json` that the catalogue repeats.
INDEX_ENTRY = ("edition", "functions", "machine", "name", "package", "rows", "rows_with_line", "soname")


class Damaged(Exception):
    """What is wrong with one file."""


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def canonical(value):
    """The one way a document is written: sorted keys, no spaces, UTF-8, a line feed at the end."""
    return (json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False) + "\n").encode()


def refuse_float(text):
    raise Damaged(f"holds the number {text}, which is no integer")


def parse(data, schema):
    """Reads a document and holds it to its canonical bytes and its schema."""
    try:
        value = json.loads(data.decode(), parse_float=refuse_float, parse_constant=refuse_float)
    except ValueError as error:
        raise Damaged(f"is not UTF-8 JSON: {error}") from error
    # A key twice, another order, a space or another escape all give other bytes.
    if canonical(value) != data:
        raise Damaged("is not in canonical form")
    if not isinstance(value, dict) or value.get("schema") != schema:
        raise Damaged(f"does not say that its schema is {schema}")
    return value


def require(value, *keys):
    for key in keys:
        if key not in value:
            raise Damaged(f"lacks `{key}`")


def read(path):
    try:
        return path.read_bytes()
    except OSError as error:
        raise Damaged(f"can not be read: {error.strerror}") from error


def members(data):
    """(offset, what it inflates to) of every gzip member of a pack."""
    offset = 0
    while offset < len(data):
        if data[offset : offset + 10] != GZIP_HEADER:
            raise Damaged(f"has no fixed gzip header at offset {offset}")
        inflater = zlib.decompressobj(-15)
        try:
            # A slice that doubles keeps a pack of thousands of members from being copied for each of them.
            text, position, step = b"", offset + 10, 1 << 14
            while not inflater.eof:
                part = data[position : position + step]
                if not part:
                    raise Damaged(f"ends inside the member at offset {offset}")
                text += inflater.decompress(part)
                position, step = position + len(part), step * 2
        except zlib.error as error:
            raise Damaged(f"does not inflate at offset {offset}: {error}") from error
        end = position - len(inflater.unused_data)
        trailer = data[end : end + 8]
        if trailer != struct.pack("<II", zlib.crc32(text), len(text) & 0xFFFFFFFF):
            raise Damaged(f"has a wrong checksum or length at offset {offset}")
        yield offset, text
        offset = end + 8


class Archive:
    def __init__(self, root):
        self.root = root
        self.findings = []
        self.counts = {"builds": 0, "editions": 0, "files": 0, "documents": 0, "sources": 0}
        # The digest of a published source -> what its lines are, or None where it is missing or damaged.
        self.sources = {}
        # build id -> its parsed current.json
        self.current = {}

    def check(self, path, function, *arguments):
        """Runs one check; what is damaged becomes a finding about the path."""
        try:
            return function(path, *arguments)
        except Damaged as damage:
            self.say(path, str(damage))
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            self.say(path, f"does not have the members of its schema: {type(error).__name__}: {error}")
        return None

    def say(self, path, what):
        self.findings.append(f"{path.relative_to(self.root)}: {what}")

    def run(self):
        for folder in sorted(self.root.iterdir()):
            if folder.is_dir() and BUILD_ID.fullmatch(folder.name):
                self.counts["builds"] += 1
                self.build(folder)
        self.sweep()
        self.index()

    def build(self, folder):
        manifests = {}
        for edition in sorted(folder.iterdir()):
            if edition.is_dir() and EDITION.fullmatch(edition.name):
                self.counts["editions"] += 1
                manifests[edition.name] = self.edition(folder.name, edition)
        current = self.check(folder / "current.json", self.read_current, folder.name)
        if current is None:
            return
        self.current[folder.name] = current
        for told in current["editions"]:
            name, path = told["edition"], folder / "current.json"
            if name not in manifests:
                self.say(path, f"lists the edition {name}, which is not there")
                continue
            manifest = manifests[name]
            if manifest is not None:
                self.check(path, self.compare_told, told, manifest)
        listed = {told["edition"] for told in current["editions"]}
        buried = {stone["edition"] for stone in current["tombstones"]}
        for name in sorted(listed & buried):
            self.say(folder / "current.json", f"lists the edition {name} and has its tombstone")

    def read_current(self, path, build_id):
        current = parse(read(path), "archive.current/1")
        self.counts["documents"] += 1
        if current["build_id"] != build_id:
            raise Damaged(f"is of the build {current['build_id']}")
        check = current.get("check")
        bare = {key: value for key, value in current.items() if key != "check"}
        if check != sha256(canonical(bare)):
            raise Damaged("does not have the check digest that its other members give")

        def rank(told):
            best = (told["has_dwarf"], told["sources"], told["rows_with_line"], told["named"],
                    told["derivation"], told["edition"])
            return (told["file"] == current["file"], *best)

        ranks = [rank(told) for told in current["editions"]]
        if ranks != sorted(ranks, reverse=True):
            raise Damaged("does not have its editions in order, the current one first")
        return current

    @staticmethod
    def compare_told(_path, told, manifest):
        for member in ("content", "inputs"):
            if told[member] != manifest[member]:
                raise Damaged(f"says another `{member}` of {told['edition']} than its manifest")
        if told["derivation"] != manifest["given"]["derivation"]:
            raise Damaged(f"says another derivation of {told['edition']} than its manifest")
        if told["file"] not in manifest["given"]["files"]:
            raise Damaged(f"says that {told['edition']} is of a file that its manifest does not have")

    def edition(self, build_id, folder):
        """Checks one edition and returns its manifest, or None where that is damaged."""
        manifest = self.check(folder / "manifest.json", self.read_manifest, build_id)
        packs = self.check(folder / "packs.json", self.read_packs)
        if manifest is None:
            return None
        stored = {pack["name"]: pack for pack in packs["packs"]} if packs else {}
        expected = {"manifest.json", "packs.json"}
        # From a path to what functions may say of it; None where that can't be known.
        cited = only_path
        if any(told["name"] == "sources.jsonl.gz" for told in manifest["files"]):
            cited = self.check(folder / "sources.jsonl.gz", self.read_sources)
        for told in manifest["files"]:
            name = told["name"]
            expected.add(name)
            if name.endswith(".jsonl.gz"):
                expected.add(index_name(name))
                self.check(folder / name, self.pack, told, stored.pop(name, None), cited)
            else:
                self.check(folder / name, self.plain, told)
        for name in sorted(stored):
            self.say(folder / "packs.json", f"tells of {name}, which the manifest does not have")
        for name in sorted({path.name for path in folder.iterdir()} - expected):
            self.say(folder / name, "is in no manifest")
        return manifest

    def read_manifest(self, path, build_id):
        data = read(path)
        manifest = parse(data, "archive.manifest/1")
        self.counts["documents"] += 1
        if sha256(data)[:32] != path.parent.name:
            raise Damaged(f"names the edition {sha256(data)[:32]}")
        if manifest["build_id"] != build_id:
            raise Damaged(f"is of the build {manifest['build_id']}")
        if manifest["inputs"] != sha256(canonical(manifest["given"])):
            raise Damaged("has another `inputs` than `given` gives")
        for told in manifest["files"]:
            require(told, "size")
        files = [[told["name"], told["sha256"]] for told in manifest["files"]]
        if files != sorted(files) or len({name for name, _ in files}) != len(files):
            raise Damaged("does not have its files in order, each once")
        content = [pair for pair in files if pair[0] not in NOT_CONTENT]
        if manifest["content"] != sha256(canonical(content)):
            raise Damaged("has another `content` than `files` gives")
        for member in ("files", "packages", "sources"):
            if manifest["given"][member] != sorted(manifest["given"][member]):
                raise Damaged(f"does not have `given.{member}` in order")
        return manifest

    def read_packs(self, path):
        packs = parse(read(path), "archive.packs/1")
        self.counts["documents"] += 1
        names = [pack["name"] for pack in packs["packs"]]
        for pack in packs["packs"]:
            require(pack, "members", "sha256", "size")
        if names != sorted(set(names)):
            raise Damaged("does not have its packs in order, each once")
        return packs

    def plain(self, path, told):
        data = read(path)
        self.counts["files"] += 1
        if len(data) != told["size"] or sha256(data) != told["sha256"]:
            raise Damaged("is not what the manifest says")
        parse(data, SCHEMAS[path.name])
        self.counts["documents"] += 1

    def read_sources(self, path):
        """Checks the sources that an edition tells of, and returns what its functions may say of them."""
        cited, last = {}, None
        for _, text in members(read(path)):
            for told in parse(text, "archive.sources/1")["sources"]:
                key = (sort_key(shown(told["path"])), name_key(told["path"]))
                if last is not None and last >= key:
                    raise Damaged(f"does not have {shown(told['path'])!r} in order")
                last = key
                published = told["level"] in PUBLISHED
                if published != ("sha256" in told) or published != ("lines" in told):
                    raise Damaged(f"does not say of {shown(told['path'])!r} what its level asks for")
                cited[canonical(told["path"])] = {
                    key: told[key] for key in CITED if key in told and (published or key == "path")
                }
                if published:
                    lines = self.source(told["sha256"])
                    if lines is None:
                        self.say(path, f"cites the source {told['sha256']}, which is missing or damaged")
                    elif lines != sha256(canonical(told["lines"])):
                        self.say(path, f"says other `lines` than {shown(told['path'])!r} has")
        return lambda path: cited.get(canonical(path))

    def source(self, digest):
        """The digest of how the lines of a published source lie; None where it is not what its name says."""
        if not SHA256.fullmatch(digest):
            raise Damaged(f"cites a source by {digest!r}")
        if digest not in self.sources:
            self.sources[digest] = self.check(self.root / "src" / digest, self.read_source)
        return self.sources[digest]

    def read_source(self, path):
        if path.is_symlink() or not path.is_file():
            raise Damaged("is missing, or no plain file")
        self.counts["sources"] += 1
        data = read(path)
        if sha256(data) != path.name:
            raise Damaged("does not have the bytes that its name says")
        starts = [match.start() for match in re.finditer(rb"[^\n]*\n|[^\n]+", data)]
        step = 1
        while len(starts[::step]) > MARKS:
            step *= 2
        lines = {"bytes": len(data), "marks": starts[::step], "step": step, "total": len(starts)}
        return sha256(canonical(lines))

    def sweep(self):
        """Looks at every file in `src/`, whether an edition cites it or not."""
        folder = self.root / "src"
        for path in sorted(folder.iterdir()) if folder.is_dir() else []:
            if SHA256.fullmatch(path.name):
                self.source(path.name)
            else:
                self.say(path, "is not called as a source is")

    @staticmethod
    def function(page, cited):
        """Holds what a page of a body cites to the edition's sources, and its places and frames to itself."""
        files, frames = page.get("files", []), page.get("frames", [])
        for file in files:
            told = {key: file[key] for key in CITED if key in file}
            if cited is not None and cited(file["path"]) != told:
                raise Damaged(f"cites {shown(file['path'])!r} otherwise than sources.jsonl.gz tells of it")

        def known(what, value, first, end):
            if value is not None and not (isinstance(value, int) and first <= value < end):
                raise Damaged(f"names the {what} {value}, which is none")

        for number, frame in enumerate(frames):
            known("parent", frame.get("parent"), 0, number)
            known("file", frame.get("call_file"), 0, len(files))
            known("line", frame.get("call_line"), 1, 1 << 32)
        for place in (run["at"] for run in page.get("runs", []) if run.get("at") is not None):
            known("file", place["file"], 0, len(files))
            known("frame", place.get("frame"), 0, len(frames))
            known("line", place["line"], 1, 1 << 32)

    def pack(self, path, told, stored, cited):
        data = read(path)
        self.counts["files"] += 1
        if stored is None:
            raise Damaged("is not in packs.json")
        if len(data) != stored["size"] or sha256(data) != stored["sha256"]:
            raise Damaged("is not stored as packs.json says")
        offsets, digest, size = [], hashlib.sha256(), 0
        for offset, text in members(data):
            offsets.append(offset)
            digest.update(text)
            size += len(text)
            if text.count(b"\n") != 1:
                raise Damaged(f"has more or less than one line in the member at offset {offset}")
            try:
                page = parse(text, SCHEMAS[path.name])
                if path.name == "fn.jsonl.gz":
                    self.function(page, cited)
            except Damaged as damage:
                raise Damaged(f"member {len(offsets) - 1} {damage}") from damage
        self.counts["documents"] += len(offsets)
        if size != told["size"] or digest.hexdigest() != told["sha256"]:
            raise Damaged("does not inflate to what the manifest says")
        if len(offsets) != stored["members"]:
            raise Damaged(f"has {len(offsets)} members, and packs.json says {stored['members']}")
        index = path.with_name(index_name(path.name))
        if read(index) != struct.pack(f"<{len(offsets) + 1}Q", *offsets, len(data)):
            raise Damaged(f"does not have its offsets in {index.name}")

    def index(self):
        """Derives the catalogue again from the current editions and compares."""
        builds = []
        for build_id, current in self.current.items():
            if current["editions"] and current["editions"][0]["file"] == current["file"]:
                first = current["editions"][0]
                entry = {member: first[member] for member in INDEX_ENTRY if member in first}
                builds.append({"build_id": build_id, **entry})
        builds.sort(key=lambda entry: (shown(entry["name"]), entry["build_id"]))
        path = self.root / "index.json"
        if not path.exists() and not self.current:
            return
        whole = {"builds": builds, "schema": "archive.index/1", "total": len(builds)}
        fits = len(canonical(whole)) <= INDEX_PAGE
        expected = whole if fits else {"schema": "archive.index/1", "total": len(builds)}
        self.check(path, self.compare_index, expected)
        pages = set()
        if not fits:
            for by in ("id", "name", "soname", "package"):
                # An id is sorted by its own first digits, then by its SHA-256 like all else.
                own = 12 if by == "id" else 0
                keyed = sorted(
                    (key.replace("sha256-", "s")[:own] + sha256(key.encode()), key, entry["build_id"], entry)
                    for entry in builds
                    if (key := index_key(by, entry)) is not None
                )
                self.index_pages(by, "", [(item[0], item[1], item[3]) for item in keyed], pages)
        for path in sorted((self.root / "index").rglob("*")):
            if path.is_file() and path not in pages:
                self.say(path, "is a page that the catalogue does not have")

    def index_pages(self, by, prefix, keyed, pages):
        """Walks the pages of one side of the catalogue: each either holds its builds or says which digits follow."""
        if not keyed:
            return
        path = self.root / "index" / by / f"{prefix or 'root'}.json"
        pages.add(path)
        page = self.check(path, lambda path: parse(read(path), "archive.index/1"))
        if page is None:
            return
        self.counts["documents"] += 1
        builds = [entry for _, _, entry in sorted(keyed, key=lambda item: (item[1], item[2]["build_id"]))]
        if "split" in page:
            digits = sorted({digest[len(prefix)] for digest, _, _ in keyed})
            if page["split"] != "".join(digits):
                self.say(path, f"says that the digits {page['split']} follow instead of {''.join(digits)}")
            for digit in digits:
                below = [item for item in keyed if item[0][len(prefix)] == digit]
                self.index_pages(by, prefix + digit, below, pages)
            return
        told = list(page.get("builds", []))
        for number in range(1, page.get("pages", 0) + 1):
            more = path.with_name(f"{path.stem}.{number}.json")
            pages.add(more)
            following = self.check(more, lambda path: parse(read(path), "archive.index/1"))
            told += following.get("builds", []) if following else []
        if told != builds:
            self.say(path, "does not have the builds that the current editions give")

    def compare_index(self, path, expected):
        index = parse(read(path), "archive.index/1")
        self.counts["documents"] += 1
        if index != expected:
            raise Damaged("is not what the current editions give")


def index_name(pack):
    return pack.removesuffix(".jsonl.gz") + ".idx"


def shown(name):
    """What can be shown of a name: the text, the lossy text, or the prefix."""
    return name if isinstance(name, str) else name.get("lossy", name.get("prefix"))


def only_path(path):
    """What functions may say of a file where the edition tells of no sources."""
    return {"path": path}


def sort_key(text):
    """The key that names are sorted by: the text, or its start and a digest."""
    data = text.encode()
    if len(data) <= SORT_KEY:
        return data
    start = data[:SORT_KEY]
    while data[len(start)] & 0xC0 == 0x80:
        start = start[:-1]
    return start + b"\x01" + sha256(data)[:16].encode()


def name_key(name):
    """How names with the same sort key are ordered: text, then bytes, then what is too long."""
    if isinstance(name, str):
        return (0, name.encode())
    if "hex" in name:
        return (1, name["hex"], name["lossy"].encode())
    return (2, name["length"], name["prefix"].encode(), name["sha256"])


def index_key(by, entry):
    """The text under which one side of the catalogue has a build, or None."""
    if by == "id":
        return entry["build_id"]
    if by == "package":
        return entry["package"].split(" ")[0] if "package" in entry else None
    return shown(entry[by]) if by in entry else None


def main(arguments):
    if len(arguments) != 1 or not Path(arguments[0]).is_dir():
        print("usage: verify_archive.py ARCHIVE (a folder)", file=sys.stderr)
        return 2
    archive = Archive(Path(arguments[0]))
    archive.run()
    for finding in archive.findings:
        print(finding)
    counts = ", ".join(f"{count} {what}" for what, count in archive.counts.items())
    print(f"{counts}: {len(archive.findings)} findings")
    return 1 if archive.findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
