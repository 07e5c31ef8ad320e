# Files that are not what they should be: each refusal names the place and what to do.

$ penstock plan mlp:layers=2,width=16,batch=4 --cluster flat:2,device=cpu --ranks 2 -q -o plan.json >/dev/null

$ head -c 300 plan.json >short.json; penstock check short.json
! penstock check: short.json:<number>:<number>: not JSON: <text>
? 3

$ : >empty.json; penstock check empty.json
! penstock check: empty.json: there is nothing in it
? 3

$ sed 's|penstock.plan/1|penstock.plan/2|' plan.json >next.json; penstock check next.json
! penstock check: next.json:2:13#/schema: expected schema "penstock.plan/1", found "penstock.plan/2"
! hint: it was written by another version of penstock
? 3

$ sed 's/"strategy"/"stratgey"/' plan.json >key.json; penstock run key.json
! penstock run: key.json:<number>:<number>: missing key "strategy"
! hint: is "stratgey" a misspelling of it?
? 3

$ sed 's/"microbatches": [0-9]*/"microbatches": -4/' plan.json >negative.json; penstock simulate negative.json
! penstock simulate: negative.json:<number>:<number>#/microbatches: <text>
? 3

$ sed 's/"gap": [0-9.e-]*/"gap": NaN/' plan.json >nan.json; penstock simulate nan.json
! penstock simulate: nan.json:<number>:<number>: not JSON: <text>
? 3

$ sed 's/"microbatch_size": [0-9]*/"microbatch_size": 99999999999999999999/' plan.json >huge.json; penstock run huge.json
! penstock run: huge.json:<number>:<number>: <text>
? 3

$ echo '{"schema": "penstock.cluster/1"}' >cluster.json; penstock simulate cluster.json
! penstock simulate: cluster.json: this is a cluster, and a plan is needed
? 3

$ echo '{"a": 1}' >unknown.json; penstock check unknown.json
! penstock check: unknown.json:1:1: neither a plan nor a program: it has no "schema"
? 3

$ penstock compare plan.json plan.json
! penstock compare: plan.json: this is a plan, and a timeline is needed
! hint: <text>
? 3

$ penstock check nothing
! penstock check: "nothing" is neither a file nor a schedule
? 2

$ mkdir folder; penstock check folder
! penstock check: folder: cannot read: Is a directory
? 3
