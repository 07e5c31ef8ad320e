$ penstock plan mlp:layers=2,width=16,input=8,batch=4 --cluster flat:2,device=cpu --ranks 2 --schedule 1f1b --microbatch 1 -q -o plan.json >/dev/null
$ penstock simulate plan.json -q -o predicted.json >/dev/null
$ printf 'the quick brown fox jumps over the lazy dog, and does so again and again' >text.txt
$ penstock run plan.json --steps 6 --data text.txt -q -o measured.json >/dev/null

$ penstock compare predicted.json measured.json
matched instructions a step  <number>

operations, medians
  op    stage  a step  predicted  measured <text>
  LOAD <text>
  F <text>
  BF <text>
  RECV <text>
  STEP <text>
  LOAD <text>
  F <text>
  BF <text>
  LOSS <text>
  RECV <text>
  STEP <text>

devices, in the median step
  rank  predicted busy <text> predicted waiting <text> predicted bubble <text> error
     0 <text> points
     1 <text> points

devices, memory
  rank  predicted peak <text>
     0 <text>
     1 <text>

in one table
                         <text>
  iteration time         <text> %
  busy, mean rank        <text> %
  waiting, mean rank     <text> %
  bubble                 <text> points
  peak memory of a rank  <text>
  first loss             <text>
  last loss              <text>

The ranks' busy times differ by at most <number> %; a rank spends <text> a step <text> waiting than predicted.

$ penstock compare predicted.json measured.json --json | grep -oE '"(predicted_s|measured_s|iteration_time_error|matched|ops|devices)":' | sort | uniq -c | sort -n | wc -l
6

# Files keep both ends of a message, and each rank's times.
$ penstock compare predicted.json measured.json --json | grep -c '"op": "SEND"'
2
$ penstock compare predicted.json measured.json --json | grep -cE '"rank": [01], "predicted_busy_s": [0-9.e-]+, "measured_busy_s": [0-9.e-]+, "predicted_idle_s": [0-9.e-]+, "measured_idle_s"'
2
$ penstock compare predicted.json measured.json --json | grep -cE '^  "(predicted_bubble_fraction|measured_bubble_fraction|busy_error|more_waiting_s|first_loss|last_loss)":'
6

# The prediction comes first; two of a kind may come in any order.
$ penstock compare measured.json predicted.json
! penstock compare: measured.json was measured and predicted.json predicted
! hint: the prediction comes first: penstock compare PREDICTED MEASURED
? 2
$ penstock compare measured.json measured.json >/dev/null

# A prediction set against itself is exact; off by more than is allowed, the answer is no.
$ penstock compare predicted.json predicted.json | tail -1
The ranks' busy times differ by at most 0.0 %; waiting is as predicted.
$ penstock compare predicted.json predicted.json --fail-over 0% --json | grep '"iteration_time_error"'
  "iteration_time_error": 0.0,
$ penstock compare predicted.json measured.json --fail-over 0% | tail -1
The iteration time is off by <text> %, more than 0 %.
$ penstock compare predicted.json measured.json --fail-over 0% >/dev/null
? 1

$ penstock compare predicted.json measured.json --fail-over 5
! penstock compare: --fail-over: "5" may be meant in percent, or as 500 %
! hint: write 5% or 0.05
? 2

# Timelines of two plans are a mismatch.
$ penstock plan mlp:layers=2,width=16,input=8,batch=8 --cluster flat:2,device=cpu --ranks 2 --microbatch 1 -q -o other.json >/dev/null
$ penstock simulate other.json -q -o other-predicted.json >/dev/null
$ penstock compare other-predicted.json measured.json
! penstock compare: the timelines come from different plans (<hex> and <hex>)
? 1

$ penstock compare predicted.json
! penstock compare: MEASURED is missing: <text>
? 2
$ penstock compare predicted.json measured.json --fail-over lots
! penstock compare: --fail-over: "lots" is not a share
? 2
$ head -c 1000 measured.json >cut.json; penstock compare predicted.json cut.json
! penstock compare: cut.json:<number>:<number>: not JSON: <text>
? 3

# The report is one page; with the plan it knows limits and costs.
$ penstock compare predicted.json measured.json --report report.html --plan plan.json >/dev/null
! penstock: wrote report.html
$ head -1 report.html
<!DOCTYPE html>
$ grep -o 'class="verdict">Predicted [0-9.]* [mu]*s, measured' report.html | wc -l
1
$ grep -c '<dt>costs</dt><dd>derived</dd>' report.html
1
$ grep -c http report.html
0
? 1
$ penstock compare predicted.json measured.json --report report.html
! penstock compare: report.html: the file exists already
! hint: --force replaces it
? 2
$ penstock compare predicted.json measured.json --report no/such/folder/report.html
! penstock compare: no/such/folder/report.html: <text>
! hint: <text>
? 2
$ penstock compare predicted.json measured.json --plan plan.json
! penstock compare: --plan means nothing without --report
! hint: give --report too, or leave --plan out
? 2
$ penstock plan mlp:layers=2,width=32,input=8,batch=4 --cluster flat:2,device=cpu --ranks 2 --schedule 1f1b --microbatch 1 -q -o third.json >/dev/null
$ penstock compare predicted.json measured.json --report third.html --plan third.json
! penstock compare: third.json: the timelines come from another plan (<text>)
! hint: give the plan that was simulated and run
? 1
