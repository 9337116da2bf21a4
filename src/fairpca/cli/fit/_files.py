"""The files that a fit from a table writes."""
# SPDX-License-Identifier: MIT

import csv
import json
import shlex
import sys
import warnings
from pathlib import Path

from fairpca import FairPCA
from fairpca._utils.files import writing
from fairpca.cli._stages import Stages
from fairpca.cli._study import known
from fairpca.cli._words import finite
from fairpca.cli.fit._found import Fitted
from fairpca.cli.fit._metrics import metrics
from fairpca.report import About, make_report
from fairpca.table_model import TableModel
from fairpca.tables import write_projections

FILES = {
    "report": "report.html",
    "model": "model.fairpca",
    "projected": "projected.csv",
    "loadings": "loadings.csv",
    "certificate": "certificate.json",
    "metrics": "metrics.json",
}
"""What is written, and what it is called."""


def write(found: Fitted, folder: Path, stages: Stages) -> dict[str, str]:
    """Write all files, each whole or not at all.

    Parameters
    ----------
    found : Fitted
        What was found.
    folder : Path
        Where to.
    stages : Stages
        Told how far it is.

    Returns
    -------
    files : dict of str to str
        What is where.
    """
    files = {what: str(folder / name) for what, name in FILES.items()}
    model = found.model
    table_model = TableModel.of_fitted(
        found.prepared.encoder, model, found.roles, found.held_out, found.choice.options()
    )
    table_model.save(files["model"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # said when the table was read
        write_projections(
            files["projected"],
            found.choice.file,
            found.prepared.encoder,
            model.transform,
            row_numbers=True,
            callback=stages.rows,
        )
    write_loadings(Path(files["loadings"]), model, found.prepared.feature_names)
    if found.certificate is not None:
        found.certificate.save(files["certificate"])
    else:
        # One of another fit must not stay beside this model.
        Path(files.pop("certificate")).unlink(missing_ok=True)
    stages.say("writing the report")
    make_report(
        model,
        found.prepared.X_new,
        **known(found.prepared.people_new),
        path=found.path,
        before=found.before,
        audit=found.audit,
        audit_before=found.audit_before,
        about=about(found),
        file=files["report"],
        random_state=found.held_out.random_state,
    )
    with writing(Path(files["metrics"])) as temporary:
        text = json.dumps(finite(metrics(found, files)), ensure_ascii=False, allow_nan=False, indent=1)
        temporary.write_text(text + "\n", encoding="utf-8")
    return files


def about(found: Fitted) -> About:
    """Return what a reader of the report must know of the table.

    Parameters
    ----------
    found : Fitted
        What was found.
    """
    columns = [
        {"name": each["column"], "kind": f"{each['role']}, {each['kind']}", "note": each["note"]}
        for each in found.prepared.columns
    ]
    return About(
        data=found.choice.table.name,
        held_out=found.held_out.share,
        columns=columns,
        notes=found.notes,
        command=shlex.join(["fairpca", *sys.argv[1:]]),
        features=found.prepared.feature_names,
    )


def write_loadings(path: Path, model: FairPCA, features: list[str]) -> None:
    """Write the components, one feature a line, in the scaled units.

    Parameters
    ----------
    path : Path
        The file.
    model : FairPCA
        The fitted model.
    features : list of str
        Names of the features.
    """
    with writing(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["feature", "mean", "scale", *(f"component{k + 1}" for k in range(model.n_components_))])
        for row in zip(features, model.mean_, model.scale_, *model.components_, strict=True):
            writer.writerow(row)
