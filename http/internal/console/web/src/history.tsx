import { useEffect, useState } from "preact/hooks";
import { type APIObject, Failure, path, type Resource } from "./api";
import { Difference, plain } from "./difference";
import { author } from "./ownership";
import { Problem } from "./problem";
import { link } from "./route";
import { useSession } from "./session";

const pageSize = 50; // revisions

// A Revision is a change of an object, as the server retains it.
interface Revision {
  time: string;
  type: "ADDED" | "MODIFIED" | "DELETED" | "ERROR";
  object: APIObject;
}

interface Page {
  metadata: { continue?: string };
  items: Revision[];
}

// History shows the retained revisions of an object, newest first, with their differences. version is that of the object, if it exists.
export function History({ resource, namespace, name, version }: { resource: Resource; namespace: string; name: string; version: string }) {
  const { client } = useSession();
  const [page, setPage] = useState<Page>();
  const [chosen, setChosen] = useState("");
  const [error, setError] = useState<unknown>();
  const read = (signal?: AbortSignal, token = "") =>
    client.json<Page>(`${path(resource, namespace, name)}?history=true&limit=${pageSize}&continue=${token}`, { signal });
  useEffect(() => {
    const ended = new AbortController();
    read(ended.signal).then(setPage, (e) => ended.signal.aborted || setError(e));
    return () => ended.abort();
  }, [client, resource, namespace, name]);
  if (error) return <Problem error={error} />;
  if (!page) return <p class="loading">Loading …</p>;
  const items = page.items;
  const previous = (i: number) => (items[i].type === "ADDED" || items[i + 1]?.type === "ERROR" ? undefined : items[i + 1]?.object);
  return (
    <>
      {version && version !== items[0]?.object.metadata?.resourceVersion && (
        <p class="problem" role="status">
          The object has changed in the meantime. <button onClick={() => read().then(setPage, setError)}>Reload the history</button>
        </p>
      )}
      {items[0]?.type === "DELETED" && <Undelete resource={resource} last={items[0].object} />}
      <table class="history">
        <thead>
          <tr>
            <th scope="col">Revision</th>
            <th scope="col">Time</th>
            <th scope="col">Event</th>
            <th scope="col">Manager</th>
            <th scope="col">Changes</th>
          </tr>
        </thead>
        <tbody>
          {items.map((r, i) => {
            const at = r.object.metadata?.resourceVersion ?? "";
            const change = r.type === "ADDED" || previous(i) !== undefined;
            return (
              <tr key={at || i}>
                <td>{r.type === "ADDED" || r.type === "MODIFIED" ? <a href={link(resource, namespace, name, at)}>{at}</a> : at}</td>
                <td>{r.time}</td>
                <td>{r.type}</td>
                <td>{(change && r.type !== "DELETED" && r.type !== "ERROR" && author(previous(i), r.object)) || "-"}</td>
                <td>
                  {r.type === "ERROR" ? (
                    (r.object as any).message
                  ) : change ? (
                    <>
                      <button aria-expanded={chosen === at} aria-label={`Changes of revision ${at}`} onClick={() => setChosen(chosen === at ? "" : at)}>
                        {chosen === at ? "Hide" : "Show"}
                      </button>
                      {chosen === at && <Difference before={previous(i) ? plain(previous(i)!) : ""} after={r.type === "DELETED" ? "" : plain(r.object)} />}
                    </>
                  ) : (
                    "unknown: the previous revision is not retained"
                  )}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
      {page.metadata.continue && (
        <p>
          <button onClick={() => read(undefined, page.metadata.continue).then((next) => setPage({ ...next, items: [...items, ...next.items] }), setError)}>Older revisions</button>
        </p>
      )}
      <p class="hint">Users are not part of an object. troupe history --audit-log=FILE finds them in the audit log.</p>
    </>
  );
}

// Undelete restores the last state of a deleted object: first as a dry run, then, when that is confirmed, for good.
function Undelete({ resource, last }: { resource: Resource; last: APIObject }) {
  const { client, resources } = useSession();
  const [result, setResult] = useState<APIObject>();
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const { namespace, name } = last.metadata;
  const restore = async (query: string) => {
    setBusy(true);
    setError(undefined);
    try {
      for (const o of last.metadata.ownerReferences ?? []) {
        const r = resources.find((r) => r.kind === o.kind && r.group === (o.apiVersion.includes("/") ? o.apiVersion.split("/")[0] : ""));
        const owner = r && (await client.json<APIObject>(path(r, namespace, o.name)).catch(notFound));
        if (owner?.metadata.uid !== o.uid) throw new Error(`It belongs to ${o.kind} ${o.name}, which no longer exists. troupe undelete --drop-owners restores it without.`);
      }
      const created = await client.post<APIObject>(`${path(resource, namespace)}?fieldManager=console${query}`, restored(last));
      if (query) return setResult(created);
      if (last.status && resource.subresources.includes("status"))
        await client.fetch(path(resource, namespace, name) + "/status?fieldManager=console", {
          method: "PATCH",
          body: JSON.stringify({ status: last.status }),
          headers: { "Content-Type": "application/merge-patch+json" },
        });
    } catch (e) {
      setError(e);
    } finally {
      setBusy(false);
    }
  };
  return (
    <section aria-label="Restoration">
      <p>
        <button disabled={busy} onClick={() => restore("&dryRun=All")}>
          Restore (dry run)
        </button>
      </p>
      {error ? <Problem error={error} /> : null}
      {result && (
        <>
          <h2>Accepted by the dry run</h2>
          <Difference before={plain(last)} after={plain(result)} />
          <p>
            <button class="primary" disabled={busy} onClick={() => restore("")}>
              Restore {name}
            </button>{" "}
            <span class="hint">It gets a new UID.</span>
          </p>
        </>
      )}
    </section>
  );
}

// restored is a deleted object as it is created again: without what the server sets.
function restored(o: APIObject): APIObject {
  const metadata: any = { ...o.metadata };
  for (const field of ["uid", "resourceVersion", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation", "managedFields", "selfLink"]) delete metadata[field];
  return { ...o, metadata };
}

function notFound(e: unknown): undefined {
  if (!(e instanceof Failure && e.code === 404)) throw e;
}
