# An evening's list: one task is done at once, one is a lie first, one breaks a test first, one needs a decision.
ralph demo
