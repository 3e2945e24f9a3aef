import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";

// A Series is one line of a chart; null is a moment without a value.
export interface Series {
  label: string;
  values: (number | null)[];
}

// Colours that people who see few colours tell apart, on light and on dark grounds.
const colours = ["#3b78d8", "#d9822b", "#2f9e6b", "#b0509e", "#8a8f98", "#c23b3b", "#7a68d6", "#a58a00"];

const shown = 300; // seconds that a chart is wide

// lastMinutes returns the time that a chart shows. uPlot's own bounds of a single value are days apart.
const lastMinutes = (u: uPlot): uPlot.Range.MinMax => {
  const last = u.data[0]?.at(-1) ?? 0;
  return [last - shown, last];
};

// dots returns the indexes of the last value, and of values without a neighbor, which no line shows.
const dots: uPlot.Series.Points.Filter = (u, seriesIdx) => {
  const values = u.data[seriesIdx]!;
  return [...values.keys()].filter((i) => values[i] != null && values[i + 1] == null && (values[i - 1] == null || i === values.length - 1));
};

// Chart draws lines over time, with their last values beneath them.
export function Chart({ title, times, series, format }: { title: string; times: number[]; series: Series[]; format: (v: number) => string }) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const labels = series.map((s) => s.label).join("\n");
  useEffect(() => {
    const element = place.current!;
    const style = getComputedStyle(document.body);
    const text = style.getPropertyValue("--muted");
    const grid = { stroke: style.getPropertyValue("--line"), width: 1 };
    const u = new uPlot(
      {
        width: element.clientWidth,
        height: 150,
        cursor: { show: false },
        legend: { show: false },
        scales: { x: { range: lastMinutes }, y: { range: (_u, _min, max) => [0, max > 0 ? max * 1.1 : 1] } },
        axes: [
          { stroke: text, grid, ticks: grid },
          { stroke: text, grid, ticks: grid, size: 70, values: (_u, ticks) => ticks.map(format) },
        ],
        series: [
          {},
          ...series.map((s, i) => ({
            label: s.label,
            spanGaps: false,
            stroke: colours[i % colours.length],
            width: 1.5,
            points: { show: false, size: 6, fill: colours[i % colours.length], filter: dots },
          })),
        ],
      },
      [times, ...series.map((s) => s.values)],
      element,
    );
    plot.current = u;
    const observer = new ResizeObserver(() => u.setSize({ width: element.clientWidth, height: 150 }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      u.destroy();
    };
  }, [labels]);
  useEffect(() => plot.current?.setData([times, ...series.map((s) => s.values)]), [times]);
  const last = (s: Series) => (s.values.at(-1) == null ? "–" : format(s.values.at(-1)!));
  return (
    <figure class="chart">
      <figcaption>{title}</figcaption>
      <div ref={place} role="img" aria-label={"Lines of the last five minutes: " + title} />
      <ul aria-label={title}>
        {series.map((s, i) => (
          <li key={s.label}>
            <svg width="10" height="10" aria-hidden="true">
              <rect width="10" height="10" rx="2" fill={colours[i % colours.length]} />
            </svg>{" "}
            {s.label} <span class="number">{last(s)}</span>
          </li>
        ))}
      </ul>
    </figure>
  );
}
