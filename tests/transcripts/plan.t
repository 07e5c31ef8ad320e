$ penstock plan mlp:layers=2,width=16,batch=8 --cluster flat:2,device=cpu --ranks 2 --schedule 1f1b --microbatch 2 -o plan.json
workload        <text> parameters, 8 samples a step, sequence <number>
cluster         2 x cpu, <number> <text>FLOP/s, <number> GiB; link <number> <text>B/s, <number> <text>s
transfers       rendezvous
strategy        auto
schedule        1f1b
microbatches    4 of 2 samples
costs           derived
iteration time  <text>
throughput      <number> samples/s
lower bound     <text>
gap             <number> %
plan space      <text>
what binds      <text>
...

stages: F, B+W and transfer of a microbatch, update of a step
  stage  rank  layers  from  <text>  transfer in <text>
      0     0  0-<text> - <text>
      1     1  <text>

devices
  rank  device  peak memory     limit
     0  cpu.0 <text>
     1  cpu.1 <text>

no plan of the space is faster than
  bound <text>
...

note: derived: at the devices' peak rates; a profile gives what they reach
note: only plans with one rank a stage were searched: --replicas any searches those with several too

mlp:layers=2,width=16 in 2 stages, 1f1b: <text> a step, <number> % of it provably needed.
! penstock: wrote plan.json

# The keys that others rely on.
$ grep -oE '^  "(strategy|objective|objective_unit|objective_s|schedule|microbatch_size|microbatches|iteration_time_s|throughput_samples_per_s|lower_bound_s|gap|plan_space|costs|stages|devices|binding_constraint|runner_up)"' plan.json | wc -l
17

# The same flags, the same bytes.
$ penstock plan mlp:layers=2,width=16,batch=8 --cluster flat:2,device=cpu --ranks 2 --schedule 1f1b --microbatch 2 --json | cmp - plan.json && echo same
same

$ penstock plan mlp:layers=2,width=16 --global-batch 12 --optimizer sgd:learning-rate=0.5,momentum=0 --cluster flat:2,device=cpu --json | grep -oE '"(learning_rate|momentum|global_batch)": [0-9.]+'
"global_batch": 12
"learning_rate": 0.5
"momentum": 0.0

# What a profile warns of, the plan made from it repeats; and times are no longer derived.
$ penstock profile mlp:layers=2,width=16 --microbatch 1 --budget 10ms -q --json | sed 's/"warnings": \[.*\]/"warnings": ["somebody played chess"]/' >profile.json
$ penstock plan mlp:layers=2,width=16,batch=8 --cluster this-machine --profile profile.json --microbatch 1 | grep '^note: [dt]he'
note: the profile warns: somebody played chess

# A memory limit that nobody can meet: by how much, and on which stage.
$ penstock plan mlp:layers=2,width=16,batch=8 --cluster flat:2,device=cpu --ranks 2 --memory-limit 10kB
! penstock plan: nothing fits: <text> stage <number> (layers <text>) takes <text> more than the <text> of its rank
! hint: <text>
? 1

$ penstock plan mlp:layers=2,width=16 --cluster flat:2,device=cpu --ranks 3
! penstock plan: --ranks 3: the cluster has 2 devices
? 1
$ penstock plan mlp:layers=1,width=16 --cluster flat:64,device=cpu --ranks 64
! penstock plan: <text>
? 1

$ penstock plan mlp:layers=2,width=16
! penstock plan: --cluster CLUSTER is missing: <text>
? 2
$ penstock plan mlp:layers=2,width=16 --clutser flat:2,device=cpu
! penstock plan: there is no flag --clutser
! hint: did you mean --cluster?
? 2
$ penstock plan mlp:layers=2,width=16 --cluster flta:2
! penstock plan: "flta:2" is neither a cluster's form nor a file
! hint: did you mean flat? <text>
? 2
$ penstock plan mlp:layers=2,width=16 --cluster cluster.toml
! penstock plan: cluster.toml: cannot read: No such file or directory
? 3
$ penstock plan mlp:layers=2,width=16 --cluster flat:2,device=cpu --schedule 1f1c
! penstock plan: no schedule is called '1f1c'
! hint: did you mean '1f1b'?
? 2
$ penstock plan mlp:layers=2,width=16 --cluster flat:2,device=cpu --memory-limit nan
! penstock plan: --memory-limit: "nan" is not a number of bytes: the number is not finite
? 2
$ penstock plan mlp:layers=2,width=16 --cluster flat:2,device=cpu --memory-limit 5GIB
! penstock plan: --memory-limit: "5GIB" is not a number of bytes: unknown unit "GIB"
! hint: did you mean GB? <text>
? 2
$ penstock plan mlp:layers=2,width=16 --cluster flat:2,device=cpu --ranks 99999999999999999999
! penstock plan: --ranks: 99999999999999999999 is out of range
? 2
$ penstock plan mlp:layers=-2 --cluster flat:2,device=cpu
! penstock plan: mlp: layers: -2 is out of range
? 2
$ penstock plan mlp:layers=2,width=16 --cluster flat:2,device=cpu --optimizer lion
! penstock plan: --optimizer: there is no optimizer "lion"
? 2
$ penstock plan mlp:layers=2,width=16 --cluster flat:2,device=cpu --strategy magic
! penstock plan: --strategy: there is no strategy "magic"
? 2

# A cluster from a file, with a slip in it.
$ cat >cluster.toml <<'END'
> schema = "penstock.cluster/1"
> nmae = "two"
> END
$ penstock plan mlp:layers=2,width=16 --cluster cluster.toml
! penstock plan: cluster.toml:<text>
! hint: <text>
? 3

# What is recomputed: said, and planned for; a kind that is not there is refused.
$ penstock plan mlp:layers=3,width=16,batch=8 --cluster flat:2,device=cpu --ranks 2 --recompute linear,gelu -o again.json | grep '^note: .*keep nothing'
note: 5 of 9 layers keep nothing for their backward: R, in the table, runs their forward again
! penstock: wrote again.json
$ penstock check again.json | tail -1
Sound: every operation runs once, in order, without deadlock, within memory; the plan can run.
$ penstock plan mlp --cluster flat:2,device=cpu --recompute linar
! penstock plan: --recompute: there is no kind of layer "linar" to recompute
! hint: did you mean linear?
? 2

# Images have channels, height and width; a U-Net's skips pass over stages, and the plan is sound.
$ penstock plan unet:width=4,size=16,batch=8 --cluster flat:3,device=cpu --ranks 3 --microbatch 1 -o unet.json | head -1
workload        <text> parameters, 8 samples a step, images 3x16x16
! penstock: wrote unet.json
$ penstock check unet.json -q | tail -1
Sound: <text>
$ penstock simulate unet.json --json | grep -c '"iteration_time_s"'
1
$ penstock plan unet:size=30 --cluster flat:1,device=cpu
! penstock plan: unet: images of size=30 cannot be halved evenly 2 times
! hint: with levels=2 the size is a multiple of 4
? 2
$ penstock plan resnet:size=3 --cluster flat:1,device=cpu
! penstock plan: resnet: images of size=3 cannot be halved 2 times
! hint: every stage but the first halves the image: fewer stages, or a larger size
? 2
