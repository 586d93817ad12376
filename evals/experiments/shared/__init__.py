"""What several experiments measure from: recorded calls, their turns as a predictor sees them, pools of real calls."""
