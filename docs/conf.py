"""How the site is made: `make docs`."""
# SPDX-License-Identifier: MIT

import sys
from importlib.metadata import distribution
from pathlib import Path

import fairpca

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

from public_names import home_of
from values import values_of

project = "fairpca"
author = "the fairpca developers"
copyright = author
version = release = fairpca.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "executed_pages",
    "public_names",
]
exclude_patterns = ["_build", "_templates", "_ext"]
templates_path = ["_templates"]
# Single backticks in docstrings link where they can and are plain names where not.
default_role = "py:obj"
suppress_warnings = ["config.cache"]

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

autosummary_generate = True
autosummary_imported_members = True
autosummary_ignore_module_all = False
autosummary_context = {"home_of": home_of, "values_of": values_of}
# plan and Plan, which some file systems take for the same.
autosummary_filename_map = {"fairpca.plan": "fairpca.plan-function"}
autodoc_member_order = "bysource"
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

html_theme = "pydata_sphinx_theme"
html_title = "fairpca"
# One file of MathJax, so that formulas need no network where they are read.
_mathjax = distribution("sphinx-mathjax-offline").locate_file("sphinx-mathjax-offline/static/mathjax/tex-svg.js")
html_static_path = ["_static", str(_mathjax)]
mathjax_path = "tex-svg.js"
html_css_files = ["fairpca.css"]
html_show_sourcelink = False
html_copy_source = False
html_context = {"default_mode": "auto"}
html_sidebars = {"start": [], "cite": [], "changelog": []}
html_theme_options = {
    "logo": {"text": "fairpca"},
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "header_links_before_dropdown": 7,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
copybutton_prompt_text = r"\$ |>>> |\.\.\. "
copybutton_prompt_is_regexp = True
copybutton_exclude = ".linenos, .gp, .go"

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"/plot_",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "parallel": 2,
    "reference_url": {"fairpca": None},
    "doc_module": ("fairpca",),
    "backreferences_dir": "auto_examples/used_in",
    "image_scrapers": ("matplotlib",),
    "matplotlib_animations": False,
    "download_all_examples": False,
    "show_signature": False,
    "remove_config_comments": True,
    "min_reported_time": 10**6,
    "write_computation_times": False,
    "image_srcset": ["2x"],
}
