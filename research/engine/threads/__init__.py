"""Start of a run and its dialogue with people: plan approval, commands, earlier runs."""
