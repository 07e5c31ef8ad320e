$ penstock schedules
  name   aliases <text>
...
$ penstock schedules --json | grep -oE '"name": "(gpipe|1f1b)"'
"name": "gpipe"
"name": "1f1b"

$ penstock models --json | grep -oE '"name": "(gpt|mlp|resnet|unet)"'
"name": "gpt"
"name": "mlp"
"name": "resnet"
"name": "unet"
$ penstock clusters | grep -oE '^  (this-machine|flat|nodes) '
  this-machine 
  flat 
  nodes 

# Each listed model is one that can be planned.
$ for model in $(penstock models --json | grep -oE '"name": "[a-z]+"' | cut -d'"' -f4); do penstock plan $model --cluster flat:1,device=cpu -q | tail -1; done
gpt in 1 stage, <text>
mlp in 1 stage, <text>
resnet in 1 stage, <text>
unet in 1 stage, <text>

$ penstock strategies --json
{
  "schema": "penstock.strategies/1",
  "strategies": [
    {"name": "auto", "source": "our own", "about": "<text>"}
...

# With a name, more of that one.
$ penstock models gpt:layers=24,hidden=1024 | head -4
name            gpt
about           <text>
layers          <number>
weights         <number>
$ penstock schedules one_f_one_b | head -2
name     1f1b
aliases  [<text>]
$ penstock clusters flat | grep -o 'v100 .* 16.0 GiB'
v100     16.0 GiB
$ penstock strategies auto | head -1
name    auto

# A slip is answered with what was meant.
$ penstock models gpd
! penstock models: there is no model "gpd"
! hint: did you mean gpt?
? 2
$ penstock clusters flta
! hint: did you mean flat?
? 2
$ penstock strategies atuo
! hint: did you mean auto?
? 2
$ penstock schedules 1f1
! hint: did you mean '1f1b'?
? 2
$ penstock models gpt mlp
! penstock models: "mlp" is one input too many
? 2
