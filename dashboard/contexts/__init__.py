"""Template contexts, built from database rows. Templates never see a model instance."""
