const MAX_COUNT = 20_000;
if (numbers.length === 0 || numbers.length > MAX_COUNT) {
  throw new Error(`numbers must have 1 to ${MAX_COUNT} entries`);
}
for (const number of numbers) {
  if (!Number.isFinite(number)) {
    throw new Error(
      `numbers must hold numbers only, not ${JSON.stringify(number)}`,
    );
  }
}

// Neumaier's sum carries along what rounding would lose.
const total = (values) => {
  let sum = 0;
  let lost = 0;
  for (const value of values) {
    const next = sum + value;
    lost +=
      Math.abs(sum) >= Math.abs(value)
        ? sum - next + value
        : value - next + sum;
    sum = next;
  }
  return sum + lost;
};

const count = numbers.length;
const sorted = [...numbers].sort((one, other) => one - other);
const sum = total(numbers);
const mean = sum / count;
const half = Math.floor(count / 2);
const median =
  count % 2 === 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
const variance = total(numbers.map((number) => (number - mean) ** 2)) / count;
const result = {
  count,
  sum,
  min: sorted[0],
  max: sorted[count - 1],
  mean,
  median,
  stddev: Math.sqrt(variance),
};
if (!Object.values(result).every(Number.isFinite)) {
  throw new Error("numbers are too large to add up");
}
return result;
