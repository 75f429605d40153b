# Audit a data.frame from R, with reticulate: Rscript audit.R (RETICULATE_PYTHON names the Python that has recombine).
library(reticulate)
rc <- import("recombine")

trial <- read.csv("trial.csv", stringsAsFactors = TRUE)
audit <- rc$audit(trial, factors = c("variety", "site"), outcome = "yield")
cat(py_str(audit), "\n")

# Every table of a result becomes a data.frame, column by column.
as_data_frame <- function(table) {
  columns <- lapply(table$columns, function(name) py_get_item(table, name)$tolist())
  data.frame(setNames(columns, table$columns), check.names = FALSE)
}
verdicts <- as_data_frame(audit$verdicts)
print(table(verdicts$verdict))
print(head(verdicts[order(-verdicts$predicted), c("variety", "site", "verdict", "predicted", "low", "high")], 3),
      row.names = FALSE)

# One cell in words, and what to grow next.
cat(audit$explain(dict(variety = "V1", site = "S5")), "\n")
plan <- audit$plan(k = 2L)
print(as_data_frame(plan$table))

# A plot of R's own, and the report.
pdf("audit.pdf")
colours <- c(determined = "#0072b2", disconnected = "#e69f00")
plot(verdicts$predicted, seq_along(verdicts$predicted), pch = 19, col = colours[verdicts$verdict],
     xlim = range(verdicts$low, verdicts$high), xlab = "yield, with 90 % range", ylab = "", yaxt = "n")
segments(verdicts$low, seq_along(verdicts$low), verdicts$high, col = colours[verdicts$verdict])
invisible(dev.off())
invisible(audit$to_html("audit.html", force = TRUE))
