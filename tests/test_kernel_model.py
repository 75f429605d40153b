from sklearn.utils.estimator_checks import parametrize_with_checks

from recombine.theory.kernel_model import KernelClassifier, KernelRegressor


@parametrize_with_checks(
    [
        KernelRegressor(),
        KernelRegressor(ridge=0.1, intercept=True),
        KernelClassifier(),
        KernelClassifier(C=1.0, intercept=True),
        KernelClassifier(loss="squared"),
    ]
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)
