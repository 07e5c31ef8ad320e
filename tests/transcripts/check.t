$ penstock plan mlp:layers=2,width=16,batch=4 --cluster flat:2,device=cpu --ranks 2 --schedule 1f1b --microbatch 1 -q -o plan.json >/dev/null

$ penstock check plan.json
sound         yes
ranks         2
instructions  <number>

Sound: every operation runs once, in order, without deadlock, within memory; the plan can run.

$ penstock check plan.json --json
{
  "schema": "penstock.check/1",
  "ok": true,
  "can_run": true,
  "memory_proved": true,
  "ranks_checked": 2,
  "instructions": <number>,
  "violations": [],
  "verdict": <text>
}

$ penstock check 1f1b:stages=4,microbatches=8
sound          yes
memory proved  no
ranks          4
instructions   <number>

Sound: every operation runs once, in order, without deadlock (memory is not said: there is no model); the schedule can run.

# A plan that claims more than is so: faster than it is, or in less memory than it takes.
$ sed 's/"iteration_time_s": [0-9.e-]*/"iteration_time_s": 1e-9/' plan.json >boast.json; penstock check boast.json
sound         no
can run       yes
...
  iteration time  the simulated iteration time in seconds is <number>, the plan says 1e-09 <text>
...
Claims that do not hold: <number> violations. <text>
? 1
$ sed 's/"memory_limit_bytes": [0-9]*/"memory_limit_bytes": 1000/' plan.json >tight.json; penstock check tight.json --json | grep -oE '"ok": false|"rule": "R8", "message": "rank [01]: needs [^(]*'
"ok": false
"rule": "R8", "message": "rank 0: needs <text>
"rule": "R8", "message": "rank 1: needs <text>
$ penstock check tight.json | tail -1
Not sound: <number> violations; the plan must not run.
$ penstock check tight.json >/dev/null
? 1

$ penstock check 1f1c:stages=4,microbatches=8
! penstock check: "1f1c:stages=4,microbatches=8" is neither a file nor a schedule
! hint: did you mean '1f1b'?
? 2
$ penstock check 1f1b:stage=4,microbatches=8
! hint: did you mean stages?
? 2
$ penstock check 1f1b:stages=4
! penstock check: "1f1b:stages=4" does not say how many microbatches
? 2
$ penstock check 1f1b:stages=4,microbatches=8,chunks=2
! penstock check: <text>
! hint: 1f1b admits: <text>
? 1
