"""Survey questions with planted facts, the pages that hold them, and the rubric."""
