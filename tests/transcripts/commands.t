# Every verb that is listed explains itself, with two examples that begin with its name.

$ penstock --help
Plans, predicts, runs and explains pipeline-parallel training.

usage: penstock VERB INPUT... [flags]

  profile     measure what a workload's layers cost on this machine
  plan        cut a workload into stages for a cluster
  check       prove a plan, a program or a schedule sound, or say why not
  simulate    run a plan, a program or a schedule on a virtual clock
  run         train for real, by a plan, on this machine
  compare     set a predicted timeline against a measured one
  schedule    draw and measure a schedule on its own
  schedules   list the schedules that are built in
  models      list the workloads that are built in
  clusters    list the forms in which a cluster can be written
  strategies  list the ways to search for a plan
  doctor      what this machine can do, what is off, and how to get it
  completion  print what makes a shell complete penstock's commands
  version     version, compiler, and what this build can run on

...

$ for verb in profile plan check simulate run compare schedule schedules models clusters strategies doctor completion version; do
>   penstock $verb --help >help.txt || echo "$verb: exit code $?"
>   echo "$verb: $(grep -c "^  penstock $verb" help.txt)"
> done
profile: 2
plan: 2
check: 2
simulate: 2
run: 2
compare: 2
schedule: 2
schedules: 2
models: 2
clusters: 2
strategies: 2
doctor: 2
completion: 2
version: 2
