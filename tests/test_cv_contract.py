import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from fairpca import FairPCA
from grouped_by_row import GroupedByRow


@pytest.mark.filterwarnings("ignore::fairpca.exceptions.RankWarning")
@parametrize_with_checks(
    [GroupedByRow(FairPCA(1, min_group_size=2), tolerances=[2.0], target=1.9, random_state=0)],
    expected_failed_checks=lambda estimator: dict.fromkeys(
        ["check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"],
        "rows that are repeated may be on both sides of the split, a row with a weight is on one",
    ),
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)
