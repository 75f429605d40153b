"""Losses: closed slopes against autograd, values against torch's own losses."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional

from recombine.errors import InputError
from recombine.lab.nets.losses import LOSSES, loss_named


def example(name: str, outputs: int) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(outputs)
    values = 3 * torch.randn(4, 7, outputs, generator=generator, dtype=torch.float64)
    if loss_named(name).sequences:
        symbols = torch.randint(min(1, outputs - 1), outputs, (4, 7, 6), generator=generator)
        # Zeros come last, and at least one does; logits may be cut off before the last place.
        lengths = torch.randint(5, (4, 7, 1), generator=generator)
        return 3 * torch.randn(4, 7, 5, outputs, generator=generator, dtype=torch.float64), symbols.where(
            torch.arange(6) < lengths, 0
        )
    if loss_named(name).labels:
        return values, torch.randint(outputs, (4, 7), generator=generator)
    if name == "soft-logistic":
        return values, torch.rand(4, 7, outputs, generator=generator, dtype=torch.float64) * 2 - 1
    if name == "mse":
        return values, torch.randn(4, 7, outputs, generator=generator, dtype=torch.float64)
    return values, torch.randint(2, (4, 7, outputs), generator=generator).double() * 2 - 1


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("outputs", [1, 3])
def test_slope_is_the_gradient_of_the_value(name: str, outputs: int) -> None:
    values, targets = example(name, outputs)
    loss = loss_named(name)
    leaf = values.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(loss.value(leaf, targets).sum(), leaf)
    torch.testing.assert_close(loss.slope(values, targets), gradient, rtol=0, atol=1e-12)


def test_values_are_those_of_torch() -> None:
    values, targets = example("logistic", 1)
    ours = loss_named("logistic").value(values, targets).mean()
    torch.testing.assert_close(ours, functional.soft_margin_loss(values, targets))
    values, labels = example("cross-entropy", 3)
    ours = loss_named("cross-entropy").value(values, labels).mean()
    torch.testing.assert_close(ours, functional.cross_entropy(values.flatten(0, 1), labels.flatten()))
    values, targets = example("mse", 3)
    torch.testing.assert_close(loss_named("mse").value(values, targets).mean(), functional.mse_loss(values, targets))
    values, targets = example("hinge", 1)
    ours = loss_named("hinge").value(values, targets).mean()
    torch.testing.assert_close(ours, functional.relu(1 - values * targets).mean())


def test_categorical_hinge_is_that_of_keras() -> None:
    """Worked by hand from max(0, 1 + max(0, largest wrong) - right): the competitor is never below 0."""
    outputs = torch.tensor([[[2.0, 0.5, -1.0], [0.3, 0.9, 0.0], [-3.0, -0.5, -2.0], [-0.2, -1.0, -4.0]]])
    labels = torch.tensor([[0, 0, 1, 2]])
    loss = loss_named("categorical-hinge")
    torch.testing.assert_close(loss.value(outputs, labels), torch.tensor([[0.0, 1.6, 1.5, 5.0]]))
    slopes = [[0.0, 0.0, 0.0], [-1.0, 1.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, -1.0]]
    assert loss.slope(outputs, labels)[0].tolist() == slopes


def test_soft_logistic_is_cross_entropy_with_a_share_of_the_other_answer() -> None:
    values, signs = example("logistic", 1)
    smoothed = loss_named("soft-logistic").value(values, 0.9 * signs)
    wanted = functional.binary_cross_entropy_with_logits(values, (1 + 0.9 * signs) / 2, reduction="none").mean(-1)
    torch.testing.assert_close(smoothed, wanted)
    for sharp in ("value", "slope"):
        ours, plain = (getattr(loss_named(name), sharp)(values, signs) for name in ("soft-logistic", "logistic"))
        torch.testing.assert_close(ours, plain, rtol=1e-12, atol=1e-12)


def test_logistic_survives_large_margins() -> None:
    far = torch.tensor([[[800.0], [-800.0]]])
    value = loss_named("logistic").value(far, torch.ones_like(far))
    assert value.tolist() == [[0.0, 800.0]]


def test_an_unknown_loss_is_refused_with_a_near_miss() -> None:
    with pytest.raises(InputError, match="did you mean 'logistic'"):
        loss_named("logistics")


def test_squared_absolute_loss_adds_a_tenth_of_the_absolute_error() -> None:
    outputs, targets = torch.tensor([[[1.0, 3.0]]]), torch.tensor([[[0.0, 1.0]]])
    assert float(loss_named("squared-absolute").value(outputs, targets)) == pytest.approx(2.5 + 0.1 * 1.5)
