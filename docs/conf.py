"""Sphinx configuration. Reference pages are generated from the code when the docs are built."""

import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parent / "src"))

from generate import escape_docstring, own_names, write_reference  # noqa: E402

import bunraku  # noqa: E402

project = "Bunraku"
version = release = bunraku.__version__
copyright = "the Bunraku developers"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.mathjax", "sphinx_gallery.gen_gallery"]
myst_enable_extensions = ["dollarmath", "amsmath", "deflist", "colon_fence"]
myst_heading_anchors = 3
html_theme = "furo"
html_title = "Bunraku"
html_static_path = ["static"]
exclude_patterns = ["_build", "gallery/*.ipynb", "gallery/*.py", "gallery/*.zip", "gallery/*.md5"]
suppress_warnings = ["config.cache"]
nitpicky = False
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_mock_imports: list[str] = []
sphinx_gallery_conf = {
    "plot_gallery": os.environ.get("BUNRAKU_GALLERY", "run") != "quick",  # quick: lessons are shown and not run; the tests run them
    "examples_dirs": str(HERE.parent / "examples"),
    "gallery_dirs": "gallery",
    "filename_pattern": r"/\d\d_",
    "download_all_examples": False,
    "show_memory": False,
    "min_reported_time": 1e9,
    "remove_config_comments": True,
    "abort_on_example_error": True,
    "within_subsection_order": "FileNameSortKey",
    "copyfile_regex": r".*\.(urdf|yaml|bvh|csv)",
}


def setup(app):
    """Generate the reference before reading sources; escape what reST would misread in formulas; link classes."""
    write_reference(HERE / "reference")
    app.connect("autodoc-process-docstring", escape_docstring)
    app.connect("doctree-read", own_names)
