"""What leaves a database as a whole, and what comes in from another."""
