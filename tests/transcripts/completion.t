$ penstock completion bash | tail -1
complete -F _penstock penstock
$ penstock completion bash >script; sh -c 'command -v bash >/dev/null || exit 0; bash -n script' && echo fine
fine
$ penstock completion fish --json | head -3
{
  "schema": "penstock.completion/1",
  "shell": "fish",
$ penstock completion bsh
! penstock completion: SHELL: "bsh" is none of bash, zsh, fish
! hint: did you mean bash?
? 2
$ penstock completion
! penstock completion: SHELL is missing: bash, zsh or fish
? 2
