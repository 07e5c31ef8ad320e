$ penstock compare --help
Joins two timelines of one plan instruction by instruction: where was the prediction right, and where not?

usage: penstock compare PREDICTED MEASURED [flags]

  PREDICTED  a timeline (penstock simulate -o)
  MEASURED   a timeline of the same plan (penstock run -o)

      --fail-over SHARE  exit 1 where the iteration time is off by more: 5%, or 0.05 as a fraction
      --report FILE      also write a page with both timelines, memory and tables (HTML)
      --plan PLAN        of both: for the report's memory limits, machine and costs

  -o, --output FILE  write the answer to a file (-: standard output)
      --json         print the answer as JSON
      --force        replace files that exist
      --seed N       of all that is random: initial weights, data (default 0)
      --config FILE  TOML: flags that hold where they are not given here
  -q, --quiet        say nothing on standard error but errors
  -v, --verbose      say more on standard error
  -h, --help         this text

Examples:
  penstock compare predicted.json measured.json --report report.html --plan plan.json
  penstock compare predicted.json measured.json --fail-over 5% --json

See also: simulate, run

# Help wins over what is missing, and says the same whichever way it is asked for.
$ penstock compare -h >a; penstock help compare >b; cmp a b && wc -l <a
25

# No line is longer than a page is wide, except examples, which one copies.
$ for verb in profile plan check simulate run schedule schedules models clusters strategies doctor completion; do penstock $verb -h | grep -v '^  penstock' | awk -v verb=$verb 'length > 112 { print verb ": " $0 }'; done

# A man page, which groff sets without a warning (tests/cli/text).
$ penstock help --man | head -1
.TH PENSTOCK 1 "" "penstock <text>" "User Commands"
