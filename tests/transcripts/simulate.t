# A schedule in units of one's own: (m + p - 1)(F + B + W) by the closed form, 11 · 3 here.
$ penstock simulate 1f1b:stages=4,microbatches=8 --json
{
  "schema": "penstock.simulate/1",
  "program": "4 stages, 8 microbatches",
  "iteration_time_s": 33,
  "throughput_samples_per_s": null,
  "bubble_fraction": 0.2727272727272727,
  "idle_over_busy": 0.375,
  "steps": 1,
  "p2p": "eager",
  "instructions": <number>,
  "events": <number>,
  "devices": [
    {"rank": 0, "busy_s": 24, "idle_s": 9, "peak_memory_bytes": null, "live_peak_bytes": null},
    {"rank": 1, "busy_s": 24, "idle_s": 9, "peak_memory_bytes": null, "live_peak_bytes": null},
    {"rank": 2, "busy_s": 24, "idle_s": 9, "peak_memory_bytes": null, "live_peak_bytes": null},
    {"rank": 3, "busy_s": 24, "idle_s": 9, "peak_memory_bytes": null, "live_peak_bytes": null}
  ]
}

# Its times are never called seconds, and its picture has no axis of them.
$ penstock simulate 1f1b:stages=2,microbatches=2 --forward 0.5 --gantt --width 30
program         2 stages, 2 microbatches
iteration time  7.5
bubble          33.3 %
idle/busy       50.0 %
steps           1
transfers       eager
instructions    <number>
events          <number>

devices, in the median step
  rank  busy  idle  peak memory  live peak
     0     5   2.5            -          -
     1     5   2.5            -          -

rank 0 |F0F1........B0######..B1######|
rank 1 |..F0B0######F1B1######........|
F forward =, B backward #, . idle
$ penstock simulate 1f1b:stages=2,microbatches=2 --width 3
! penstock simulate: --width: 3 is out of range
? 2

# Messages of 50 MB over 25 GB/s and 5 us take 2.005 ms each, and under rendezvous their receivers wait for them.
$ penstock simulate 1f1b:stages=64,microbatches=1024 --forward 1ms --backward-input 1ms --backward-weight 1ms --bytes 50MB --cluster flat:64,bandwidth=25GB/s,latency=5us --p2p rendezvous --json | grep -E '"(iteration_time_s|p2p)"'
  "iteration_time_s": 7.613855,
  "p2p": "rendezvous",

# A plan: the same figure that the planner gave, three steps of it, a timeline, and a picture.
$ penstock plan mlp:layers=2,width=16,batch=4 --cluster flat:2,device=cpu --ranks 2 --schedule 1f1b --microbatch 1 -q -o plan.json >/dev/null
$ penstock simulate plan.json --gantt -o predicted.json
program         1f1b, 2 stages, 4 microbatches
iteration time  <text>
throughput      <number> samples/s
bubble          <number> %
idle/busy       <number> %
steps           3
transfers       rendezvous
instructions    <number>
events          <number>

devices, in the median step
  rank <text>
     0 <text>
     1 <text>

rank 0 |<text>|
rank 1 |<text>|
        0 <text>
F forward =, B backward #, S update +, . idle
! penstock: wrote predicted.json
$ penstock simulate plan.json --json >a.json; grep -o '"iteration_time_s": [0-9.e-]*' plan.json >p; grep -o '"iteration_time_s": [0-9.e-]*' a.json | cmp - p && echo same
same
$ penstock simulate plan.json -o - | cmp - predicted.json && echo same
same
$ penstock simulate plan.json --svg picture.svg -q >/dev/null; head -c 4 picture.svg; grep -c '<path ' picture.svg
<svg2
$ penstock simulate plan.json -o predicted.svg -q >/dev/null; cmp picture.svg predicted.svg
$ penstock simulate plan.json --svg picture.svg
! penstock simulate: picture.svg: the file exists already
! hint: --force replaces it
? 2
$ penstock simulate plan.json --chrome trace.json -q >/dev/null; head -c 1 trace.json; grep -c '"ph":"X"' trace.json
{<number>

$ penstock simulate plan.json --forward 1ms
! penstock simulate: plan.json has times of its own
? 2
$ penstock simulate 1f1b:stages=4,microbatches=8 --bytes 50MB
! penstock simulate: --bytes and --cluster go together: <text>
? 2
$ penstock simulate 1f1b:stages=4,microbatches=8 --bytes 50MB --cluster flat:4,bandwidth=1GB/s
! penstock simulate: a cluster's links are timed in seconds
? 2
$ penstock simulate 1f1b:stages=4,microbatches=8 --forward 1ms --backward-input 1ms --backward-weight 1ms --bytes 1MB --cluster flat:2,bandwidth=1GB/s
! penstock simulate: 4 ranks, and the cluster has 2 devices
? 1
$ penstock simulate plan.json --gantt --json
! penstock simulate: --gantt draws text, and --json asks for data
? 2
$ penstock simulate plan.json --steps 0
! penstock simulate: --steps: 0 is out of range
? 2
$ penstock simulate plan.json --p2p lazy
! penstock simulate: --p2p: "lazy" is none of eager, rendezvous
? 2
