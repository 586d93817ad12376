"""Datasets in LangSmith's shape: from recorded calls and labelled sets, evaluated offline or uploaded."""

DATASETS = ("next_action", "state", "query", "pool", "calls")
