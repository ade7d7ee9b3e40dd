# Every page of the list is there.
for each in $(cat index.txt 2>/dev/null); do test -s "$each" || exit 1; done
