test "$(sh square.sh 3)" = 9
