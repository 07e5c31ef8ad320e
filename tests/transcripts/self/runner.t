# What the runner promises, shown with nothing but a shell.

$ printf 'took %s ms\n# a title\n' 12.5
took <number> ms
\# a title

$ cat > list.txt <<'END'
> b
> a
> END

# The folder is kept from command to command, and holds only what the commands made.
$ ls; sort list.txt
list.txt
a
b

$ echo one; echo two; echo three
one
...

$ echo 'file.toml:3:9: no such key' >&2; exit 3
! file.toml:<number>:<number>: no such key
? 3

$ echo "$LC_ALL $TZ"
C UTC
