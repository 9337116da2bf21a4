"""The command line: fairpca ..."""
# SPDX-License-Identifier: MIT

import sys


def main() -> None:
    """Run the command line; say what to install when its packages are missing."""
    try:
        from fairpca.cli._app import app
    except ImportError as error:
        if (error.name or "").startswith("fairpca"):
            raise
        sys.stderr.write(f"the fairpca command needs {error.name}: pip install 'fairpca[cli]'\n")
        sys.exit(2)
    app()
