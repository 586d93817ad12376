"""Does the pool hold and find the right document? By predictor recall, beside plain search over everything."""
