if [ -f VERSION ]; then grep -q '^[0-9]' VERSION; fi
