from fairpca._utils.typing import AnyArray, FloatArray, IntArray

NativeRecipe = tuple[int, int, int, FloatArray, FloatArray, IntArray, IntArray, IntArray, IntArray]

def exp_inplace(array: FloatArray) -> None: ...
def gaussian_lanes(
    Z: FloatArray,
    operand: FloatArray,
    sums: FloatArray,
    share: int,
    shares: int,
    threads: int,
    n_whole: int,
    scales: FloatArray = ...,
    n_first: int = ...,
) -> None: ...
def hessian_blocks(
    crossings: AnyArray, outer: AnyArray, same: AnyArray, hessian: FloatArray, is_halved: bool
) -> None: ...
def squares_between(Z: FloatArray, low: float, high: float, kept: FloatArray) -> tuple[int, int]: ...
def project(X: AnyArray, mean: FloatArray, matrix: FloatArray, out: FloatArray) -> None: ...
def pull_back(X: AnyArray, mean: FloatArray, forces: FloatArray, out: FloatArray) -> None: ...
def feature_moments(
    recipe: NativeRecipe, Y: FloatArray, weights: FloatArray, out: FloatArray, squares: FloatArray | None
) -> None: ...
def feature_slopes(recipe: NativeRecipe, Y: FloatArray, coefficients: FloatArray, out: FloatArray) -> None: ...
def felt_of_outliers(
    Y: FloatArray,
    weights: FloatArray,
    Y_out: FloatArray,
    weights_out: FloatArray,
    felt: FloatArray,
    pulls: FloatArray,
) -> None: ...
