# A goal in words, in a repository that has never heard of ralph.
git init --quiet . && git commit --quiet --allow-empty --message start
ralph run "write down what this project is for" --agent demo --check "test -s DEMO.md"
cat DEMO.md
git log --format=%s
ralph status
