"""The experiments of the paper, run again with this package: `python -m experiments --help`."""
# SPDX-License-Identifier: MIT
