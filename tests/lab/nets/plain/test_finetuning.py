"""Rescaling and finetuning torch models: what changes, what must not, and the models of the paper."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn

from recombine.errors import InputError
from recombine.lab.nets.plain.activations import batch_statistics, layer_activations
from recombine.lab.nets.plain.finetuning import last_layer, recalibrate, rescale, rescale_and_finetune, reset
from recombine.lab.nets.plain.image_models import EncoderBlock, ResNet18, SmallViT
from recombine.lab.nets.plain.training import Recipe, train


@pytest.fixture
def model() -> ResNet18:
    torch.manual_seed(0)
    return ResNet18(channels=1, classes=4, widths=(4, 8), large_stem=False)


@pytest.fixture
def samples() -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    labels = torch.arange(24) % 2
    return torch.randn(24, 1, 8, 8, generator=generator) + labels.view(-1, 1, 1, 1), labels


def fast(parameters: object) -> torch.optim.Optimizer:
    return torch.optim.SGD(parameters, lr=0.05, momentum=0.9)


RECIPE = Recipe(fast, epochs=6, outputs=(0, 2))


def state(model: nn.Module) -> dict[str, torch.Tensor]:
    return copy.deepcopy(model.state_dict())


def same(first: dict[str, torch.Tensor], second: dict[str, torch.Tensor]) -> bool:
    return all(torch.equal(first[name], second[name]) for name in first)


def test_every_parameter_is_scaled_and_statistics_are_not(model: ResNet18) -> None:
    scaled = rescale(model, 0.25)
    for name, parameter in model.named_parameters():
        assert torch.equal(dict(scaled.named_parameters())[name], 0.25 * parameter)
    assert same(dict(model.named_buffers()), dict(scaled.named_buffers()))


def test_inputs_that_cannot_be_used_leave_the_statistics_alone(model: ResNet18) -> None:
    before = state(model)
    with pytest.raises(InputError, match="inputs is 'x'; give a Tensor"):
        recalibrate(model, "x")
    assert same(before, state(model))
    assert all(norm.momentum == 0.1 for norm in model.modules() if isinstance(norm, nn.BatchNorm2d))


def test_recalibrated_statistics_are_those_of_the_samples(model: ResNet18, samples: tuple) -> None:
    scaled = rescale(model, 0.125)
    recalibrate(scaled, samples[0])
    with torch.no_grad(), batch_statistics(scaled):
        wanted = scaled(samples[0])
    with torch.no_grad():
        found = scaled.eval()(samples[0])
    # Running variances divide by n - 1, batches by n.
    assert torch.allclose(found, wanted, rtol=0.05, atol=1e-3)


@pytest.mark.slow
def test_finetuning_leaves_the_pretrained_model_alone_and_is_the_same_every_time(
    model: ResNet18, samples: tuple
) -> None:
    before = state(model)
    runs = [
        rescale_and_finetune(model, samples, factors=(1.0, 0.25), layers=model.layers, test=samples, recipe=RECIPE)
        for _ in range(2)
    ]
    assert same(before, state(model))
    for one, two in zip(*runs, strict=True):
        assert one.losses == two.losses
        assert set(one.reuse) == set(model.layers)
        assert len(one.accuracies) == len(one.losses) <= 6
        assert one.losses[-1] < one.losses[0]


def test_only_the_outputs_of_the_task_are_trained(model: ResNet18, samples: tuple) -> None:
    tuned = copy.deepcopy(model)
    train(tuned, samples, RECIPE)
    assert torch.equal(tuned.readout.weight[2:], model.readout.weight[2:])
    assert not torch.equal(tuned.readout.weight[:2], model.readout.weight[:2])


def test_training_stops_at_the_loss_it_was_told(samples: tuple) -> None:
    net = nn.Sequential(nn.Flatten(), nn.Linear(64, 2))
    losses, _ = train(net, samples, Recipe(fast, epochs=200, stop=0.3))
    assert losses[-1] < 0.3 <= losses[-2]


def test_resnet_has_the_published_size_and_ends_in_one_place() -> None:
    net = ResNet18(classes=100)
    assert sum(parameter.numel() for parameter in net.parameters()) == 11_227_812
    assert layer_activations(net, torch.zeros(2, 3, 32, 32), ["stage4"])["stage4"].shape == (2, 512, 1, 1)


def test_attention_of_the_transformer_is_scaled_by_its_width() -> None:
    torch.manual_seed(0)
    block = EncoderBlock(width=16, heads=4, hidden=8)
    tokens = torch.randn(2, 5, 16)
    query, key, value = block.attend(block.norm1(tokens)).unflatten(-1, (3, 4, 4)).permute(2, 0, 3, 1, 4).unbind(0)
    weights = torch.softmax(torch.einsum("bhik,bhjk->bhij", query, key) / 4, dim=-1)
    wanted = tokens + block.mix(torch.einsum("bhij,bhjk->bihk", weights, value).flatten(2))
    inner = nn.functional.gelu(block.down(nn.functional.gelu(block.up(block.norm2(wanted)))))
    assert torch.allclose(block(tokens), wanted + inner, atol=1e-5)


def test_factors_meet_the_same_dropout_and_leave_the_callers_generator_alone(samples: tuple) -> None:
    torch.manual_seed(0)
    net = nn.Sequential(nn.Flatten(), nn.Linear(64, 16), nn.Dropout(0.5), nn.ReLU(), nn.Linear(16, 2))
    mark = torch.get_rng_state()
    alone, (_, later) = (
        rescale_and_finetune(net, samples, factors=factors, recipe=RECIPE, controls=False)
        for factors in ([0.5], [1.0, 0.5])
    )
    assert alone[0].losses == later.losses
    assert torch.equal(mark, torch.get_rng_state())
    assert net.training
    assert not later.model.training


def test_statistics_are_calibrated_without_dropout(samples: tuple) -> None:
    net = nn.Sequential(nn.Flatten(), nn.Dropout(0.5), nn.BatchNorm1d(64))
    recalibrate(net, samples[0])
    assert torch.allclose(net[2].running_mean, samples[0].flatten(1).mean(0), atol=1e-6)
    assert net[1].training


def test_nothing_learned_is_nothing_changed(samples: tuple) -> None:
    class Reader(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.encoder = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.5, batch_first=True)
            self.readout = nn.Linear(8, 2)

        def forward(self, images: torch.Tensor) -> torch.Tensor:
            return self.readout(self.encoder(images[:, 0]).mean(1))

    torch.manual_seed(0)
    still = Recipe(lambda parameters: torch.optim.SGD(parameters, lr=0.0), epochs=1)
    (found,) = rescale_and_finetune(Reader(), samples, factors=[1.0], layers=["encoder"], recipe=still, controls=False)
    reuse = found.reuse["encoder"]
    assert reuse.before == reuse.after == pytest.approx(reuse.shared)


def test_bad_input_is_named(model: ResNet18, samples: tuple) -> None:
    with pytest.raises(InputError, match="recipe is 'adam'; give a Recipe"):
        rescale_and_finetune(model, samples, recipe="adam")
    with pytest.raises(InputError, match="the optimiser is 3; give an Optimizer"):
        rescale_and_finetune(model, samples, recipe=Recipe(lambda _: 3))
    with pytest.raises(InputError, match="factor is 0"):
        rescale(model, 0.0)
    with pytest.raises(InputError, match="factor is inf"):
        rescale(model, float("inf"))
    with pytest.raises(InputError, match="as many of both"):
        rescale_and_finetune(model, (samples[0], samples[1][:3]))
    with pytest.raises(InputError, match="at least two"):
        rescale_and_finetune(nn.Sequential(nn.Flatten(), nn.Linear(64, 2)), (samples[0][:1], samples[1][:1]))
    with pytest.raises(InputError, match="give a list of numbers"):
        rescale_and_finetune(model, samples, factors=0.5)
    with pytest.raises(InputError, match=r"\['stem'\]"):
        rescale_and_finetune(model, samples, layers="stem")
    with torch.no_grad():
        model.readout.weight.zero_()
        model.readout.bias.zero_()
    with pytest.raises(InputError, match="layer 'readout': activations 'before' are all zero"):
        rescale_and_finetune(model, samples, layers=["readout"], recipe=Recipe(epochs=1))
    with pytest.raises(InputError, match="do not fill"):
        SmallViT(side=30)


def test_a_token_is_a_patch_in_the_order_of_unfold() -> None:
    torch.manual_seed(0)
    model, images = SmallViT(depth=1), torch.randn(3, 3, 32, 32)
    patches = nn.functional.unfold(images, 4, stride=4).transpose(1, 2)
    tokens = torch.cat([model.token.expand(3, -1, -1), model.embed(patches)], dim=1) + model.positions
    assert model(images).flatten().tolist() == pytest.approx(
        model.readout(model.blocks(tokens)[:, 0]).flatten().tolist(), abs=1e-5
    )


def test_factors_start_alike_so_that_a_factor_of_one_is_the_limit_of_others(model: ResNet18, samples: tuple) -> None:
    shifted = (2 * samples[0] + 3, samples[1])
    recipe = Recipe(fast, epochs=2, outputs=(0, 2))
    near = {
        kind: [
            torch.cat([buffer.double().flatten() for buffer in one.model.buffers()])
            for one in rescale_and_finetune(
                model, shifted, factors=(1.0, 1 + 1e-6), test=shifted, recipe=recipe, statistics=kind, controls=False
            )
        ]
        for kind in ("all", "rescaled", "none")
    }
    assert torch.allclose(*near["all"], rtol=1e-3, atol=1e-4)
    assert torch.allclose(*near["none"], rtol=1e-3, atol=1e-4)
    assert not torch.allclose(*near["rescaled"], rtol=1e-2, atol=1e-2)
    with pytest.raises(InputError, match="did you mean 'rescaled'"):
        rescale_and_finetune(model, samples, statistics="rescale")
    for factors in ((), ("a",), (None,)):
        with pytest.raises(InputError, match="factor"):
            rescale_and_finetune(model, samples, factors=factors)


def digits_like(seed: int = 0) -> tuple[nn.Module, tuple[torch.Tensor, torch.Tensor]]:
    torch.manual_seed(seed)
    inputs = torch.randn(40, 8)
    return nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2)), (inputs, (inputs[:, 0] > 0).long())


def test_controls_are_the_same_training_from_a_new_head_and_from_scratch() -> None:
    net, task = digits_like()
    train(net, task, RECIPE)
    found = rescale_and_finetune(net, task, factors=(0.5,), test=task, recipe=RECIPE)
    assert [(one.factor, one.start) for one in found] == [(0.5, "rescaled"), (1.0, "head reset"), (1.0, "from scratch")]
    # By hand: torch's own layers, made with the recipe's seed in the same order.
    torch.manual_seed(RECIPE.seed)
    scratch = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2))
    torch.manual_seed(RECIPE.seed)
    headless = copy.deepcopy(net)
    headless[2] = nn.Linear(16, 2)
    for control, one in zip((headless, scratch), found[1:], strict=True):
        losses, accuracies = train(control, task, RECIPE, task)
        assert one.losses == losses
        assert one.accuracies == accuracies
    assert len(rescale_and_finetune(net, task, factors=(0.5,), recipe=RECIPE, controls=False)) == 1


def test_a_control_from_scratch_can_be_made_by_the_caller() -> None:
    net, task = digits_like()
    other, _ = digits_like(seed=5)
    before = state(other)
    found = rescale_and_finetune(net, task, factors=(1.0,), recipe=RECIPE, fresh=lambda: other)
    assert same(before, state(other))
    assert found[-1].losses == train(copy.deepcopy(other), task, RECIPE)[0]
    with pytest.raises(InputError, match=r"fresh makes a model whose 'weight' has shape \(2, 8\)"):
        rescale_and_finetune(net, task, recipe=RECIPE, fresh=lambda: nn.Linear(8, 2))
    with pytest.raises(InputError, match="what fresh makes is None"):
        rescale_and_finetune(net, task, recipe=RECIPE, fresh=lambda: None)  # type: ignore[arg-type, return-value]


def test_a_head_can_be_left_out_of_rescaling() -> None:
    net, task = digits_like()
    still = Recipe(lambda parameters: torch.optim.SGD(parameters, lr=0.0), epochs=1)
    about = {"factors": (0.5,), "recipe": still, "controls": False}
    whole, kept = (rescale_and_finetune(net, task, scale_head=both, **about)[0].model for both in (True, False))
    assert last_layer(net) == "2"
    assert torch.equal(whole[2].weight, net[2].weight / 2)
    assert torch.equal(kept[2].weight, net[2].weight)
    assert torch.equal(kept[0].weight, net[0].weight / 2)
    with pytest.raises(InputError, match="layer 'readout' is not in the model"):
        rescale_and_finetune(net, task, head="readout", recipe=RECIPE)


def test_what_cannot_be_drawn_anew_is_named() -> None:
    class Shift(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.shift = nn.Parameter(torch.zeros(2))

        def forward(self, inputs: torch.Tensor) -> torch.Tensor:
            return inputs + self.shift

    net = nn.Sequential(nn.Linear(2, 2), Shift())
    with pytest.raises(InputError, match=r"layer '1' \(Shift\) has parameters of its own and no reset_parameters"):
        reset(net)
    generator = torch.get_rng_state()
    assert torch.equal(reset(net, ["0"], seed=3)[0].weight, reset(net, ["0"], seed=3)[0].weight)
    assert torch.equal(generator, torch.get_rng_state())
