"""Workers and how they scale."""
