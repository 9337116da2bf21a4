"""What goes wrong when a data set has to be fetched."""
# SPDX-License-Identifier: MIT


class DatasetUnavailableError(OSError):
    """A data set is neither cached nor could it be fetched; the message gives the manual route."""
