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

# Layers that read each other in a circle; a cluster of nothing.
$ printf 'name = "c"\nglobal_batch = 4\n[[networks]]\nname = "n"\n[[networks.layers]]\nname = "a"\nkind = "gelu"\ninputs = ["b"]\noutput = {dimensions = [4]}\n[[networks.layers]]\nname = "b"\nkind = "gelu"\ninputs = ["a"]\noutput = {dimensions = [4]}\n' >circle.toml; penstock plan circle.toml --cluster flat:2,device=cpu
! penstock plan: circle.toml:8:11#/networks/0/layers/0/inputs/0: layer 'a' reads layer 'b', which does not come before it
! hint: list layers after those they read
? 3

$ printf 'name = "c"\nhosts = []\ndevices = []\n' >none.toml; penstock plan mlp --cluster none.toml
! penstock plan: none.toml:3:11#/devices: cluster 'c' has no devices
! hint: list at least one device
? 3
$ penstock plan mlp --cluster flat:0,device=cpu
! penstock plan: flat: the number of devices: 0 is out of range
! hint: it goes from 1 to 65536
? 2

# Sizes whose products would not fit.
$ printf 'name = "c"\nglobal_batch = 128\n[[networks]]\nname = "n"\n[[networks.layers]]\nname = "a"\nkind = "opaque"\noutput = {dimensions = [1125899906842624]}\n' >vast.toml; penstock plan vast.toml --cluster flat:2,device=cpu
! penstock plan: vast.toml:<number>:<number>#/networks/0/layers/0: up to layer 'a' a step of 128 samples takes more than 2^56 elements
! hint: check the dimensions and global_batch
? 3

# More microbatches than are worth trying.
$ penstock plan resnet:batch=1000000000 --cluster flat:2,device=cpu,memory=4GiB -q
! penstock plan: nothing fits: nearest is <text> with microbatches of 62500, <text>
! hint: try a smaller microbatch<text>
? 1

# A plan's own numbers, held against each other.
$ sed 's/"chunk": 0/"chunk": 1/' plan.json >chunk.json; penstock check chunk.json
! penstock check: chunk.json:<number>:<number>#/stages/0/chunk: stage 0 is chunk 1, and rank 0 holds 0 stages before it
! hint: the stages of a rank are its chunks 0, 1, … in their order
? 3
