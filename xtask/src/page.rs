//! `cargo xtask test page`: the web page in a real browser, on an archive of fixtures, libc, and binaries made to harm it. See
//! `serve/clients/README.md`.

use std::{fs, path::Path};

use anyhow::{Context as _, Result, bail};

use crate::{
    clients::{Server, build},
    report::Report,
    run::{has, output, program, root},
    setup::{Inputs, node::Node},
};

/// The scripts.
const SCRIPTS: &str = "serve/clients/page";
/// The browser.
const BROWSER: &str = "/usr/bin/chromium";

/// Fixtures that the views are opened on.
const FIXTURES: [&str; 5] = [
    "changed-hello-x86_64",
    "changed-world-x86_64",
    "edges-x86_64.so",
    "pointers-aarch64.so",
    "relocatable-x86_64.o",
];

/// The source of a library whose names are changed to hostile ones afterwards: no compiler writes them.
const HOSTILE: &str = "int imported(const char *);
/* </script><script>alert(2)</script> <img src=x onerror=alert(6)> \u{202e}reversed\u{2066} \u{1b}[31m */
int longest(int n) { return n * 3; }
__attribute__((noinline)) int turned(int n) { return imported(\"<script>alert(4)</script>\u{202e}\") + longest(n); }
__attribute__((noinline)) int markup(int n) { return turned(n) + turned(n + 1) + longest(n); }
";

/// What each of its names becomes.
fn names() -> [(&'static str, String); 4] {
    [
        ("markup", "<img src=x onerror=alert(1)>".to_owned()),
        ("turned", "\u{202e}gnp.exe\u{1b}[31m\nnext\"'><script>alert(3)</script>".to_owned()),
        ("longest", "y".repeat(5000)),
        ("imported", "<b class=evil>imported</b>".to_owned()),
    ]
}

pub(crate) fn run(report: &mut Report) -> Result<()> {
    let node = match Node::find() {
        Ok(node) => node,
        Err(error) => {
            report.skip("the page", format!("{error:#}"));
            return Ok(());
        }
    };
    for (tool, package) in [(BROWSER, "chromium"), ("cc", "gcc"), ("objcopy", "binutils")] {
        if !Path::new(tool).is_file() && !has(tool) {
            report.skip("the page", format!("there is no {tool} (Debian's package `{package}`)"));
            return Ok(());
        }
    }
    let inputs = Inputs::find(false, report)?;
    let Some(libc) = &inputs.amd64 else {
        report.skip("the page", "there is no libc to show");
        return Ok(());
    };
    let folder = tempfile::tempdir()?;
    let elfscope = build(&[], &folder.path().join("elfscope"))?;
    let archive = folder.path().join("archive");
    let add = || {
        let mut add = program(&elfscope);
        add.arg("--archive").arg(&archive).arg("add");
        add
    };
    let hello = root().join("examples/hello");
    output(add().arg(hello.join("hello")).arg("--source").arg(&hello))?;
    output(add().args(FIXTURES.map(|name| root().join("fixtures/bin").join(name))))?;
    let mut with_libc = add();
    with_libc.arg(libc);
    if let Some(debug) = &inputs.amd64_debug {
        with_libc.arg("--debug").arg(debug);
    }
    if let Some(source) = &inputs.source {
        with_libc.arg("--source").arg(&source.tree);
    }
    output(&mut with_libc)?;
    let sources = folder.path().join("<b class=evil>");
    hostile(folder.path(), &sources)?;
    huge(folder.path())?;
    output(add().arg(folder.path().join("hostile.so")).arg("--source").arg(&sources))?;
    output(add().arg(folder.path().join("huge.so")))?;
    let server = Server::start(&elfscope, &archive)?;
    // Scripts find packages in the folders above them.
    let scripts = tempfile::tempdir_in(node.folder())?;
    for entry in fs::read_dir(root().join(SCRIPTS))? {
        let entry = entry?;
        fs::copy(entry.path(), scripts.path().join(entry.file_name()))?;
    }
    let mut command = program(node.program());
    command.arg(scripts.path().join("main.mjs"));
    command.arg(format!("http://127.0.0.1:{}", server.port())).args(["hostile.so", "huge.so"]);
    command.env("CHROMIUM", BROWSER).env("HOME", folder.path());
    // Where to put a picture of every view, for whoever wants to look.
    command.args(std::env::var_os("PAGE_PICTURES"));
    let said = command.output()?;
    let text = String::from_utf8_lossy(&said.stdout);
    let (before, last) = text.trim_end().rsplit_once('\n').unwrap_or(("", text.trim_end()));
    println!("{before}");
    print!("{}", String::from_utf8_lossy(&said.stderr));
    let Ok(told) = serde_json::from_str::<serde_json::Value>(last) else {
        bail!("the page's checks ended with {} and said `{last}`", said.status);
    };
    let passed = told["passed"].as_u64().context("no count")?;
    let failed = told["failed"].as_array().cloned().unwrap_or_default();
    println!("page: {passed} passed, {} failed", failed.len());
    report.pass_many(passed);
    for what in failed {
        report.fail(format!("page: {}", what.as_str().unwrap_or_default()));
    }
    Ok(())
}

/// A library with hostile names, strings, path and source.
fn hostile(folder: &Path, sources: &Path) -> Result<()> {
    fs::create_dir(sources)?;
    let source = "\u{202e}c.<img src=x>.c";
    fs::write(sources.join(source), HOSTILE)?;
    let (object, library) = (folder.join("hostile.o"), folder.join("hostile.so"));
    let mut compile = program("cc");
    compile.args(["-c", "-g", "-O1", "-fPIC", "-fno-inline", "-o"]).arg(&object).arg(source);
    output(compile.current_dir(sources))?;
    let mut rename = program("objcopy");
    for (name, hostile) in names() {
        rename.arg(format!("--redefine-sym={name}={hostile}"));
    }
    output(rename.arg(&object))?;
    output(program("cc").args(["-shared", "-nostdlib", "-Wl,--build-id", "-o"]).arg(&library).arg(&object))?;
    Ok(())
}

/// A library with a function of 100,002 rows.
fn huge(folder: &Path) -> Result<()> {
    let source = folder.join("huge.s");
    let text = "\t.text\n\t.globl huge\n\t.type huge, @function\nhuge:\n\t.rept 50000\n\tincl %eax\n\tnop\n\t.endr\n\
                \tnop\n\tret\n\t.size huge, . - huge\n";
    fs::write(&source, text)?;
    let library = folder.join("huge.so");
    output(program("cc").args(["-shared", "-nostdlib", "-Wl,--build-id", "-o"]).arg(&library).arg(&source))?;
    Ok(())
}
