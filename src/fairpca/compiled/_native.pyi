from fairpca._utils.typing import AnyArray, FloatArray, IntArray

NativeRecipe = tuple[int, int, FloatArray, FloatArray, IntArray, IntArray, IntArray, IntArray]

def exp_inplace(array: FloatArray) -> None: ...
def gaussian_sums(
    Z: FloatArray,
    operand: FloatArray,
    sums: FloatArray,
    first: int,
    step: int,
    n_whole: int,
    scales: FloatArray = ...,
    n_first: int = ...,
) -> None: ...
def project(X: AnyArray, mean: FloatArray, matrix: FloatArray, out: FloatArray) -> None: ...
def pull_back(X: AnyArray, mean: FloatArray, gradients: FloatArray, out: FloatArray) -> None: ...
def feature_moments(
    recipe: NativeRecipe, Y: FloatArray, weights: FloatArray, out: FloatArray, squares: FloatArray | None
) -> None: ...
def feature_slopes(recipe: NativeRecipe, Y: FloatArray, coefficients: FloatArray, out: FloatArray) -> None: ...
