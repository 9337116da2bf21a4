"""All numbers of a fit from a table."""
# SPDX-License-Identifier: MIT

from typing import Any

from fairpca import __version__
from fairpca.cli.fit._found import Fitted


def metrics(found: Fitted, files: dict[str, str]) -> dict[str, Any]:
    """Return all numbers, as plain types.

    Parameters
    ----------
    found : Fitted
        What was found.
    files : dict
        What is where.
    """
    model, prepared = found.model, found.prepared
    return {
        "fairpca": __version__,
        "table": str(found.choice.table),
        "rows": {
            "fitted": len(prepared.rows_train),
            "held_out": len(prepared.rows_new),
            "dropped": prepared.n_dropped,
            "held_out_share": found.held_out.share,
            "seed": found.held_out.random_state,
        },
        "columns": prepared.columns,
        "notes": list(found.notes),
        "converged": model.converged_,
        "status": str(model.result_.status),
        "n_components": model.n_components_,
        "n_live_components": model.n_live_components_,
        "variance_kept": float(model.explained_variance_ratio_.sum()),
        "variance_kept_by_pca": float(found.before.explained_variance_ratio_.sum()),
        "mmd2": model.mmd2_,
        "tolerance": model.tolerance_,
        "chance_level": model.chance_level_,
        "expected_mmd2_new": model.expected_mmd2_new_,
        "bandwidth": model.bandwidth_,
        "measures": model.measures_,
        "audit": found.audit.to_dict(),
        "audit_of_pca": found.audit_before.to_dict(),
        "seconds": found.seconds,
        "files": files,
    }
