" SPDX-License-Identifier: GPL-2.0
" The files *.lin are specifications of klin.
autocmd BufNewFile,BufRead *.lin setfiletype klin
