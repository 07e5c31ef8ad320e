# Where answers and documents go.

$ penstock plan mlp:layers=2,width=16,batch=4 --cluster flat:2,device=cpu --ranks 2 -o plan.json | tail -1
mlp:layers=2,width=16 in 2 stages, <text>
! penstock: wrote plan.json

# A file that exists is refused before any work, and stays as it is; --force replaces it.
$ cp plan.json copy.json
$ penstock plan mlp:layers=3 --cluster flat:2,device=cpu -o plan.json
! penstock plan: plan.json: the file exists already
! hint: --force replaces it
? 2
$ cmp plan.json copy.json && echo same
same
$ penstock plan mlp:layers=3,batch=4 --cluster flat:2,device=cpu -o plan.json --force -q >/dev/null
$ cmp -s plan.json copy.json || echo replaced
replaced

# -: the document on standard output, and nothing else there.
$ penstock simulate copy.json -o - | head -2
{
  "schema": "penstock.timeline/1",

# A document from standard input.
$ penstock check - <copy.json | head -1
sound         yes
$ head -c 100 copy.json | penstock check -
! penstock check: <stdin>:<number>:<number>: not JSON: <text>
? 3

# --json of plan is what -o writes, to the byte; so is the same plan made again.
$ penstock plan mlp:layers=2,width=16,batch=4 --cluster flat:2,device=cpu --ranks 2 --json | cmp - copy.json && echo same
same

# Verbs without a document write their answer.
$ penstock schedules --json -o schedules.json; head -2 schedules.json
{
  "schema": "penstock.schedules/1",
! penstock: wrote schedules.json

# With --json an error leaves standard output empty.
$ penstock run absent.json --json
! penstock run: absent.json: cannot read: No such file or directory
? 3

# -q silences all talk but errors.
$ penstock schedules -q -o quiet.txt 2>talk.txt; wc -c <talk.txt
0

# No folder, no file, and no trace of an attempt.
$ penstock schedules -o absent/schedules.txt
! penstock schedules: absent/schedules.txt: --output: cannot write: No such file or directory
! hint: its folder must exist
? 2
$ ls
copy.json
plan.json
quiet.txt
schedules.json
talk.txt
