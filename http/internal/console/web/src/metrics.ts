// The metrics of the server, and what two looks at them say.

// A Sample is the metrics at one moment: of each name its series.
export interface Sample {
  at: number; // milliseconds
  series: Map<string, { labels: Record<string, string>; value: number }[]>;
}

// parseMetrics reads the text exposition format as far as the server writes it.
export function parseMetrics(text: string, at: number): Sample {
  const series: Sample["series"] = new Map();
  for (const line of text.split("\n")) {
    if (!line || line[0] === "#") continue;
    const space = line.lastIndexOf(" ");
    const brace = line.indexOf("{");
    const name = line.slice(0, brace < 0 ? space : brace);
    const labels = brace < 0 ? {} : parseLabels(line.slice(brace + 1, line.lastIndexOf("}")));
    let all = series.get(name);
    if (!all) series.set(name, (all = []));
    all.push({ labels, value: Number(line.slice(space + 1)) });
  }
  return { at, series };
}

function parseLabels(text: string): Record<string, string> {
  const labels: Record<string, string> = {};
  for (const [, name, value] of text.matchAll(/([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g))
    labels[name] = value.replace(/\\(.)/g, (_, c) => (c === "n" ? "\n" : c));
  return labels;
}

// sum adds up the series of a name that have all of some labels.
export function sum(s: Sample, name: string, labels: Record<string, string> = {}): number {
  let total = 0;
  for (const one of s.series.get(name) ?? []) if (Object.entries(labels).every(([k, v]) => one.labels[k] === v)) total += one.value;
  return total;
}

// rate is how fast counters rise, per second. A counter that has fallen belongs to a new process: then it is 0.
export function rate(before: Sample, after: Sample, name: string, labels: Record<string, string> = {}): number {
  return Math.max(0, sum(after, name, labels) - sum(before, name, labels)) / ((after.at - before.at) / 1000);
}

// mean is what one unit took in the meantime; null if there was none.
export function mean(before: Sample, after: Sample, total: string, count: string, labels: Record<string, string> = {}): number | null {
  const n = sum(after, count, labels) - sum(before, count, labels);
  return n > 0 ? (sum(after, total, labels) - sum(before, total, labels)) / n : null;
}

// values are those that a label has in the series of a name.
export function values(s: Sample, name: string, label: string): string[] {
  return [...new Set((s.series.get(name) ?? []).map((one) => one.labels[label]).filter((v) => v !== undefined))].sort();
}

// quantile estimates from the buckets of a histogram below which time a part q of the requests of the meantime stayed; null if
// there was none. Like Prometheus it takes requests for evenly spread within a bucket.
export function quantile(before: Sample, after: Sample, name: string, q: number, labels: Record<string, string>): number | null {
  const buckets = new Map<number, number>();
  const add = (s: Sample, sign: number) => {
    for (const one of s.series.get(name + "_bucket") ?? []) {
      if (!Object.entries(labels).every(([k, v]) => one.labels[k] === v)) continue;
      const le = one.labels.le === "+Inf" ? Infinity : Number(one.labels.le);
      buckets.set(le, (buckets.get(le) ?? 0) + sign * one.value);
    }
  };
  add(after, 1);
  add(before, -1);
  const sorted = [...buckets].sort((a, b) => a[0] - b[0]);
  const total = sorted.at(-1)?.[1] ?? 0;
  if (total <= 0) return null;
  let lower = 0;
  let below = 0;
  for (const [upper, count] of sorted) {
    if (count >= q * total) return upper === Infinity ? lower : lower + ((upper - lower) * (q * total - below)) / Math.max(1, count - below);
    lower = upper;
    below = count;
  }
  return lower;
}

export function bytes(n: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let i = 0;
  for (; n >= 1024 && i < units.length - 1; i++) n /= 1024;
  return (i === 0 || n >= 100 ? n.toFixed(0) : n.toFixed(1)) + " " + units[i];
}

export function seconds(s: number): string {
  if (s < 1e-3) return (s * 1e6).toFixed(0) + " µs";
  if (s < 1) return (s * 1e3).toPrecision(3) + " ms";
  return s.toPrecision(3) + " s";
}

export function count(n: number): string {
  return Math.round(n).toLocaleString("en");
}
