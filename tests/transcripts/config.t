# Flags from a file, and what wins.
$ cat >c.toml <<EOF
> seed = 3
> [schedule]
> stages = 2
> microbatches = 4
> EOF
$ penstock schedule gpipe --config c.toml --json | grep -E '"(stages|microbatches)"'
  "stages": 2,
  "microbatches": 4,
$ penstock schedule gpipe --config c.toml --stages 3 --json | grep '"stages"'
  "stages": 3,

# What is wrong is said with its place.
$ printf '[schedule]\nstagse = 2\n' >slip.toml; penstock schedule gpipe --config slip.toml
! penstock schedule: slip.toml:2:10: there is no flag "stagse"
! hint: did you mean "stages"?
? 3
$ printf '[schedul]\nstages = 2\n' | penstock schedule gpipe --config -
! penstock schedule: <stdin>:1:1: there is no verb "schedul"
! hint: did you mean "schedule"?
? 3
$ printf '[schedule]\nstages = -2\n' >bad.toml; penstock schedule gpipe --microbatches 4 --config bad.toml
! penstock schedule: bad.toml:2:10: <text>
? 3
$ penstock schedule gpipe --config absent.toml
! penstock schedule: absent.toml: cannot read: No such file or directory
? 3

# A default that does not fit the command is left out; the same flag on the command line is refused.
$ cat >many.toml <<EOF
> width = 40
> stages = 2
> microbatches = 2
> quiet = true
> [simulate]
> contention = false
> cluster = "flat:2,device=cpu"
> transfer = 3
> [run]
> checkpoint-every = 100
> evaluate-every = 5
> evaluate-batches = 1
> deadline = "60s"
> [plan]
> split = "round_robin"
> [compare]
> plan = "absent.json"
> EOF
$ penstock plan mlp:layers=2,width=16,input=8,batch=4 --cluster flat:2,device=cpu --ranks 2 --config many.toml -o plan.json | head -1 | cut -c 1-8
workload
$ penstock simulate plan.json --config many.toml -o a.json | grep -c '|'
0
? 1
$ penstock simulate plan.json --config many.toml --gantt | grep -c '|'
2
$ penstock simulate gpipe --config many.toml | grep '^iteration'
iteration time  15
$ penstock simulate gpipe:stages=4,microbatches=4 --config many.toml --json | grep -c '"rank": '
4
$ penstock schedule gpipe:stages=4,microbatches=4 --config many.toml --json | grep '"stages"'
  "stages": 4,
$ penstock check plan.json --config many.toml | grep '^sound'
sound         yes
$ penstock run plan.json --steps 2 --reference --config many.toml | grep '^steps'
steps            2
$ penstock compare a.json a.json --config many.toml >/dev/null
$ penstock check plan.json --config many.toml -v >/dev/null
$ penstock check plan.json --stages 2
! penstock check: plan.json has a shape of its own
? 2
$ penstock simulate plan.json --config many.toml --cluster flat:2
! penstock simulate: plan.json has times of its own
? 2
$ penstock simulate gpipe --config many.toml --no-contention
! penstock simulate: --no-contention: a schedule on its own knows of no contention
? 2
$ penstock run plan.json --reference --deadline 60s --config many.toml
! penstock run: --deadline means nothing with --reference, which waits for no other rank
? 2
$ penstock run plan.json --evaluate-every 5 --config many.toml
! penstock run: --evaluate-every means nothing without --evaluate
? 2

# What draws, or asks for another form, yields to a document that is asked for.
$ printf '[simulate]\ngantt = true\n[schedule]\nformat = "csv"\n' >forms.toml; penstock simulate plan.json --config forms.toml --json | head -1; penstock simulate plan.json --config forms.toml -o - | head -1
{
{
$ penstock schedule gpipe --stages 2 --microbatches 2 --config forms.toml --json | head -1
{
$ penstock simulate plan.json --gantt --json
! penstock simulate: --gantt draws text, and --json asks for data
? 2

# A link from a file holds for times that it can be counted in, and for them alone.
$ printf '[simulate]\ncluster = "flat:2,device=cpu,bandwidth=1GB/s,latency=0"\nbytes = "1MB"\n' >link.toml; penstock simulate gpipe:stages=2,microbatches=1 --config link.toml | grep '^iteration'
iteration time  6
$ penstock simulate gpipe:stages=2,microbatches=1 --forward 1ms --backward-input 1ms --backward-weight 1ms --config link.toml | grep '^iteration'
iteration time  8.00 ms
$ penstock simulate gpipe:stages=2,microbatches=1 --forward 1ms --backward-input 1ms --backward-weight 1ms --transfer 2ms --config link.toml | grep '^iteration'
iteration time  10.0 ms

# A file that contradicts itself is refused; a verb's table wins over what stands above it.
$ printf '[simulate]\ncontention = true\nno-contention = true\n' >both.toml; penstock simulate plan.json --config both.toml
! penstock simulate: both.toml:3:17: contention and no-contention contradict each other
! hint: drop one of them
? 3
$ printf 'contention = true\n[simulate]\nno-contention = true\n' >above.toml; penstock simulate plan.json --config above.toml >/dev/null
