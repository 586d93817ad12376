"""Datasets in LangSmith's shape: built from recorded calls and labelled sets, evaluated offline, uploaded on request."""

DATASETS = ("next_action", "state", "query", "pool", "calls")
