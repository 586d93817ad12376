"""How soon the first word comes through the gateway, with many calls at once, beside the bare model's."""
