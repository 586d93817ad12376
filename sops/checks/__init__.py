"""Says what is wrong with a procedure, where, and how to mend it."""

from sops.checks.findings import Finding, Findings
from sops.checks.run import check_file, check_text

__all__ = ["Finding", "Findings", "check_file", "check_text"]
