# Whatever the machine lacks, doctor says so and exits with 0.
$ penstock doctor
penstock         <text>
compiler         <text>
software         <text>
processor        <text>
instruction set  <text>
cores            <number>
memory           <text>

what is there
<text>
  cpu backend<text>ok<text>
  cuda backend<text>
  CUDA driver<text>
  NCCL<text>
  MPI<text>
  browser<text>
  recorded data<text>

note: weights digests compare on one instruction set: <text>

$ PENSTOCK_DATA=/nowhere /usr/bin/env PATH="$PATH" penstock doctor --json | grep '"recorded data"'
    {"name": "recorded data", "state": "off", "found": "PENSTOCK_DATA names /nowhere, which is no folder", "how_to_get": "<text>"}
$ mkdir here; PENSTOCK_DATA=here penstock doctor --json | grep -c '"recorded data", "state": "ok", "found": "here", "how_to_get": null'
1
