"""fairpca transform: new rows through a model."""
# SPDX-License-Identifier: MIT

from pathlib import Path

from fairpca.cli._model import table_model
from fairpca.cli._options import NewTable
from fairpca.cli._plain import plain
from fairpca.cli._stages import Stages
from fairpca.cli._words import out, print_json
from fairpca.tables import write_projections


def run_transform(
    model_path: Path, choice: NewTable, file: Path, keep: tuple[str, ...], unknown: str, as_json: bool
) -> None:
    """Project the rows of a table and write them.

    Parameters
    ----------
    model_path : Path
        The model.
    choice : NewTable
        The table.
    file : Path
        Where to.
    keep : tuple of str
        Columns that are written as they are.
    unknown : str
        What becomes of categories that the fit did not know.
    as_json : bool
        Whether to print JSON.
    """
    model = table_model(model_path)
    with Stages() as stages:
        written = write_projections(
            file,
            choice.file,
            model.encoder,
            model.model_.transform,
            keep=keep,
            row_numbers=True,
            unknown=unknown,
            callback=stages.rows,
        )
    if as_json:
        unknown_rows = [
            {"column": name, "category": text, "rows": count} for (name, text), count in written.unknown.items()
        ]
        print_json({"file": str(file), "rows": written.n_rows, "dropped": written.n_dropped, "unknown": unknown_rows})
    else:
        out().print(f"{written.n_rows:,} rows, {model.model_.n_components_} components: {plain(str(file))}")
