# Verbs, exit codes, and what stands where.

$ penstock
! usage: penstock VERB INPUT... [flags]
? 2

$ penstock pln
! penstock: there is no verb pln
! hint: did you mean plan?
? 2

$ penstock qwertyuiop
! hint: penstock --help lists the verbs
? 2

$ penstock --json plan
! penstock: the verb comes first, not --json
? 2

$ penstock --version
penstock <text>
...

# The answer is no: 1. Usage: 2. Bad input: 3. The machine lacks something: 4.
$ penstock schedule 1f1b --stages 2 --microbatches 2 --chunks 2
! penstock schedule: <text>
? 1
$ penstock schedule 1f1b --stages 2
! penstock schedule: "1f1b" does not say how many microbatches
? 2
$ penstock check ./absent.json
! penstock check: ./absent.json: cannot read: No such file or directory
? 3
$ penstock plan mlp:layers=2,width=16,batch=4 --cluster flat:2,device=cpu -q -o plan.json >/dev/null
$ penstock run plan.json --backend abacus
! penstock run: this build has no backend "abacus"
? 4

# Where standard output cannot take the answer, that is an error and not silence.
$ penstock schedules >/dev/full
! penstock schedules: <stdout>: cannot write: No space left on device
? 4
