"""Small tools that any module may use."""
# SPDX-License-Identifier: MIT
