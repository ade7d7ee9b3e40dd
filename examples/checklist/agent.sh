# Stands for your agent: one iteration for one task, whose id it finds in its environment.
case $RALPH_TASK_ID in
  circle) echo 'echo $((3142 * $1 * $1 / 1000)).$((3142 * $1 * $1 % 1000))' >circle.sh ;;
  box) echo 'echo $(($(sh square.sh "$1") * $2))' >box.sh ;;
  sphere) echo 'echo $((4189 * $1 * $1 * $1 / 1000))' >sphere.sh ;;
esac
case $RALPH_TASK_ID in
  circle) echo 'test "$(sh circle.sh 2)" = 12.568' >circle.test.sh ;;
  box) echo 'test "$(sh box.sh 3 2)" = 18' >box.test.sh ;;
  sphere) echo 'test "$(sh sphere.sh 1)" = 4' >sphere.test.sh ;;
esac
echo "Done, with a test."
echo "<promise>COMPLETE</promise>"
