# Stands for your agent: it gets the prompt on stdin, works, and says that it is done. At first that is not true.
case $(cat) in
  *"greet.sh says: Hello, \$1!"*) echo 'echo "Hello, $1!"' >greet.sh ;;
  *) echo "echo 'Hello, \$1!'" >greet.sh ;;
esac
echo "People are greeted by their name now."
echo "<promise>COMPLETE</promise>"
