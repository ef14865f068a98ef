"""The budgets of a run: estimate, prices, reservations before calls, and the end of a budget."""
