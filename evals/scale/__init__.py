"""Does a prediction cost the same after ten million turns as after a thousand? `cuecard bench predict-scale`."""
