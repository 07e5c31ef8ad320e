# Two stages, the first on two ranks that share every microbatch: planned, proved, predicted, run, and what the reference gives.
$ penstock plan mlp:layers=4,width=32,input=8,batch=8 --cluster flat:3,device=cpu,memory=1GiB --replicas 2,1 --schedule 1f1b --microbatch 2 -o plan.json | grep -E '^(microbatches|replicas|plan space| +[01] )'
microbatches    4 of 2 samples
replicas        2:1, a part of every microbatch each
plan space      contiguous stages on 2, 1 ranks in this order, that share every microbatch; 4 microbatches of 2 samples, <text>
      0   0-1  <text>
      1     2  <text>
     0  cpu.0  <text>
     1  cpu.1  <text>
$ penstock check plan.json >/dev/null && echo sound
sound
$ penstock simulate plan.json --json | grep -c '"iteration_time_s"'
1
$ printf 'the quick brown fox jumps over the lazy dog, and does so again and again' >text.txt
$ penstock run plan.json --steps 3 --data text.txt --json | grep -E '"(losses|weights_digest)"' >shared
$ penstock run plan.json --steps 3 --data text.txt --json --reference | grep -E '"(losses|weights_digest)"' | cmp - shared && echo same
same

# In turns, with gradients clipped.
$ penstock plan mlp:layers=4,width=32,input=8,batch=8 --cluster flat:3,device=cpu,memory=1GiB --replicas 1,2 --split round_robin --optimizer adam:clip=0.1 --schedule 1f1b --microbatch 2 -o turns.json | grep '^replicas'
replicas        1:2, taking turns at microbatches
$ penstock check turns.json >/dev/null && echo sound
sound
$ penstock run turns.json --steps 3 --data text.txt --json | grep -E '"(losses|weights_digest)"' >turns
$ penstock run turns.json --steps 3 --data text.txt --json --reference | grep -E '"(losses|weights_digest)"' | cmp - turns && echo same
same

# Predicted against measured, collectives among them.
$ penstock simulate plan.json --steps 5 -o predicted.json -q >/dev/null
$ penstock run plan.json --steps 5 --data text.txt -o measured.json -q >/dev/null
$ penstock compare predicted.json measured.json --json | grep -c '"op": "ALLREDUCE"'
1

# What cannot be.
$ penstock plan mlp:layers=4,width=32,batch=8 --cluster flat:3,device=cpu --replicas 2,2
! penstock plan: replicas 2,2 take 4 ranks, but cluster <text> has 3 devices
! hint: fewer replicas, or a larger cluster
? 1
$ penstock plan mlp:layers=4,width=32,batch=8 --cluster flat:3,device=cpu --replicas 2,1 --microbatch 1
! penstock plan: 2 replicas cannot share microbatches of 1 samples
! hint: a larger microbatch (--microbatch), or --split round_robin
? 1
$ penstock plan mlp:layers=4,width=32,batch=8 --cluster flat:3,device=cpu --replicas 2,1 --split halves
! penstock plan: --split: there is no split "halves"
! hint: batch or round_robin
? 2
$ penstock plan mlp:layers=4,width=32,batch=8 --cluster flat:3,device=cpu --split batch
! penstock plan: --split means nothing without --replicas
! hint: give --replicas too, or leave --split out
? 2
$ penstock plan mlp:layers=4,width=32,batch=8 --cluster flat:3,device=cpu --replicas 1 --split round_robin
! penstock plan: no stage has replicas that could take turns at microbatches
! hint: name some (--replicas 2,1, or any), or leave the split out
? 2
$ penstock plan mlp:layers=4,width=32,batch=8 --cluster flat:3,device=cpu --replicas 2,0
! penstock plan: <text>
? 2
