"""One page that can be handed on: are reduced data fair enough, how sure is that, and what does it cost.

It needs jinja2: pip install 'fairpca[report]'.
"""
# SPDX-License-Identifier: MIT

from fairpca.report._case import About
from fairpca.report._make import Report, find_browser as find_browser, make_report
from fairpca.report._render import render_methods as render_methods, render_page as render_page

__all__ = ["About", "Report", "make_report"]
