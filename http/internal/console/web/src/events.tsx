import { useEffect, useState } from "preact/hooks";
import type { APIObject } from "./api";
import { Problem } from "./problem";
import { useSession } from "./session";

// Events shows what controllers have told about an object.
export function Events({ object }: { object: APIObject }) {
  const { client } = useSession();
  const [events, setEvents] = useState<APIObject[]>();
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    const ended = new AbortController();
    // Events about objects that belong to no namespace are in that of the default.
    const namespace = object.metadata.namespace ?? "default";
    const selector = encodeURIComponent("involvedObject.uid=" + object.metadata.uid);
    client
      .json<{ items: APIObject[] }>(`/api/v1/namespaces/${encodeURIComponent(namespace)}/events?fieldSelector=${selector}&limit=500`, { signal: ended.signal })
      .then(
        (list) => setEvents(list.items.sort((a, b) => when(b).localeCompare(when(a)))),
        (e) => ended.signal.aborted || setError(e),
      );
    return () => ended.abort();
  }, [client, object.metadata.uid, object.metadata.resourceVersion]);
  if (error) return <Problem error={error} />;
  if (!events) return <p class="loading">Loading …</p>;
  if (events.length === 0) return <p>There are no events of this object. By default they are kept for an hour.</p>;
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">Last seen</th>
          <th scope="col">Type</th>
          <th scope="col">Reason</th>
          <th scope="col">Times</th>
          <th scope="col">From</th>
          <th scope="col">Message</th>
        </tr>
      </thead>
      <tbody>
        {events.map((e) => (
          <tr key={e.metadata.uid}>
            <td>{when(e)}</td>
            <td>{e.type}</td>
            <td>{e.reason}</td>
            <td class="number">{e.series?.count ?? e.count ?? 1}</td>
            <td>{e.reportingComponent || e.source?.component}</td>
            <td>{e.message}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const when = (e: APIObject): string => e.series?.lastObservedTime ?? e.lastTimestamp ?? e.eventTime ?? e.metadata.creationTimestamp;
