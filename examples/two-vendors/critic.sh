# Stands for the agent of another vendor, which reads and changes nothing.
if grep -q '= 0' divide.sh; then
  echo "REVIEW PASSED"
  echo "<promise>REVIEW_COMPLETE</promise>"
else
  echo "<promise>CHANGES_REQUESTED:division by zero ends the program (divide.sh:1)</promise>"
fi
