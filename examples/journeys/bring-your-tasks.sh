# A document with boxes is worked on where it lies, and ticked there.
git init --quiet .
printf '%s\n' '# The shop' '' '- [ ] Cart' '  - keeps its content' '- [ ] Payment' '' '## Nice to have' '' '- [ ] Coupons' > prd.md
git add . && git commit --quiet --message "the requirements"
ralph tasks
ralph run --agent demo | grep -v Duration
cat prd.md
git log --format=%s
# Or its boxes become stories, once; the original stays as it is.
ralph import prd.md --dry-run > /dev/null
ralph import prd.md
head -n 13 .ralph/tasks.json
