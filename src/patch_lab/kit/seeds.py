"""What is added to a seed for inputs that no training sees. Numbers stay: recorded runs come from them."""

#: The validation and test inputs of transfer; test inputs of other parts.
VALIDATION = 10_000
TEST = 20_000
#: Test inputs and the curve's of learners on Gaussian patches, and the first of their batches.
GAUSSIAN_TEST = 1_000_001
GAUSSIAN_CURVE = 1_000_002
GAUSSIAN_BATCHES = 2_000_000
#: Networks trained many seeds at a time: test inputs, and the first of their batches.
BENCH_TEST = 1_000_003
BENCH_BATCHES = 1_000_000_000
