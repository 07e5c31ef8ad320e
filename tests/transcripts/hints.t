# Whatever is wrong, the user is told what to do next: none of these is without a hint, and none succeeds.
$ penstock plan mlp:layers=2,width=16,batch=4 --cluster flat:2,device=cpu --ranks 2 -q -o pl.json >/dev/null
$ penstock simulate pl.json -q -o tl.json >/dev/null
$ sed 's/"microbatches": [0-9]*/"microbatches": -4/' pl.json >neg.json; echo '{"schema":"penstock.cluster/1"}' >cl.json
$ echo '[[' >bad.toml; : >empty.toml; echo '{"a":' >bad.json; echo 'x = 1' >x.toml; mkdir dir
$ while read -r line; do
>   eval "penstock $line" >out 2>err </dev/null
>   code=$?
>   grep -q '^hint: ' err || echo "$line: no hint: $(cat err)"
>   test "$code" -ge 1 -a "$code" -le 4 || echo "$line: exit code $code"
>   test -s out && echo "$line: standard output is not empty"
> done <<'EOF'
> -x
> foo
> plan
> plan gpt
> plan gtp --cluster flat:2
> plan gpt:layers=0 --cluster flat:2
> plan gpt:layers=x --cluster flat:2
> plan gpt:layers --cluster flat:2
> plan gpt:layers=2,layers=3 --cluster flat:2
> plan gpt: --cluster flat:2
> plan gpt:heads=3 --cluster flat:2
> plan mlp --cluster flat
> plan mlp --cluster flat:0
> plan mlp --cluster flat:x
> plan mlp --cluster nodes:2
> plan mlp --cluster nodes:2x2
> plan mlp --cluster flat:2,device=zzz
> plan mlp --cluster flat:2,device=v100
> plan mlp --cluster flat:2,device=v100,bandwidth=-12GB/s
> plan mlp --cluster flat:2,latency=5
> plan mlp --cluster flat:2,memory=0
> plan mlp --cluster this-machne
> plan mlp --cluster absent.toml
> plan absent.toml --cluster flat:2
> plan bad.toml --cluster flat:2
> plan empty.toml --cluster flat:2
> plan x.toml --cluster flat:2
> plan cl.json --cluster flat:2
> plan mlp --cluster x.toml
> plan mlp --cluster flat:2 --ranks 3
> plan mlp --cluster flat:2 --ranks 0
> plan mlp --cluster flat:2 --ranks x
> plan mlp --cluster flat:20 --ranks 20
> plan mlp --cluster flat:2 --ranks
> plan mlp --cluster flat:2 --microbatch 3
> plan mlp --cluster flat:2 --microbatch 1,,2
> plan mlp --cluster flat:2 --memory-limit 10
> plan mlp --cluster flat:2 --memory-limit 10kB
> plan mlp --cluster flat:2 --memory-limit lots
> plan mlp --cluster flat:2 --profile absent
> plan mlp --cluster flat:2 --profile pl.json
> plan mlp --cluster flat:2 --schedule ''
> plan mlp --cluster flat:2 --schedule 1f1b,
> plan mlp --cluster flat:2 --schedule 1f1b:x=2
> plan mlp --cluster flat:2 --optimizer adamm
> plan mlp --cluster flat:2 --optimizer sgd:lr=1
> plan mlp --cluster flat:2 --optimizer sgd:momentum=2
> plan mlp --cluster flat:2 --seed x
> plan mlp --cluster flat:2 --seed -1
> plan mlp --cluster flat:2 -o /nonexistent/x
> plan mlp --cluster flat:2 -o dir
> plan mlp --cluster flat:2 -o pl.json
> plan mlp --cluster flat:2 --cluster flat:3
> plan mlp mlp --cluster flat:2
> plan mlp --cluster flat:2 --global-batch 0
> check
> check absent.json
> check dir
> check bad.json
> check neg.json
> check cl.json
> check tl.json
> check x.toml
> check 1f1b
> check 1f1b:stages=2
> check 1f1b:stages=0,microbatches=1
> check 1f1b:stages=2,microbatches=2,foo=1
> check foo:stages=2
> simulate pl.json --forward 1ms
> simulate 1f1b:stages=2,microbatches=2 --bytes 1MB
> simulate 1f1b:stages=2,microbatches=2 --forward x
> simulate 1f1b:stages=2,microbatches=2 --forward 1ms
> simulate 1f1b:stages=2,microbatches=2 --forward -1
> simulate pl.json --width 3
> simulate pl.json --gantt --json
> simulate pl.json --chrome dir
> simulate pl.json --steps 99999999999
> run pl.json --backend cuda
> run pl.json --backend foo
> run pl.json --ranks 7
> run pl.json --data absent
> run pl.json --data dir
> run tl.json
> run pl.json --steps 0
> run 1f1b:stages=2,microbatches=2
> compare tl.json
> compare tl.json pl.json
> compare tl.json tl.json --fail-over x
> compare tl.json tl.json --fail-over -1%
> schedule
> schedule foo --stages 2 --microbatches 2
> schedule 1f1b --stages 2
> schedule 1f1b --stages 2 --microbatches 2 --chunks 2
> schedule 1f1b --stages 2 --microbatches 2 --format csv --json
> schedule 1f1b --stages 2 --microbatches 2 --forward 1 --transfer 1ms
> schedule 1f1b --stages 2 --microbatches 2 --forward 1e30
> profile
> profile foo
> profile mlp --microbatch 0
> models foo
> schedules foo
> clusters foo
> models gpt:foo=1
> completion tcsh
> doctor foo
> schedules --json=1
> schedules --foo
> schedules --config
> schedules --config dir
> EOF
? 1
