$ penstock plan mlp:layers=2,width=16,input=8,batch=4 --cluster flat:2,device=cpu --ranks 2 --schedule 1f1b --microbatch 1 -q -o plan.json >/dev/null
$ printf 'the quick brown fox jumps over the lazy dog, and does so again and again' >text.txt

$ penstock run plan.json --steps 5 --data text.txt -o measured.json
program          1f1b, 2 stages, 4 microbatches
backend          cpu
instruction set  <text>
data             text.txt
steps            5
iteration time   <text>
throughput       <number> samples/s
bubble           <number> %
first loss       <number>
last loss        <number>
weights digest   <hex>

devices, in the median step
  rank <text>
     0 <text>
     1 <text>
! penstock: wrote measured.json

# Pipelined or not, the bits are the same; another seed, other weights.
$ penstock run plan.json --steps 5 --data text.txt --json | grep -E '"(losses|weights_digest)"' >pipelined
$ penstock run plan.json --steps 5 --data text.txt --json --reference | grep -E '"(losses|weights_digest)"' | cmp - pipelined && echo same
same
$ penstock run plan.json --steps 5 --data text.txt --json --seed 1 | grep '"weights_digest"' | cmp -s - pipelined || echo differs
differs
$ grep -o '"losses": \[.*\]' pipelined | tr ',' '\n' | wc -l
5

# A checkpoint and what it resumes to: the losses that an undisturbed run has.
$ penstock run plan.json --steps 3 --data text.txt --checkpoint c.ckpt --json | grep checkpoint_step
  "checkpoint_step": 3,
$ penstock run plan.json --steps 5 --data text.txt --resume c.ckpt --checkpoint c.ckpt --json | grep '"weights_digest"' >resumed; grep -cFf resumed pipelined
1
$ ls c.ckpt*
c.ckpt
c.ckpt.previous
$ printf X | dd of=c.ckpt bs=1 seek=60 conv=notrunc 2>/dev/null; penstock run plan.json --steps 5 --data text.txt --resume c.ckpt --json | grep first_step
  "first_step": 3,
! penstock: warning: c.ckpt: the checkpoint is damaged: the header has another checksum, at byte 16 <text>
$ printf X | dd of=c.ckpt.previous bs=1 seek=60 conv=notrunc 2>/dev/null; penstock run plan.json --steps 5 --data text.txt --resume c.ckpt
! penstock run: c.ckpt: the checkpoint is damaged: the header has another checksum, at byte 16
! hint: nor does the one before it serve: c.ckpt.previous: the checkpoint is damaged<text>
? 3
$ penstock run plan.json --steps 3 --data text.txt --checkpoint d.ckpt -q >/dev/null; penstock run plan.json --steps 3 --data text.txt --resume d.ckpt
! penstock run: the checkpoint has 3 steps done, and 3 are asked for
! hint: --steps counts from the start of training: give more than 3
? 2
$ penstock run plan.json --data text.txt --resume d.ckpt --seed 4
! penstock run: d.ckpt: the checkpoint is of a run with seed 0, not 4
! hint: --seed 0
? 2
$ penstock plan mlp:layers=2,width=16,input=8,batch=4 --cluster flat:2,device=cpu --ranks 2 --schedule 1f1b --microbatch 1 --optimizer adamw:clip=0 -q -o adamw.json >/dev/null; penstock run adamw.json --data text.txt --resume d.ckpt
! penstock run: d.ckpt: the checkpoint is of another plan<text>
! hint: resume with a plan of the same workload, optimizer, global batch, microbatch size and replicas
? 1
$ penstock run plan.json --data text.txt --checkpoint /dev/null
! penstock run: /dev/null: this is no regular file
! hint: a checkpoint replaces a file: name a regular one, or a new one in a folder that is there
? 2
$ rm c.ckpt; penstock run plan.json --data text.txt --checkpoint c.ckpt
! penstock run: c.ckpt.previous: the file exists already
! hint: it would be replaced too: --force replaces both
? 2
$ penstock run plan.json --data text.txt --reference --deadline 3s
! penstock run: --deadline means nothing with --reference, which waits for no other rank
! hint: penstock run --help shows what goes
? 2

# A line of JSON a step, and evaluations between them.
$ penstock run adamw.json --steps 4 --data text.txt --metrics - --evaluate text.txt --evaluate-every 2 | cut -d'"' -f2,4,6
schema<text>
step<text>loss<text>
step<text>loss<text>
steps<text>evaluation_loss<text>evaluation_accuracy
step<text>loss<text>
step<text>loss<text>
steps<text>evaluation_loss<text>evaluation_accuracy

# Whether what is to be written can be is asked before the work.
$ penstock run plan.json --data text.txt --metrics no/such/folder
! penstock run: no/such/folder: --metrics: cannot write: No such file or directory
! hint: its folder must exist
? 2
$ penstock run plan.json --data text.txt --chrome same --metrics ./same
! penstock run: ./same: --metrics: --chrome goes there already
! hint: name another file
? 2
$ penstock run plan.json --data text.txt --checkpoint d.ckpt
! penstock run: d.ckpt: the file exists already
! hint: --force replaces it
? 2
$ penstock run plan.json --checkpoint-every 3
! penstock run: --checkpoint-every means nothing without --checkpoint
! hint: give --checkpoint too, or leave --checkpoint-every out
? 2
$ penstock run plan.json --evaluate-batches 8
! penstock run: --evaluate-batches means nothing without --evaluate
! hint: give --evaluate too, or leave --evaluate-batches out
? 2
$ penstock run plan.json --data text.txt --steps 5 --resume d.ckpt --metrics d.ckpt --force
! penstock run: d.ckpt: --metrics: --resume reads this file
! hint: name another file
? 2
$ penstock run plan.json --data . --metrics short.txt --force
! penstock run: short.txt: --metrics: --data reads the texts and images of this folder
! hint: name a file elsewhere
? 2
$ penstock run plan.json --data text.txt --checkpoint f.ckpt -o f.ckpt.previous
! penstock run: f.ckpt.previous: --checkpoint: --output goes there already
! hint: name another file
? 2
$ mkdir g.ckpt.partial; penstock run plan.json --data text.txt --checkpoint g.ckpt
! penstock run: g.ckpt.partial: --checkpoint: this is a folder, and a file of this name is written too
! hint: name another file, or move this away
? 2
$ penstock run plan.json --data nothing-there --metrics kept.jsonl; ls kept.jsonl
! penstock run: nothing-there: cannot read: No such file or directory
! hint: <text>
! ls: <text>
? 2
$ penstock run plan.json --deadline 0s
! penstock run: --deadline: "0s" is no time at all
! hint: write 30s or 500ms
? 2

# By default it trains on the documents that come with it.
$ penstock run plan.json --steps 1 --json | grep -cE '"(iteration_time_s|losses|weights_digest|devices|backend|instruction_set|steps)"'
7

$ : >empty.txt; penstock run plan.json --data empty.txt
! penstock run: empty.txt: the data file is empty
? 3
$ echo hi >short.txt; penstock run plan.json --data short.txt
! penstock run: short.txt: 3 bytes of text, but one sample takes 9 (a window and the byte after it)
! hint: give a longer text with --data, or a workload with a shorter sequence
? 3
$ penstock run plan.json --data absent.txt
! penstock run: absent.txt: cannot read: No such file or directory
? 3
$ penstock run plan.json --ranks 3
! penstock run: --ranks 3: the plan is for 2
! hint: plan again with --ranks 3
? 1
$ penstock run plan.json --steps -5
! penstock run: --steps: -5 is out of range
? 2
$ penstock run plan.json --deadline soon
! penstock run: --deadline: "soon" is not a time: it does not start with a number
? 2

# A plan whose layers do not fit its limit is refused before anything starts.
$ sed 's/"memory_limit_bytes": [0-9]*/"memory_limit_bytes": 1000/' plan.json >tight.json; penstock run tight.json --data text.txt
! penstock run: the program is not sound: R8: <text>
? 1

# A learning rate beyond reason: the loss leaves the numbers, and the run says so.
$ penstock plan mlp:layers=2,width=16,input=8,batch=4 --cluster flat:2,device=cpu --ranks 2 --optimizer sgd:learning-rate=100000 -q -o wild.json >/dev/null
$ penstock run wild.json --steps 50 --data text.txt --json
! penstock run: <text>
? 5

# Measured elsewhere: a warning, not a refusal.
$ sed 's/"costs": "derived"/"costs": "profiled"/; s/"profile_machine": "[^"]*"/"profile_machine": "Z80"/' plan.json >elsewhere.json; penstock run elsewhere.json --steps 1 --data text.txt --json | head -1
{
! penstock: warning: the plan's times were measured on a Z80, and this is a <text>

# A plan for other devices, or for more ranks than there are cores: it runs, and says what to expect.
$ sed 's/"kind": "cpu"/"kind": "v100"/' plan.json >v100.json; penstock run v100.json --steps 1 --data text.txt --json | head -1
{
! penstock: warning: the plan is for v100; running it on CPU threads
$ ranks=$(($(nproc) + 1)); penstock plan mlp:layers=$((2 * ranks)),width=16,input=8,batch=2 --cluster this-machine --ranks $ranks -o many.json | grep '^note: .*share'
note: <number> ranks share <number> core<text> of this machine: they take turns, and the times above count that
! penstock: wrote many.json
$ penstock run many.json --steps 1 --data text.txt --json | head -1
{

# `sh stop INT m COMMAND…` runs the command with its metrics in m, and interrupts it once they tell of its first step. What
# $before says is done first.
$ cat >stop <<'EOF'
> signal=$1 metrics=$2; shift 2
> (for i in $(seq 3000); do test -s $metrics && break; sleep 0.02; done; eval "$before"; kill -s $signal $(cat $metrics.pid)) >/dev/null 2>&1 &
> sh -c 'echo $$ >$0.pid; exec "$@"' $metrics "$@" --metrics $metrics
> EOF

# Interrupted: it finishes the step under way and says what was done.
$ sh stop INT m1 penstock run plan.json --steps 200000 --data text.txt -o part.json | grep -E '^(steps|note)'
steps            <number>
note: interrupted after <number> steps
note: the weights are not kept: --checkpoint FILE keeps them
! penstock: wrote part.json
$ sh stop INT m2 penstock run plan.json --steps 200000 --data text.txt >/dev/null
? 130

$ sh stop INT m3 penstock run plan.json --steps 200000 --data text.txt --evaluate text.txt --checkpoint e.ckpt | grep '^note'
note: interrupted after <number> steps
note: the loss on held-out data in the end is left out
note: e.ckpt keeps the state; to go on: penstock run plan.json --data text.txt --steps 200000 --resume e.ckpt --checkpoint e.ckpt

# Terminated is interrupted by another name, and so is training whose metrics nobody reads.
$ sh stop TERM m4 penstock run plan.json --steps 200000 --data text.txt --checkpoint t.ckpt >said; echo $?; grep -c 'interrupted after' said; ls t.ckpt
143
1
t.ckpt
! penstock: stopping; interrupt once more to end at once
$ (penstock run plan.json --steps 200000 --data text.txt --metrics - --checkpoint u.ckpt; echo $? >code) | head -2 | cut -c 1-9; cat code; ls u.ckpt
{"schema"
{"step": 
141
u.ckpt

# The reader of the answer is gone as well, by the same stroke: still interrupted. Of a pipe that is not the answer's the end is
# told.
$ (until test -e gone; do sleep 0.02; done; sh stop INT m6 penstock run plan.json --steps 200000 --data text.txt -q; echo $? >code) | (exec <&-; touch gone); cat code
130
$ mkfifo pipe; (: <pipe) & penstock simulate plan.json --steps 3000 --chrome pipe >answer; echo $?; grep -c '^iteration time' answer
141
1
! penstock simulate: pipe: cannot write: Broken pipe

# A checkpoint that cannot be written: what is kept instead is said.
$ export before='mkdir n.ckpt.partial'; sh stop INT m7 penstock run plan.json --steps 200000 --data text.txt --checkpoint n.ckpt -q >said; echo $?; grep kept said; ls n.ckpt
5
note: nothing of this run is kept: n.ckpt could not be written
! penstock run: n.ckpt<text>
! ls: <text>
? 2
$ export before='until test -e o.ckpt && mkdir o.ckpt.partial; do :; done'; sh stop INT m8 penstock run plan.json --steps 200000 --data text.txt --checkpoint o.ckpt --checkpoint-every 1 -q >said; echo $?; grep -c 'o.ckpt keeps the state after [0-9]* steps*, and nothing later; to go on: penstock run plan.json' said; ls o.ckpt
5
1
o.ckpt
! penstock run: o.ckpt<text>

# An evaluation however long is over at once.
$ sh stop INT m5 penstock run plan.json --steps 1 --data text.txt --evaluate text.txt --evaluate-batches 1000000 >said; echo $?; grep '^note' said
130
note: interrupted after 1 step
note: the loss on held-out data in the end is left out
! penstock: stopping; interrupt once more to end at once

# Metrics that find no room: said, at once and in the exit code; the answer is there.
$ penstock run plan.json --steps 3 --data text.txt --metrics /dev/full | grep -c '^last loss'
1
! penstock: warning: /dev/full: metrics end here, cannot write: No space left on device (hint: free some space)
! penstock run: /dev/full: metrics end here, cannot write: No space left on device
! hint: free some space
$ penstock run plan.json --steps 3 --data text.txt --metrics /dev/full -q >/dev/null
! penstock run: /dev/full: metrics end here, cannot write: No space left on device
! hint: free some space
? 4

# A decay that ends before the run does leaves the learning rate where it is.
$ penstock plan mlp:layers=2,width=16,input=8,batch=4 --cluster flat:2,device=cpu --ranks 2 --optimizer adamw:schedule=cosine,steps=4 -q -o decay.json >/dev/null; penstock run decay.json --steps 6 --data text.txt | grep '^note'
note: the learning rate is 0 from step 4 on: the plan's cosine schedule ends there, and no later step learns

# What is given is named, and what makes the thing that is needed.
$ penstock run resnet
! penstock run: resnet: this is a workload, and a plan is needed
! hint: penstock plan WORKLOAD --cluster CLUSTER -o plan.json makes one
? 3
$ penstock run measured.json
! penstock run: measured.json: this is a timeline, and a plan is needed
? 3
$ penstock run plan.json --deadline 5
! penstock run: --deadline: "5" has no unit
! hint: write e.g. 5s; units are ns, us, ms, s
? 2
$ penstock run plan.json --metrics
! penstock run: --metrics needs a value: --metrics FILE
? 2

# A network that reads images trains on synthetic ones, and says so; pipelined or not, the bits are the same.
$ penstock plan resnet:width=4,size=8,stages=2,batch=8 --cluster flat:2,device=cpu --ranks 2 --schedule 1f1b --microbatch 2 -q -o images.json >/dev/null
$ penstock run images.json --steps 3 | grep -E '^(steps|note)'
steps            3
note: trained on synthetic images; --data names a set of real ones
$ penstock run images.json --steps 3 --json | grep -E '"(losses|weights_digest)"' >pipelined
$ penstock run images.json --steps 3 --json --data synthetic --reference | grep -E '"(losses|weights_digest)"' | cmp - pipelined && echo same
same

# Or on MNIST's kind of files: here one image of 8 by 8, all zeros, of class 1.
$ mkdir digits; (printf '\000\000\010\003\000\000\000\001\000\000\000\010\000\000\000\010'; head -c 64 /dev/zero) >digits/train-images-idx3-ubyte; printf '\000\000\010\001\000\000\000\001\001' >digits/train-labels-idx1-ubyte
$ penstock plan resnet:width=4,size=8,channels=1,stages=2,batch=8 --cluster flat:2,device=cpu --ranks 2 -q -o digits.json >/dev/null
$ penstock run digits.json --steps 2 --data digits | grep -cE '^(last loss|note)'
1
$ penstock run images.json --data digits
! penstock run: digits/train-images-idx3-ubyte: byte 8: images of 1x8x8, but the workload reads 3x8x8
! hint: build the workload with channels=1,size=8
? 3
$ penstock run digits.json --data text.txt
! penstock run: text.txt: byte 0: magic number 0x74686520, but IDX images begin with 0x00000803
! hint: give an IDX file of images
? 3
