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
