" Comments, and :make with the compiler's errors in the quickfix list.
setlocal commentstring=#\ %s comments=:# expandtab shiftwidth=2 softtabstop=2
setlocal makeprg=tangc\ check\ %:S errorformat=%f:%l:%c:\ %trror:\ %m,%f:%l:%c:\ %tarning:\ %m
setlocal errorformat+=%f:%l:%c:\ %tote:\ %m,%-G%.%#
