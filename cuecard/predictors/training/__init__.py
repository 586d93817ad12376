"""Training of the learned predictor: needs the `train` extra; running a model does not."""
