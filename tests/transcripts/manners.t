# What goes wrong says what, where, and what to do next.

$ penstock simulaet x
! penstock: there is no verb simulaet
! hint: did you mean simulate?
? 2
$ penstock plan mlp --clutser flat:2
! penstock plan: there is no flag --clutser
! hint: did you mean --cluster?
? 2
$ penstock plan mlp
! penstock plan: --cluster CLUSTER is missing: <text>
! hint: --help shows examples
? 2
$ penstock plan mlp:layres=2 --cluster flat:2
! hint: <text>layers<text>
? 2
$ penstock plan mlp --cluster flta:2
! hint: <text>
? 2
$ penstock plan mlp --cluster flat:2 --schedule 1f1
! hint: did you mean '1f1b'?
? 2
$ penstock plan mlp --cluster flat:2 --strategy atuo
! penstock plan: --strategy: there is no strategy "atuo"
! hint: did you mean auto?
? 2
$ penstock schedule gpipe --stages 2 --microbatches 2 --p2p eagre
! penstock schedule: --p2p: "eagre" is none of eager, rendezvous
! hint: did you mean eager?
? 2
$ penstock schedules -q -v
! hint: drop one of them
? 2

# One document on standard output.
$ penstock plan mlp:layers=2,width=16,batch=4 --cluster flat:2 --ranks 2 -o plan.json | grep 'note: "flat'
note: "flat:2" names no device: ranks are this machine's CPUs (device=cpu)
$ penstock simulate plan.json -o - --chrome -
! penstock simulate: -: --chrome: --output goes there already
! hint: name another file
? 2
$ penstock simulate plan.json --chrome - | tail -1
}
$ penstock simulate plan.json --chrome - | grep -c 'iteration time'
0
? 1

# Standard input is there once.
$ penstock simulate plan.json -o p.json >/dev/null; penstock compare - - <p.json
! penstock compare: <stdin>: there is nothing in it
! hint: pipe a document into it; standard input can be read only once
? 3

# What never ends is not read to its end.
$ penstock check /dev/zero
! penstock check: /dev/zero: more than 1.00 GiB
! hint: <text>
? 3

# What a terminal would obey is written out.
$ penstock check "$(printf 'a\033[31mb')"
! penstock check: "a\x1b[31mb" is neither a file nor a schedule
? 2
$ sed "s/\"name\": \"1f1b\"/\"name\": \"1f1b\\\\u001b[2J\"/" plan.json >red.json; penstock simulate red.json 2>&1 | grep -c "$(printf '\033')"
0
? 1

# Colour only where it is wanted.
$ NO_COLOR= penstock schedule gpipe --stages 2 --microbatches 2 | grep -c "$(printf '\033')"
0
? 1
$ NO_COLOR= CLICOLOR_FORCE=1 penstock schedule gpipe --stages 2 --microbatches 2 | grep -c "$(printf '\033')"
2
$ NO_COLOR= CLICOLOR_FORCE=1 penstock schedule gpipe --stages 2 --microbatches 2 -o drawing.txt; grep -c "$(printf '\033')" drawing.txt
0
? 1
$ NO_COLOR=1 CLICOLOR_FORCE=1 penstock schedule gpipe --stages 2 --microbatches 2 | grep -c "$(printf '\033')"
0
? 1

# A plan that says of itself what is not so: its program may run, and is told apart from one that must not.
$ sed 's/"iteration_time_s": [0-9.e-]*/"iteration_time_s": 1.5/' plan.json >stale.json; penstock check stale.json | grep -E '^(sound|can run|Claims)'
sound         no
can run       yes
Claims that do not hold: <number> violations. The program itself is sound and can run, <text>
$ penstock check stale.json >/dev/null
? 1
$ penstock simulate stale.json >/dev/null
! penstock: warning: the plan's claims do not hold: an iteration takes <text>, not 1.50 s; penstock check says more
$ penstock run stale.json --steps 1 >/dev/null
! penstock: warning: the plan's claims do not hold: an iteration takes <text>, not 1.50 s; penstock check says more
$ penstock simulate plan.json 2>&1 | grep -c warning
0
? 1

# Timelines that name no plan are compared, and that is said.
$ sed 's/"plan_digest": "[0-9a-f]*"/"plan_digest": ""/' p.json >q.json; penstock compare q.json q.json | grep note
note: neither timeline says which plan it is of: <text>
$ penstock compare p.json q.json
! penstock compare: the timelines come from different plans (<text> and one that is not named)
? 1

# What is read is not written over, whatever it is called and whatever is forced.
$ penstock simulate plan.json --chrome plan.json --force
! penstock simulate: plan.json: --chrome: INPUT reads this file
! hint: name another file
? 2
$ ln plan.json hard.json; ln -s plan.json soft.json; penstock check soft.json -o hard.json --force
! penstock check: hard.json: --output: INPUT reads this file
! hint: name another file
? 2
$ penstock compare - p.json -o new.json --report ./p.json --force <p.json
! penstock compare: ./p.json: --report: PREDICTED reads this file
! hint: name another file
? 2
$ printf 'quiet = true\n' >flags.toml; penstock check plan.json --config flags.toml -o flags.toml --force
! penstock check: flags.toml: --output: --config reads this file
! hint: name another file
? 2
$ cat flags.toml
quiet = true
$ penstock plan mlp --cluster flat:2 -o "$(printf 'x%.0s' $(seq 300))"
! penstock plan: <text>: --output: cannot write: File name too long
! hint: give it a shorter name
? 2

# A full disk costs what was to be written there, and not the answer.
$ penstock simulate plan.json -o /dev/full | grep -c '^iteration time'
1
! penstock simulate: /dev/full: cannot write: No space left on device
! hint: free some space
$ penstock simulate plan.json --chrome /dev/full -o written.json >/dev/null; echo $?; ls written.json
4
written.json
! penstock simulate: /dev/full: cannot write: No space left on device
! hint: free some space
! penstock: wrote written.json
$ penstock check plan.json -o /dev/full | grep -c '^sound'
1
! penstock check: /dev/full: cannot write: No space left on device
! hint: free some space

# Nobody reads: an end without a word. Nobody hears: the exit code still tells.
$ (penstock schedule gpipe --stages 32 --microbatches 2048 --format csv; echo $? >code) | head -1; cat code
rank,op,stage,microbatch,slice,start,end
141
$ penstock check nofile 2>/dev/full
? 2
$ penstock run nofile 2>/dev/full
? 3
$ penstock 2>/dev/full
? 2
$ penstock version >&-
! penstock version: <stdout>: cannot write: Bad file descriptor
! hint: <text>
? 4

# What does nothing by itself is refused.
$ penstock simulate plan.json --width 50
! penstock simulate: --width means nothing without --gantt
! hint: give --gantt too, or leave --width out
? 2
$ penstock simulate plan.json --gantt -o -
! penstock simulate: --gantt draws on standard output, and a document goes there
! hint: write the document to a file, or leave --gantt out
? 2
$ penstock simulate gpipe:stages=2,microbatches=2 --no-contention
! penstock simulate: --no-contention: a schedule on its own knows of no contention
! hint: leave it out, or simulate a plan
? 2
$ penstock schedule gpipe:stages=2,microbatches=2 --width 50 --format csv
! penstock schedule: --width is of the drawing in the text, and another form is asked for
! hint: leave --width out
? 2
$ penstock plan mlp --cluster flat:2 --recompute all,none
! penstock plan: --recompute: "all" stands alone, and there is more in "all,none"
! hint: write all, or the kinds of layers
? 2

# One flag, on and off.
$ penstock simulate plan.json --contention --no-contention
! penstock simulate: --contention and --no-contention contradict each other
! hint: drop one of them
? 2
$ penstock simulate plan.json --contention >/dev/null

# A byte too few is still seen.
$ peak=$(grep -o '"peak_memory_bytes": [0-9]*' plan.json | head -1 | grep -o '[0-9]*$'); sed "s/\"peak_memory_bytes\": $peak/\"peak_memory_bytes\": $((peak - 64))/" plan.json >byte.json; penstock simulate byte.json 2>&1 >/dev/null | grep -cE "rank [0-9] takes $peak B, not $((peak - 64)) B"
1
