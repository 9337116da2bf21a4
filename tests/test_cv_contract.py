import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from grouped_by_row import GroupedByRow


@pytest.mark.filterwarnings("ignore::fairpca.exceptions.RankWarning")
@parametrize_with_checks([GroupedByRow(1, tolerances=[2.0], cv=2, min_group_size=2, random_state=0)])
def test_scikit_learn_contract(estimator, check):
    check(estimator)
