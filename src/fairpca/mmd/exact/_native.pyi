from fairpca._utils.typing import FloatArray

def exp_inplace(array: FloatArray) -> None: ...
def gaussian_lane(
    Z: FloatArray,
    operand: FloatArray,
    sums: FloatArray,
    lane: int,
    lanes: int,
    scales: FloatArray = ...,
    n_first: int = ...,
) -> None: ...
