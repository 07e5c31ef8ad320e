$ penstock profile mlp:layers=2,width=16,input=8,batch=4 --microbatch 1,2 --budget 1ms -o profile.json
workload            mlp:layers=2,width=16,input=8
processor           <text>
cores               <number>
instruction set     <text>
hand-off latency    <text>
hand-off bandwidth  <text>
drift               <text>

layers, medians
  layer <text>
  cross_entropy 8x256:f32, 8:byte -> scalar:f32 <text>
  cross_entropy 8x256:f32, 8:byte -> scalar:f32 <text>
  embedding 8:byte -> 8x16:f32 [256x16] [8x16] <text>
  embedding 8:byte -> 8x16:f32 [256x16] [8x16] <text>
  gelu 8x16:f32 -> 8x16:f32 <text>
  gelu 8x16:f32 -> 8x16:f32 <text>
  linear 8x16:f32 -> 8x16:f32 <text>
  linear 8x16:f32 -> 8x16:f32 <text>
  linear 8x16:f32 -> 8x256:f32 <text>
  linear 8x16:f32 -> 8x256:f32 <text>
...
! penstock: wrote profile.json

# What it wrote can be planned with, and only for what it was measured for.
$ penstock plan mlp:layers=2,width=16,input=8,batch=4 --cluster this-machine --ranks 2 --profile profile.json | grep -E '^(costs|microbatches)'
microbatches    <number> of <number> samples
costs           profiled
$ penstock plan mlp:layers=2,width=32,input=8,batch=4 --cluster this-machine --ranks 2 --profile profile.json
! penstock plan: the profile is of mlp:layers=2,width=16,input=8 (<hex>), not of mlp:layers=2,width=32,input=8 (<hex>)
? 3
$ penstock plan mlp:layers=2,width=16,input=8,batch=4 --cluster this-machine --ranks 2 --profile profile.json --microbatch 4
! penstock plan: the profile holds no microbatch of 4 samples, only 1, 2
? 3

# A profile of another machine.
$ sed 's/"instruction_set": "[^"]*"/"instruction_set": "mmx"/' profile.json >other.json
$ penstock plan mlp:layers=2,width=16,input=8,batch=4 --cluster this-machine --ranks 2 --profile other.json
! penstock plan: other.json: the profile was taken on a machine with mmx, and this one has <text>
! hint: measure here with penstock profile, or describe that machine as a cluster in a file
? 3

$ penstock profile mlp:layers=2,width=16,input=8 --microbatch 1 --budget 1ms --json | head -3
{
  "schema": "penstock.profile/1",
  "workload": "mlp:layers=2,width=16,input=8",

$ penstock profile mlp:layer=2
! penstock profile: mlp has no parameter "layer"
! hint: did you mean layers? mlp takes layers, width, input, batch
? 2
$ penstock profile mpl
! penstock profile: "mpl" is neither a built-in workload nor a file
? 2
$ penstock profile mlp --microbatch 0
! penstock profile: --microbatch: 0 is out of range
? 2
$ penstock profile mlp --budget -1s
! penstock profile: --budget: "-1s" is not a time: it is negative
? 2
$ penstock profile mlp --contention --no-contention
! penstock profile: --contention and --no-contention contradict each other
! hint: drop one of them
? 2
$ penstock profile mlp:layers=2,width=16,input=8 --microbatch 1 --budget 1ms --contention -q -o with.json >/dev/null; penstock profile mlp:layers=2,width=16,input=8 --microbatch 1 --budget 1ms --no-contention -q -o without.json >/dev/null; if [ $(nproc) -lt 2 ]; then echo with.json; else grep -l '"slowdown"' with.json without.json; fi
with.json
