" Syntax of tensor programs. Most words of the language are words only in their place, so a tensor
" called `in` or `sum` is not marked.
if exists("b:current_syntax")
  finish
endif

syn case match
syn match tirOperator "[-+*/%&|^<>=!?:]"
syn match tirNumber "\<0x\x\+\>\|\<\d\+\>"
syn match tirNumber "\<\d\+\.\d\+\%([eE][-+]\=\d\+\)\=\>\|\<\d\+[eE][-+]\=\d\+\>"
syn match tirConstant "\<\%(else\|inf\|nan\|true\|false\)\>"
syn match tirType "\%(:\s*\)\@<=\<\%(f64\|f32\|f16\|bf16\|f8e4m3\|f8e5m2\|i64\|i32\|i16\|i8\|u8\|i4\|bool\)\>\|\<\%(f64\|f32\|f16\|bf16\|f8e4m3\|f8e5m2\|i64\|i32\|i16\|i8\|u8\|i4\|bool\)\>\ze\s*("
syn match tirFunction "\<\%(neg\|abs\|sign\|floor\|ceil\|round\|min\|max\|stop\|recip\|sqrt\|rsqrt\|exp\|exp2\|log\|log2\|sin\|cos\|tan\|atan2\|tanh\|erf\|sigmoid\|pow\|select\)\>\ze\s*("
syn match tirMonoid "\<\%(sum\|prod\|max\|min\|any\|all\|argmax\|argmin\|topk\|logsumexp\|online_softmax\|welford\|affine\)\>\ze\s*\%(([^()]*)\s*\)\=\[\%([^][]\|\[[^][]*\]\)*\]\s*("
syn match tirWord "\<\%(in\|sorted\|distinct\|wrt\|seed\|exact\|when\|identity\|combine\|commutative\)\>\ze\%(\s\|$\|[]\)},]\)"
syn match tirItem "\%(^\|[;{]\)\s*\zs\<\%(dim\|const\|input\|inout\|scalar\|output\|assume\|entry\|fn\|monoid\|import\|for\|grad\|schedule\|return\)\>\ze\s\+[A-Za-z0-9_(!\"-]"
syn region tirString start=+"+ end=+"+ oneline
syn match tirComment "#.*$" contains=@Spell

hi def link tirOperator Operator
hi def link tirNumber Number
hi def link tirConstant Constant
hi def link tirType Type
hi def link tirFunction Function
hi def link tirMonoid Special
hi def link tirWord Keyword
hi def link tirItem Statement
hi def link tirString String
hi def link tirComment Comment

let b:current_syntax = "tir"
