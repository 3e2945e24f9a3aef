import { useEffect, useRef, useState } from "preact/hooks";
import { path, type Resource, type Table, type TableRow } from "./api";
import { useSession } from "./session";

export const pageSize = 500; // rows that are fetched at a time, and shown

// A table that changes quicker than people read is not watched but listed anew from time to time: the server then makes the rows that are
// shown every two seconds, and not one for each of the thousands of changes between.
const readable = 50; // changes in a second
const period = 2000; // between lists, in milliseconds
const shown = 2000; // for which a change is marked
const patience = 32; // lists that must have been calm, at most, before it is watched again

// useLiveTable lists the objects of a kind as a table, and follows what changes. live says how: "live" or "live, every 2 s"; it is empty where
// nothing is followed.
export function useLiveTable(resource: Resource, namespace: string, selector: string) {
  const { client } = useSession();
  const [table, setTable] = useState<Table>();
  const [error, setError] = useState<unknown>();
  const [live, setLive] = useState("");
  const changed = useRef(new Map<string, number>());
  useEffect(() => {
    const ended = new AbortController();
    const query = selector ? "&labelSelector=" + encodeURIComponent(selector) : "";
    const where = path(resource, namespace);
    let t: Table;
    // Changes are shown once in a frame, however many there are.
    let waiting = false;
    const show = (next: Table) => {
      t = next;
      if (waiting) return;
      waiting = true;
      requestAnimationFrame(() => {
        waiting = false;
        if (ended.signal.aborted) return;
        for (const [uid, at] of changed.current) if (Date.now() - at > shown) changed.current.delete(uid);
        setTable(t);
      });
    };
    const list = () => client.json<Table>(`${where}?limit=${pageSize}${query}`, { accept: client.tableAccept(), signal: ended.signal });

    // watch follows each change, until they come too quickly.
    const watch = async () => {
      const tooQuick = new AbortController();
      let version = t.metadata.resourceVersion;
      let count = 0;
      let since = 0;
      try {
        for (;;)
          await client.watch<Table>(
            `${where}?watch=true&allowWatchBookmarks=true&resourceVersion=${version}${query}`,
            client.tableAccept(),
            AbortSignal.any([ended.signal, tooQuick.signal]),
            (event) => {
              if (event.type === "ERROR") throw new Error((event.object as any).message);
              const row = event.object.rows?.[0];
              if (row) version = row.object.metadata.resourceVersion;
              if (!row || event.type === "BOOKMARK") return;
              const now = Date.now();
              changed.current.set(row.object.metadata.uid, now);
              show(applyChange(t, event.type, row));
              if (now - since > 1000) (since = now), (count = 0);
              if (++count > readable) tooQuick.abort();
            },
          );
      } catch (e) {
        if (!tooQuick.signal.aborted) throw e;
      }
    };

    // listAgain lists from time to time, until so many lists one after the other differ by no more than people can follow.
    const listAgain = async (calmLists: number) => {
      for (let calm = 0; calm < calmLists && !ended.signal.aborted; ) {
        await pause(period);
        if (document.hidden) continue; // nobody looks
        const next = await list();
        const uids = changes(t, next);
        for (const uid of uids) changed.current.set(uid, Date.now());
        calm = uids.length > (readable * period) / 1000 ? 0 : calm + 1;
        show(next);
      }
    };

    const follow = async () => {
      show(await list());
      setError(undefined);
      if (!resource.verbs.includes("watch")) return;
      // A few objects that change all the time look calm in lists, so each watch that ends soon makes the next one come later.
      for (let calmLists = 1; !ended.signal.aborted; ) {
        setLive("live");
        const began = Date.now();
        await watch();
        calmLists = Date.now() - began > patience * period ? 1 : Math.min(2 * calmLists, patience);
        setLive(`live, every ${period / 1000} s`);
        await listAgain(calmLists);
      }
    };
    const run = async () => {
      while (!ended.signal.aborted) {
        try {
          return await follow();
        } catch (e) {
          if (ended.signal.aborted) return;
          setLive("");
          setError(e);
        }
        await pause(3000); // then the list is made anew
      }
    };
    run();
    return () => ended.abort();
  }, [client, resource, namespace, selector]);
  return { table, error, live, changed: changed.current };
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

// changes are the objects of b that are not, or not like that, in a, and those of a that are not in b.
function changes(a: Table, b: Table): string[] {
  const before = new Map(a.rows.map((r) => [r.object.metadata.uid, r.object.metadata.resourceVersion]));
  const uids: string[] = [];
  for (const { object } of b.rows) {
    if (before.get(object.metadata.uid) !== object.metadata.resourceVersion) uids.push(object.metadata.uid);
    before.delete(object.metadata.uid);
  }
  return [...uids, ...before.keys()];
}

// applyChange is the table after a change of one object. It has a page of rows at most.
function applyChange(t: Table, type: string, row: TableRow): Table {
  const same = (r: TableRow) => r.object.metadata.uid === row.object.metadata.uid;
  if (type === "DELETED") return { ...t, rows: t.rows.filter((r) => !same(r)) };
  const at = t.rows.findIndex(same);
  if (at >= 0) return { ...t, rows: t.rows.with(at, row) };
  if (t.metadata.continue) return t; // there are more than are shown, and this may be one of those
  const key = (r: TableRow) => (r.object.metadata.namespace ?? "") + "/" + r.object.metadata.name;
  const next = t.rows.findIndex((r) => key(r) > key(row));
  const rows = next < 0 ? [...t.rows, row] : t.rows.toSpliced(next, 0, row);
  if (rows.length <= pageSize) return { ...t, rows };
  return { ...t, rows: rows.slice(0, pageSize), metadata: { ...t.metadata, continue: "more" } };
}
