" SPDX-License-Identifier: GPL-2.0
" Vim syntax file for the language of klin's specifications, specs/README.

if exists("b:current_syntax")
	finish
endif

syn case match

syn keyword klinTodo contained TODO FIXME XXX
syn region klinComment start="/\*" end="\*/" contains=klinTodo,@Spell
syn match klinComment "//.*$" contains=klinTodo,@Spell
syn region klinString start=+"+ skip=+\\.+ end=+"+ oneline
syn match klinNumber "\<\(0[xX]\x\+\|\d\+\)\>"

" Declarations.
syn keyword klinDeclaration spec method probe history init final memory client thread struct shared
syn keyword klinDeclaration const partition by none
syn keyword klinType word bool data key lock
syn keyword klinType queue stack deque pqueue set map bag
syn keyword klinModel sc tso general roles ops values repeat min max

" Statements.
syn keyword klinStatement if else while do for in break continue return either or choose
syn keyword klinCheck assert assume
syn keyword klinBlock atomic atomic_flush
syn keyword klinFence fence wmb rmb
syn keyword klinLocked cas xchg fadd unlock call new
syn match klinPoint "@lin\>\(\s\+\(other\|if\)\>\)\?"

" Clauses of probes and histories.
syn keyword klinClause on inlined nothing object when argument result point at coverage asserted
syn keyword klinClause process failed unknown ignore refuse first any bits clock error

syn keyword klinConstant true false null self
syn keyword klinSpecial empty full absent

hi def link klinTodo Todo
hi def link klinComment Comment
hi def link klinString String
hi def link klinNumber Number
hi def link klinDeclaration Structure
hi def link klinType Type
hi def link klinModel PreProc
hi def link klinStatement Statement
hi def link klinCheck Exception
hi def link klinBlock Keyword
hi def link klinFence Keyword
hi def link klinLocked Operator
hi def link klinPoint Special
hi def link klinClause Label
hi def link klinConstant Boolean
hi def link klinSpecial Constant

let b:current_syntax = "klin"
