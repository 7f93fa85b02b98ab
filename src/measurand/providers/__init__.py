"""The outside that answers: one file for each way of asking a model."""
