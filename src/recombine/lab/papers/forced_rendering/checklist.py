"""What the paper states and shows, each with the claims that judge it: abstract and first page, README, scripts."""

from __future__ import annotations

from recombine.lab.papers.paper import PaperPanel

#: Where statements stand.
ABSTRACT, PAGE, README = "abstract", "first page", "README"
BUMPS, RAMPS = "gaussian_exps/bump_encoding", "gaussian_exps/scalar_encoding"
#: Why some are not judged.
DEMO = "on 16 x 16 pixels, three layers of 32 filters; ten layers of 256 and 250 epochs need a GPU"
RAMP_SUMS = "four layers of 64 filters and 2,000 draws (4c); the released ten of 128 and 20,000 draws need a GPU (4b)"
NOT_READ = "how the paper measures this could not be read"
SHORT = "60 of 300 epochs, one digit"
SMALLER = "a side of 16 pixels, the least and the largest share; the released sweep needs a GPU"
SCALING = "needs a GPU: the released sweep of real-valued places by the hole's share"

CHECKLIST: tuple[PaperPanel, ...] = (
    PaperPanel(ABSTRACT, "Standard architectures fail outside the training places: convolutional decoders", ("1",)),
    PaperPanel(ABSTRACT, "The same: MLPs", ("27",), "on 1 - G they have not learned the donut either"),
    PaperPanel(ABSTRACT, "The same: transformers", ("28",), "two layers of two to five, on G, three networks"),
    PaperPanel(ABSTRACT, "The same: other generative models", (), "no script was released"),
    PaperPanel(ABSTRACT, "Later layers re-entangle the factors", ("8",), NOT_READ),
    PaperPanel(ABSTRACT, "Learned kernels show that failure is memorization, not composition", ("25",), NOT_READ),
    PaperPanel(ABSTRACT, "The geometry of layers shows the same", ("7a", "7b"), NOT_READ),
    PaperPanel(ABSTRACT, "What they paint is a superposition of seen images: population codes", ("3", "4a")),
    PaperPanel(ABSTRACT, "The same: ramp codes", ("4b", "4c"), RAMP_SUMS),
    PaperPanel(ABSTRACT, "A changed architecture with regularization composes", ("12a",)),
    PaperPanel(ABSTRACT, "Curated training data make a network compose", ("9a",)),
    PaperPanel(ABSTRACT, "With these, few data are enough", ("15a",)),
    PaperPanel(f"{PAGE}, Fig. 1b", "A map of errors: small on the donut", ("2",)),
    PaperPanel(f"{PAGE}, Fig. 1b", "A map of errors: large in the hole", ("1", "24")),
    PaperPanel(f"{PAGE}, Fig. 1c", "Images painted in the hole", ("1", "3")),
    PaperPanel("Fig. 2 and on, appendices", "All other figures and text", (), "we had the first page only"),
    PaperPanel(README, "Bump, ramp and one-hot codes all fail", ("1",)),
    PaperPanel(README, "Networks approximate a “binary factorized kernel”", ("5",), "one-hot codes; others are shown"),
    PaperPanel(README, "Decoders of angles superpose the edges of a gap", ("16",), SHORT),
    PaperPanel(README, "Bumps needed without stripes: cubic in the side", ("15b",), SCALING),
    PaperPanel(README, "Bumps needed with stripes: linear in the side", ("38",), "whole places, four sides"),
    PaperPanel(
        f"{BUMPS}/cnn/demo",
        "Errors of a CNN of bump codes, on the donut and in a hole of 9 x 9",
        ("31",),
        "four layers of 64 filters, not ten of 256",
    ),
    PaperPanel(f"{BUMPS}/cnn/demo", "1 - SSIM of the same", ("32",), DEMO),
    PaperPanel(f"{BUMPS}/cnn/demo", "Wider bump codes, by factors of 1 to 11, hardly help", ("33",), DEMO),
    PaperPanel(f"{BUMPS}/cnn/demo", "Peaks within one pixel: 0 %", ("34",), DEMO),
    PaperPanel(f"{RAMPS}/cnn/demo", "Errors and 1 - SSIM of a CNN of ramp codes", ("35",), DEMO),
    PaperPanel(f"{RAMPS}/cnn/demo", "A hole in the form of a cross", ("36",), DEMO),
    PaperPanel(f"{BUMPS}, {RAMPS}, mlp/demo", "Training losses of MLPs", (), "no statement goes with them"),
    PaperPanel(
        f"{BUMPS}/cnn/depth_exp", "CNNs of bump codes with two to ten layers", ("23",), "no number was recorded"
    ),
    PaperPanel(f"{RAMPS}/cnn/depth_exp", "The same of ramp codes", ("29",), "no number was recorded"),
    PaperPanel(f"{BUMPS}/mlp/depth_exp", "MLPs of bump codes with three to seven layers", ("27",), "50 epochs, not 20"),
    PaperPanel(
        f"{RAMPS}/mlp/depth_exp",
        "The same of ramp codes",
        ("39",),
        "three of the five seeds of other sweeps",
    ),
    PaperPanel(f"{BUMPS}/transformer", "Transformers with two to five layers", ("28",), "two layers, on G, no dropout"),
    PaperPanel("depth_exp", "Volume elements of layers", ("7b",), "maps of single networks, not released"),
    PaperPanel("depth_exp", "Factorization metric F of layers", ("7a",), "at the image, not layer by layer"),
    PaperPanel("depth_exp", "Linear readouts of x and y from layers", ("30",), "no number was recorded"),
    PaperPanel(
        f"{BUMPS}/cnn/superposition_exp", "x alone plus y alone is what is painted", ("26",), "2,000 of 20,000 draws"
    ),
    PaperPanel(
        f"{RAMPS}/cnn/superposition_exp",
        "The sum of seen images of column and row is what is painted",
        ("4b", "4c"),
        RAMP_SUMS,
    ),
    PaperPanel("stripe_data_augmentation", "Stripes help (two scripts)", ("11",), "the scripts draw no stripe"),
    PaperPanel(f"{BUMPS}/cnn/regularised_network", "With both penalties the hole is right, from seed 42", ("12d",)),
    PaperPanel(f"{BUMPS}/cnn/regularised_network", "Without, it is not", ("12a",)),
    PaperPanel(f"{BUMPS}/cnn/regularised_network", "Embeddings with both penalties are stripes", ("12c",)),
    PaperPanel(f"{BUMPS}/spatial_aware_mlp", "Two pixel MLPs compose", ("13",), "100 of 2,000 epochs, another hole"),
    PaperPanel("kernel_exps", "Kernels fitted to outputs: product against radial", ("37",), "on 16 x 16 pixels"),
    PaperPanel("rotation_exps", "One digit: a gap of angles is blended", ("16",), SHORT),
    PaperPanel("rotation_exps", "Several digits", ("41",), "three small digits, 60 of 300 epochs"),
    PaperPanel(
        "scaling_exps", "Errors by side of the image and share of the hole: bump and ramp codes", ("40",), SMALLER
    ),
    PaperPanel(
        "encoder_exps", "Encoders of bump codes and ramps read places from images", ("17",), "no result is stated"
    ),
)
