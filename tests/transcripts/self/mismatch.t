# This transcript is wrong on purpose: its test passes only if the runner says so.
$ echo one
two
