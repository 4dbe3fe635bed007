#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The syntax files for editors know each word of the grammar of specs/README, and Vim, where it is
# installed, colours the shipped specifications with them.

. "$(dirname "$0")/common.sh"

top=$here/../..
editors=$top/userspace/editors

ktap_header
if [ ! -e "$editors" ]; then
	ktap_skip "syntax files" "they are in klin's tree"
	ktap_finish
	exit
fi
# Some are no words alone: klin:NAME, @lin other.
sed -n '/^Grammar$/,/^Probe clauses$/p' "$top/specs/README" | grep -o '"[a-z_]*"' | tr -d '"' |
	sort -u | grep -vxE 'klin|lin|other' >words
[ "$(wc -l <words)" -gt 60 ]
ktap_result $? "the grammar's words are found" "$(cat words)"

sed -n 's/^syn keyword klin[A-Z][a-z]* //p' "$editors/klin.vim" | tr ' ' '\n' | sort -u >known
comm -23 words known >missing
[ ! -s missing ]
ktap_result $? "klin.vim knows each word" "$(cat missing)"

python3 - "$editors/klin.tmLanguage.json" words >missing 2>&1 <<'END'
import json
import re
import sys

patterns = json.load(open(sys.argv[1]))["patterns"]
keyword = [re.compile(p["match"]) for p in patterns
           if "match" in p and re.match("keyword|storage|support|constant.language", p.get("name", ""))]
for word in open(sys.argv[2]).read().split():
    if not any(k.fullmatch(word) for k in keyword):
        print(word)
for p in patterns:
    for part in ("match", "begin", "end"):
        re.compile(p.get(part, ""))
END
[ ! -s missing ]
ktap_result $? "klin.tmLanguage.json knows each word" "$(cat missing)"

# vim.tiny, which many systems have, cannot colour.
if ! vim --version 2>/dev/null | grep -q '+syntax'; then
	ktap_skip "Vim colours a specification" "vim is not installed"
	ktap_finish
	exit
fi
mkdir -p vim/syntax vim/ftdetect
cp "$editors/klin.vim" vim/syntax/klin.vim
cp "$editors/ftdetect.vim" vim/ftdetect/klin.vim
cat >look.vim <<'END'
set nocompatible runtimepath^=vim
filetype on
syntax on
edit queue.lin
call writefile([&filetype] + map(['SPDX', 'spec', 'word>', 'method', 'atomic_flush'],
	\ {_, w -> synIDattr(synID(search(w, 'w'), col('.'), 1), 'name')}), 'coloured')
qall!
END
cp "$specs/queue.lin" .
timeout -k 5 1200 vim -es -u look.vim -i NONE </dev/null >out 2>&1
[ "$(tr '\n' ' ' <coloured)" = \
	"klin klinComment klinDeclaration klinType klinDeclaration klinBlock " ]
ktap_result $? "Vim colours a specification" "$(cat coloured out)"
ktap_finish
