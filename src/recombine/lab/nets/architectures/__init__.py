"""Architectures whose networks train side by side, from perceptrons to transformers and LSTMs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine._lazy import lazy_package

if TYPE_CHECKING:
    from recombine.lab.nets.architectures.convnet import ConvNet as ConvNet
    from recombine.lab.nets.architectures.mlp import MLP as MLP
    from recombine.lab.nets.architectures.pair_net import PairNet as PairNet
    from recombine.lab.nets.architectures.resnet import ResNet as ResNet
    from recombine.lab.nets.architectures.seq2seq import Seq2Seq as Seq2Seq
    from recombine.lab.nets.architectures.seq2seq import sequence_rows as sequence_rows
    from recombine.lab.nets.architectures.seq2seq import sequences_right as sequences_right
    from recombine.lab.nets.architectures.students import Continued as Continued
    from recombine.lab.nets.architectures.students import ReluStudent as ReluStudent
    from recombine.lab.nets.architectures.vit import ViT as ViT

lazy_package(__name__)
