# Trains a machine of several classes with kernlab, as one problem.
#
#     multiclass_kernlab.R FILE ww|cs C GAMMA
#
# reads points, the class in the last column from 0 on, and prints as JSON the median
# seconds of five trainings after a warm-up, or of one where it takes over three, and their
# objective in the terms of Margin Lab.
#
# kernlab's kbb-svc is the problem of Weston and Watkins with a margin of 2, which is that
# with a margin of 1, half the C and a quarter of the objective, and with the squares of the
# biases added to those of the weights.

suppressMessages(library(kernlab))

arguments <- commandArgs(trailingOnly = TRUE)
data <- as.matrix(read.csv(arguments[1]))
points <- data[, -ncol(data)]
class <- data[, ncol(data)] + 1
ww <- arguments[2] == "ww"
C <- as.numeric(arguments[3])
gamma <- as.numeric(arguments[4])
margin <- if (ww) 2 else 1

seconds <- c()
for (run in 1:6) {
  took <- system.time(machine <- ksvm(
    points, factor(class), type = if (ww) "kbb-svc" else "spoc-svc", kernel = "rbfdot", kpar = list(sigma = gamma),
    C = margin * C, tol = 1e-3, cache = 400, scaled = FALSE, fit = FALSE
  ))
  seconds <- c(seconds, took[["elapsed"]])
  if (took[["elapsed"]] > 3) break
}
if (length(seconds) > 1) seconds <- seconds[-1]

# The dual objective: of the Crammer-Singer machine alpha has a column for every class, of
# the other one for every wrong class.
own <- cbind(seq_along(class), class)
alpha <- machine@alpha
if (ww) {
  all <- matrix(0, nrow(points), max(class))
  for (i in seq_along(class)) all[i, -class[i]] <- -alpha[i, ]
  all[own] <- rowSums(alpha)
  alpha <- all
} else {
  # kernlab 0.9-32 leaves an entry of alpha as it found the memory. The rows sum up to 0.
  for (at in which(alpha != 0 & abs(alpha) < 1e-300)) {
    alpha[at] <- 0
    alpha[at] <- -sum(alpha[row(alpha)[at], ])
  }
}
K <- kernelMatrix(rbfdot(gamma), points)@.Data + ww
dual <- margin * sum(alpha[own]) - sum(alpha * (K %*% alpha)) / 2
cat(sprintf('{"seconds": %.6f, "objective": %.12g}\n', median(seconds), dual / margin^2))
