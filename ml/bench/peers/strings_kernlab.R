# Times kernlab's kernel matrix of strings.
#
#     strings_kernlab.R FILE TYPE K
#
# reads strings, one a line, and prints as JSON the processor seconds that the matrix of
# stringdot of this type took, of the strings in memory, and the sum of its values.
#
# Type "string" with lambda = 1 counts the substrings of k symbols that two strings have in
# common. Type "spectrum" does so by suffix arrays, of strings with a sign at their ends.

suppressMessages(library(kernlab))

arguments <- commandArgs(trailingOnly = TRUE)
strings <- as.list(readLines(arguments[1]))
kernel <- stringdot(length = as.integer(arguments[3]), lambda = 1, type = arguments[2], normalized = FALSE)
took <- system.time(K <- kernelMatrix(kernel, strings))
cat(sprintf('{"seconds": %.6f, "objective": %.12g}\n', took[["user.self"]] + took[["sys.self"]], sum(K)))
