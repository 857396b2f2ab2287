"""The Spark side of Tidelog."""
