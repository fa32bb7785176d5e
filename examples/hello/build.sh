#!/bin/sh
# Builds hello for x86-64. The result is committed; gcc 12 and binutils 2.40 of Debian 12 give these bytes in any folder.
set -eu
export LC_ALL=C SOURCE_DATE_EPOCH=0
umask 022
out=$(mkdir -p "${1:-$(dirname "$0")}" && cd "${1:-$(dirname "$0")}" && pwd)
cd "$(dirname "$0")"
gcc -O2 -g -gdwarf-5 -ffile-prefix-map="$PWD"=. -fcf-protection=none -pie -fPIE \
	-Wl,--build-id=sha1 -Wl,-z,lazy -o "$out/hello" hello.c
chmod 755 "$out/hello"
