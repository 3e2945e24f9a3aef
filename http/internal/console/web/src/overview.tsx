import { useEffect, useRef, useState } from "preact/hooks";
import { Chart, type Series } from "./chart";
import { bytes, count, mean, parseMetrics, quantile, rate, type Sample, seconds, sum, values } from "./metrics";
import { Problem } from "./problem";
import { useSession } from "./session";

const period = 2000; // milliseconds between two looks
const kept = 150; // looks that the charts show

// A Point is what two looks at the metrics say about the time between them.
interface Point {
  time: number; // seconds
  byVerb: Record<string, number>;
  byCode: Record<string, number>;
  latency: Record<string, number | null>;
  commits: number;
  batch: number | null;
  sync: number | null;
  memory: number;
  history: number;
  watches: number;
  events: number;
}

function compare(before: Sample, after: Sample): Point {
  const part = (label: string) =>
    Object.fromEntries(
      values(after, "apiserver_request_total", label)
        .map((v): [string, number] => [v, rate(before, after, "apiserver_request_total", { [label]: v })])
        .filter(([, v]) => v > 0),
    );
  const verbs = values(after, "apiserver_request_duration_seconds_bucket", "verb");
  return {
    time: after.at / 1000,
    byVerb: part("verb"),
    byCode: part("code"),
    latency: Object.fromEntries(verbs.map((verb) => [verb, quantile(before, after, "apiserver_request_duration_seconds", 0.99, { verb })])),
    commits: rate(before, after, "troupe_commits_total"),
    batch: mean(before, after, "troupe_commits_total", "troupe_commit_batches_total"),
    sync: mean(before, after, "troupe_journal_sync_seconds_total", "troupe_journal_sync_total"),
    memory: sum(after, "process_resident_memory_bytes"),
    history: sum(after, "troupe_history_bytes"),
    watches: sum(after, "troupe_watchers"),
    events: rate(before, after, "troupe_watch_events_total"),
  };
}

// useMetrics looks at the metrics time and again, but not while the page is hidden.
function useMetrics() {
  const { client } = useSession();
  const [points, setPoints] = useState<Point[]>([]);
  const [samples, setSamples] = useState<[Sample, Sample]>();
  const [error, setError] = useState<unknown>();
  const last = useRef<Sample | undefined>(undefined);
  useEffect(() => {
    const ended = new AbortController();
    let timer = 0;
    const look = async () => {
      if (!document.hidden)
        try {
          const text = await (await client.fetch("/metrics", { accept: "text/plain", signal: ended.signal })).text();
          const sample = parseMetrics(text, Date.now());
          const before = last.current;
          last.current = sample;
          if (before) {
            setSamples([before, sample]);
            setPoints((all) => [...all.slice(1 - kept), compare(before, sample)]);
          }
          setError(undefined);
        } catch (e) {
          if (ended.signal.aborted) return;
          setError(e);
        }
      timer = window.setTimeout(look, period);
    };
    look();
    return () => {
      ended.abort();
      clearTimeout(timer);
    };
  }, [client]);
  return { points, samples, error };
}

// perName makes a series of each name that occurs in some points, the busiest first.
function perName(points: Point[], of: (p: Point) => Record<string, number | null>): Series[] {
  const totals = new Map<string, number>();
  for (const p of points) for (const [name, v] of Object.entries(of(p))) if (v !== null) totals.set(name, (totals.get(name) ?? 0) + v);
  return [...totals]
    .sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0]))
    .slice(0, 8)
    .map(([label]) => ({ label, values: points.map((p) => of(p)[label] ?? null) }));
}

export function Overview() {
  const { points, samples, error } = useMetrics();
  const times = points.map((p) => p.time);
  const one = (label: string, of: (p: Point) => number | null): Series => ({ label, values: points.map(of) });
  const perSecond = (v: number) => (v >= 100 ? count(v) : v.toPrecision(2)) + "/s";
  return (
    <>
      <h1>Overview</h1>
      {error ? <Problem error={error} /> : null}
      {samples ? <Figures sample={samples[1]} /> : error ? null : <p class="loading">Waiting for the second sample …</p>}
      <div class="charts">
        <Chart title="Requests by verb" times={times} series={perName(points, (p) => p.byVerb)} format={perSecond} />
        <Chart title="Requests by status code" times={times} series={perName(points, (p) => p.byCode)} format={perSecond} />
        <Chart title="Request latency by verb (p99)" times={times} series={perName(points, (p) => p.latency)} format={seconds} />
        <Chart title="Commits" times={times} series={[one("changes", (p) => p.commits)]} format={perSecond} />
        <Chart title="Changes per batch" times={times} series={[one("mean", (p) => p.batch)]} format={(v) => v.toFixed(1)} />
        <Chart title="Journal sync" times={times} series={[one("mean", (p) => p.sync)]} format={seconds} />
        <Chart title="Memory" times={times} series={[one("resident", (p) => p.memory), one("history", (p) => p.history)]} format={bytes} />
        <Chart title="Watches" times={times} series={[one("open", (p) => p.watches)]} format={count} />
        <Chart title="Watch events" times={times} series={[one("events", (p) => p.events)]} format={perSecond} />
      </div>
      {samples && <Collections before={samples[0]} after={samples[1]} />}
    </>
  );
}

function Figures({ sample }: { sample: Sample }) {
  const figures: [string, string][] = [
    ["Objects", count(sum(sample, "troupe_objects"))],
    ["Resource version", count(sum(sample, "troupe_resource_version"))],
    ["Watches", count(sum(sample, "troupe_watchers"))],
    ["Active owners", count(sum(sample, "troupe_object_actors"))],
    ["Queued changes", count(sum(sample, "troupe_commit_queue_depth"))],
    ["Journal", bytes(sum(sample, "troupe_journal_bytes"))],
    ["Memory", bytes(sum(sample, "process_resident_memory_bytes"))],
    ["Up", duration(sum(sample, "troupe_uptime_seconds"))],
  ];
  return (
    <dl class="figures">
      {figures.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function duration(s: number): string {
  if (s < 60) return `${Math.floor(s)} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min`;
  if (s < 86400) return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
  return `${Math.floor(s / 86400)} d ${Math.floor((s % 86400) / 3600)} h`;
}

// Collections lists the collections with the most writes, and whose mutations took longest.
function Collections({ before, after }: { before: Sample; after: Sample }) {
  const rows = values(after, "troupe_objects", "resource").map((resource) => {
    const of = { resource };
    return {
      resource,
      objects: sum(after, "troupe_objects", of),
      watches: sum(after, "troupe_collection_watchers", of),
      history: sum(after, "troupe_history_bytes", of),
      writes: rate(before, after, "troupe_turns_total", of),
      mean: mean(before, after, "troupe_turn_seconds_total", "troupe_turns_total", of),
      longest: sum(after, "troupe_turn_seconds_max", of),
    };
  });
  const busiest = rows.filter((r) => r.objects + r.watches + r.history > 0).sort((a, b) => b.writes - a.writes || b.objects - a.objects);
  const slowest = rows.filter((r) => r.longest > 0).sort((a, b) => b.longest - a.longest);
  return (
    <div class="sidebyside">
      <section>
        <h2>Busiest collections</h2>
        <div class="scroll" tabIndex={0} role="region" aria-label="Busiest collections">
          <table>
            <thead>
              <tr>
                <th scope="col">Collection</th>
                <th scope="col">Objects</th>
                <th scope="col">Watches</th>
                <th scope="col">History</th>
                <th scope="col">Writes/s</th>
                <th scope="col">Mean</th>
              </tr>
            </thead>
            <tbody>
              {busiest.slice(0, 12).map((r) => (
                <tr key={r.resource}>
                  <th scope="row">{r.resource}</th>
                  <td class="number">{count(r.objects)}</td>
                  <td class="number">{count(r.watches)}</td>
                  <td class="number">{bytes(r.history)}</td>
                  <td class="number">{r.writes.toFixed(1)}</td>
                  <td class="number">{r.mean === null ? "–" : seconds(r.mean)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </section>
      <section>
        <h2>Slowest mutations since startup</h2>
        <div class="scroll" tabIndex={0} role="region" aria-label="Slowest mutations">
          <table>
            <thead>
              <tr>
                <th scope="col">Collection</th>
                <th scope="col">Longest</th>
              </tr>
            </thead>
            <tbody>
              {slowest.slice(0, 12).map((r) => (
                <tr key={r.resource}>
                  <th scope="row">{r.resource}</th>
                  <td class="number">{seconds(r.longest)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </section>
    </div>
  );
}
