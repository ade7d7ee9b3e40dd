said=$(sh greet.sh Ada)
echo "greet.sh says: $said"
test "$said" = "Hello, Ada!"
