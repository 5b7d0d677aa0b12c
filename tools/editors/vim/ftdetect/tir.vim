" Files of tensor programs.
autocmd BufRead,BufNewFile *.tir setfiletype tir
