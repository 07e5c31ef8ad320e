$ penstock schedule 1f1b --stages 4 --microbatches 8
rank 0 |F0=F1=F2=F3=..................B0####F4=B1####F5=B2#####F6=B3####F7=B4####...B5####...B6####...B7####|
rank 1 |...F0=F1=F2=............B0####F3=B1####F4=B2####F5==B3####F6=B4####F7=B5####...B6####...B7####......|
rank 2 |......F0=F1=......B0####F2=B1####F3=B2####F4=B3#####F5=B4####F6=B5####F7=B6####...B7####............|
rank 3 |.........F0=B0####F1=B1####F2=B2####F3=B3####F4=B4#####F5=B5####F6=B6####F7=B7####..................|
F forward =, B backward #, . idle

schedule               1f1b
aliases                <text>
admits                 <text>
stages                 4
microbatches           8
transfers              eager
makespan               33
span                   33
lower bound            24
bubble                 27.3 %
idle/busy              37.5 %
peak activations       [4, 3, 2, 1]
until input gradient   [4, 3, 2, 1]
copies of the weights  [1, 1, 1, 1]

$ penstock schedule gpipe --stages 2 --microbatches 2 --json
{
  "schema": "penstock.schedule/1",
  "schedule": "gpipe",
  "aliases": <text>,
  "admits": <text>,
  "stages": 2,
  "microbatches": 2,
  "p2p": "eager",
  "makespan": 9,
  "span": 9,
  "lower_bound": 6,
  "bubble_fraction": 0.33333333<number>,
  "idle_over_busy": 0.5,
  "peak_activations": [2, 2],
  "peak_activations_until_input_gradient": [2, 2],
  "weight_copies": [1, 1],
  "ranks": [["F 0.0", "F 0.1", "BF 0.0", "BF 0.1"], ["F 1.0", "F 1.1", "BF 1.0", "BF 1.1"]]
}

$ penstock schedule 1f1b --stages 2 --microbatches 2 --format csv
rank,op,stage,microbatch,slice,start,end
0,F,0,0,0,0,1
0,F,0,1,0,1,2
0,BF,0,0,0,4,6
0,BF,0,1,0,7,9
1,F,1,0,0,1,2
1,BF,1,0,0,2,4
1,F,1,1,0,4,5
1,BF,1,1,0,5,7

$ penstock schedule 1f1b --stages 2 --microbatches 2 --width 18 | head -3
rank 0 |F0F1....B0##..B1##|
rank 1 |..F0B0##F1B1##....|
F forward =, B backward #, . idle

# A picture: one box an operation, with its instruction and times.
$ penstock schedule 1f1b --stages 4 --microbatches 8 --format svg | head -2
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1200 <number>" width="1200" height="<number>" role="img">
<title>1f1b, 4 stages, 8 microbatches</title>
$ penstock schedule 1f1b --stages 4 --microbatches 8 --format svg | grep -c '><title>'
64
$ penstock schedule 1f1b --stages 4 --microbatches 8 --format svg | grep -A2 '<title>BF 3.7'
<rect <text>><title>BF 3.7
start 25
takes 2</title></rect>
$ penstock schedule 1f1b --stages 4 --microbatches 8 --format svg -o picture.svg -q && tail -1 picture.svg
</svg>
$ penstock schedule 1f1b --stages 4 --microbatches 8 -o same.svg -q && cmp picture.svg same.svg
$ penstock schedule 1f1b --stages 4 --microbatches 8 --format svg --json
! penstock schedule: --json and --format svg differ
! hint: drop one of them
? 2

# Fractions are exact, and with units the results are seconds: 1F1B's makespan is (m + p - 1)(F + B + W) + 2(p - 1)C here.
$ penstock schedule 1f1b --stages 2 --microbatches 1 --forward 0.1 --backward-input 0.2 --backward-weight 0.4 --transfer 0.05 --json | grep makespan
  "makespan": 1.5,
$ penstock schedule 1f1b --stages 2 --microbatches 1 --forward 1ms --backward-input 2ms --backward-weight 4ms --transfer 500us --json | grep makespan
  "makespan": 0.015,
$ penstock schedule 1f1b --stages 4 --microbatches 8 --transfer 1 --p2p rendezvous --json | grep -E 'makespan|p2p'
  "p2p": "rendezvous",
  "makespan": <number>,

# A shape that is not admitted: the answer is no, and which are.
$ penstock schedule 1f1b --stages 4 --microbatches 8 --chunks 2
! penstock schedule: 1f1b has one stage a rank: chunks must be 1, not 2
! hint: 1f1b admits: <text>
? 1

$ penstock schedule 2f2b --stages 4 --microbatches 8
! penstock schedule: no schedule is called '2f2b'
! hint: did you mean '1f1b'?
? 2
$ penstock schedule 1f1b:limit=2 --stages 4 --microbatches 8
! penstock schedule: schedule 1f1b has no parameters, 'limit' is given
? 2
$ penstock schedule 1f1b --stages 0 --microbatches 8
! penstock schedule: --stages: 0 is out of range
? 2
$ penstock schedule 1f1b --stages 4 --microbatches 8 --forward nan
! penstock schedule: --forward: "nan" is not a time: the number is not finite
? 2
$ penstock schedule 1f1b --stages 4 --microbatches 8 --forward 1ms --backward-input 1
! penstock schedule: --forward has a unit and --backward-input has none
? 2
$ penstock schedule 1f1b --stages 4 --microbatches 2000 --forward 1e9
! penstock schedule: these times are too long to be added up
? 2
$ penstock schedule 1f1b --stages 4 --microbatches 8 --format png
! penstock schedule: --format: "png" is none of text, csv, json, svg
? 2
# The shape in words or as flags, for every verb that takes a schedule.
$ penstock schedule 1f1b:stages=2,microbatches=2 --json | grep '"makespan"' >words; penstock schedule 1f1b --stages 2 --microbatches 2 --json | grep '"makespan"' | cmp - words && echo same
same
$ penstock simulate 1f1b --stages 2 --microbatches 2 | head -1
program         2 stages, 2 microbatches
$ penstock schedule 1f1b:stages=2,microbatches=2 --stages 3
! penstock schedule: stages is given twice: in "1f1b:stages=2,microbatches=2" and as --stages
? 2
$ penstock schedule 1f1b --stages
! penstock schedule: --stages needs a value: --stages P
? 2
