"""One page that can be handed on: what reduced data still tell, and what removing that costs.

It needs jinja2: pip install 'fairpca[report]'.
"""
# SPDX-License-Identifier: MIT

from fairpca.report._case import About
from fairpca.report._make import Report, make_report
from fairpca.report._render import render_page as render_page

__all__ = ["About", "Report", "make_report"]
