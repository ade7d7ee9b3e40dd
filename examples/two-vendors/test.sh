if [ -f divide.sh ]; then test "$(sh divide.sh 6 3)" = 2; fi
