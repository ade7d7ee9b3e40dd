# Stands for your agent. For one of the tasks it needs a person.
case $RALPH_TASK_ID in
  version) echo 1.0.0 >VERSION && echo "<promise>COMPLETE</promise>" ;;
  deploy) echo "<promise>BLOCKED:nobody told me the name of the server</promise>" ;;
esac
