# What emmeans and lme4 say of docs/for/trial.csv; run in docs/for: Rscript trial.R
suppressPackageStartupMessages({library(lme4); library(emmeans)})
trial <- read.csv("trial.csv", stringsAsFactors = TRUE)

fixed <- lm(yield ~ variety + site, data = trial)
means <- as.data.frame(emmeans(fixed, ~ variety * site))
mixed <- lmer(yield ~ 1 + (1 | variety) + (1 | site) + (1 | variety:site), data = trial)
cells <- means[c("variety", "site")]
said <- data.frame(cells, emmean = means$emmean, SE = means$SE,
                   lmer = predict(mixed, cells, allow.new.levels = TRUE))
said[3:5] <- round(said[3:5], 6)
write.csv(said, "trial-in-r.csv", row.names = FALSE, quote = FALSE)

print(as.data.frame(VarCorr(mixed))[c("grp", "vcov")])
print(c(R = paste(R.version$major, R.version$minor, sep = "."),
        lme4 = as.character(packageVersion("lme4")), emmeans = as.character(packageVersion("emmeans"))))
