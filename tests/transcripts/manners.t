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
