$ penstock version
penstock   <text>
compiler   <text>
software   <text>
processor  <text>
cores      <number>

backends
  backend  instruction set
  cpu      <text>

$ penstock version --json | head -2
{
  "schema": "penstock.version/1",
