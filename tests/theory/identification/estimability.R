# Answers with R's estimability package which cells of a factorial design are estimable.
# Standard input: one design per line, "sizes order seen", e.g. "3,2 1 110100": the number of levels of each factor, the
# largest order of interaction, and for every cell (last factor fastest) whether it was seen.
# Standard output: one line per design, for every cell whether its expected value is estimable.
suppressPackageStartupMessages(library(estimability))

answer <- function(line) {
  parts <- strsplit(line, " ")[[1]]
  sizes <- as.integer(strsplit(parts[1], ",")[[1]])
  seen <- strsplit(parts[3], "")[[1]] == "1"
  grid <- expand.grid(lapply(rev(sizes), seq_len))
  grid <- grid[, rev(seq_along(sizes)), drop = FALSE]
  names(grid) <- letters[seq_along(sizes)]
  for (column in seq_along(sizes)) grid[[column]] <- factor(grid[[column]], levels = seq_len(sizes[column]))
  # R does not take a first power, so order 1 is written as the plain sum.
  power <- if (parts[2] == "1") "" else paste0("^", parts[2])
  model <- as.formula(paste0("~(", paste(names(grid), collapse = "+"), ")", power))
  rows <- model.matrix(model, grid)
  basis <- nonest.basis(rows[seen, , drop = FALSE])
  paste(as.integer(is.estble(rows, basis)), collapse = "")
}

input <- file("stdin")
designs <- readLines(input)
close(input)
for (line in designs) cat(answer(line), "\n", sep = "")
