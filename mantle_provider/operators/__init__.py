"""What runs: the step runtime, the outcome, and one operator per action family."""
