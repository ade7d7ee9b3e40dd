# Stands for the agent that writes. What the other found is in its next prompt.
case $(cat) in
  *"division by zero"*) echo 'if [ "$2" = 0 ]; then echo "no"; else echo $(($1 / $2)); fi' >divide.sh ;;
  *) echo 'echo $(($1 / $2))' >divide.sh ;;
esac
echo "<promise>IMPLEMENTATION_COMPLETE</promise>"
