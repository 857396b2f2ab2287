"""Plans (`plans.py`) and rules (`rules.py`) as people read them."""
