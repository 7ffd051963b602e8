// Large numbers in three digits, as src/cost/amount.cc writes them: "144 GiB", "735 TFLOP".

const binary = [" B", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB", " ZiB", " YiB"];
const decimal = [" FLOP", " kFLOP", " MFLOP", " GFLOP", " TFLOP", " PFLOP", " EFLOP", " ZFLOP", " YFLOP"];

function scaled(value: number, base: number, units: readonly string[]): string {
  const most = units.length - 1;
  let power = 0;
  let left = value;
  while (left >= base && power < most) {
    left /= base;
    power += 1;
  }
  if (power === 0) return `${Math.round(left)}${units[0]}`;
  return `${left.toFixed(left < 10 ? 2 : left < 100 ? 1 : 0)}${units[power]}`;
}

export function bytes(value: number): string {
  return scaled(value, 1024, binary);
}

export function flops(value: number): string {
  return scaled(value, 1000, decimal);
}

/** "131,072" */
export function grouped(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

/** "11.72 %" */
export function percent(share: number): string {
  return `${(100 * share).toFixed(2)} %`;
}
