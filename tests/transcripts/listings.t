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

$ penstock models gpt
! penstock models: "gpt" is one input too many
? 2
