# The job. The argument is how ralph is called; on a machine where it is installed, nothing.
ralph=${1:-ralph}
code=0
"$ralph" run --quiet --no-wait --max-duration 30m || code=$?
"$ralph" report --md --out report.md
case $code in
  0) echo "All tasks are done." ;;
  2 | 3) echo "A person has to help:" && "$ralph" inbox ;;
  5) echo "It cannot go on now: a limit, the budget or a login. The next job goes on." ;;
  *) echo "It ended with $code; report.md says why." ;;
esac
exit "$code"
