import { graphlib, layout } from "@dagrejs/dagre";
import { useEffect, useMemo, useState } from "preact/hooks";
import { type APIObject, type Client, type Metadata, path, type Resource, resourceOf } from "./api";
import { Problem } from "./problem";
import { link } from "./route";
import { useSession } from "./session";

const most = 60; // objects that the picture shows
const perKind = 500; // objects that are looked at of one kind

// A Member is an object of the picture.
interface Member {
  uid: string;
  kind: string;
  name: string;
  href: string; // "" for an object that is gone or cannot be read
  owners: string[]; // uids
}

interface Family {
  members: Map<string, Member>;
  notes: string[]; // what could not be looked at
}

// Relations draws an object's owners, theirs, and what it owns. Objects name their owners only, so what it owns is looked for
// in all kinds that can have such objects.
export function Relations({ resource, object }: { resource: Resource; object: APIObject }) {
  const { client, resources } = useSession();
  const [family, setFamily] = useState<Family>();
  const [progress, setProgress] = useState("");
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    const ended = new AbortController();
    setFamily(undefined);
    find(client, resources, resource, object, ended.signal, setProgress).then(setFamily, (e) => ended.signal.aborted || setError(e));
    return () => ended.abort();
  }, [client, resources, resource, object.metadata.uid]);
  if (error) return <Problem error={error} />;
  if (!family) return <p class="loading" role="status">{progress || "Loading …"}</p>;
  return (
    <>
      {family.members.size === 1 ? <p>This object has no owners and no dependents.</p> : <Picture members={[...family.members.values()]} centre={object.metadata.uid} />}
      {family.notes.length > 0 && <p class="hint">Not looked at: {family.notes.join("; ")}.</p>}
    </>
  );
}

async function find(client: Client, resources: Resource[], resource: Resource, object: APIObject, signal: AbortSignal, progress: (s: string) => void): Promise<Family> {
  const family: Family = { members: new Map(), notes: [] };
  add(family, resource, object.kind, object.metadata);
  progress("Loading owners …");
  await findOwners(client, resources, object.metadata, family, signal);
  await findDependents(client, resources, object.metadata, family, signal, progress);
  return family;
}

function add(family: Family, r: Resource, kind: string, m: Metadata): void {
  family.members.set(m.uid, { uid: m.uid, kind, name: m.name, href: link(r, m.namespace, m.name), owners: (m.ownerReferences ?? []).map((o) => o.uid) });
}

async function findOwners(client: Client, resources: Resource[], m: Metadata, family: Family, signal: AbortSignal): Promise<void> {
  for (const o of m.ownerReferences ?? []) {
    if (family.members.has(o.uid) || family.members.size >= most) continue;
    const r = resourceOf(resources, o.apiVersion, o.kind);
    const owner = r && (await client.json<APIObject>(path(r, m.namespace, o.name), { signal, accept: partial(client, "") }).catch(() => undefined));
    if (r && owner?.metadata.uid === o.uid) {
      add(family, r, o.kind, owner.metadata);
      await findOwners(client, resources, owner.metadata, family, signal);
    } else {
      family.members.set(o.uid, { uid: o.uid, kind: o.kind, name: o.name + " (not found)", href: "", owners: [] });
    }
  }
}

const partial = (client: Client, list: string) => `application/json;as=PartialObjectMetadata${list};v=v1;g=${client.config.groups.meta}`;

// findDependents reads the metadata of all objects that could have the object as an owner: those of its namespace, or all where
// it belongs to none.
async function findDependents(client: Client, resources: Resource[], m: Metadata, family: Family, signal: AbortSignal, progress: (s: string) => void): Promise<void> {
  const candidates = resources.filter((r) => r.verbs.includes("watch") && (r.namespaced || !m.namespace) && r.resource !== "events" && r.resource !== "leases");
  const found: [Resource, Metadata][] = [];
  let done = 0;
  const next = candidates.values();
  const work = async () => {
    for (const r of next) {
      progress(`Looking for what it owns: ${++done} of ${candidates.length} kinds`);
      try {
        const list = await client.json<{ items: { metadata: Metadata }[]; metadata: { continue?: string } }>(`${path(r, m.namespace)}?limit=${perKind}`, {
          signal,
          accept: partial(client, "List"),
        });
        if (list.metadata.continue) family.notes.push(`more than ${perKind} of ${r.resource}`);
        for (const item of list.items) if (item.metadata.ownerReferences) found.push([r, item.metadata]);
      } catch (e) {
        if (signal.aborted) throw e;
        family.notes.push(r.resource);
      }
    }
  };
  await Promise.all([work(), work(), work()]);
  let size: number;
  const owned = new Set([m.uid]);
  do {
    size = family.members.size;
    for (const [r, one] of found)
      if (family.members.size < most && !family.members.has(one.uid) && one.ownerReferences!.some((o) => owned.has(o.uid))) {
        add(family, r, r.kind, one);
        owned.add(one.uid);
      }
  } while (family.members.size > size);
  if (size >= most) family.notes.push(`more than ${most} objects`);
}

const box = { width: 190, height: 46 };

function Picture({ members, centre }: { members: Member[]; centre: string }) {
  const drawn = useMemo(() => {
    const g = new graphlib.Graph();
    g.setGraph({ rankdir: "LR", nodesep: 14, ranksep: 50 });
    g.setDefaultEdgeLabel(() => ({}));
    for (const m of members) g.setNode(m.uid, { ...box });
    for (const m of members) for (const o of m.owners) if (g.hasNode(o)) g.setEdge(o, m.uid);
    layout(g);
    return g;
  }, [members]);
  const size = drawn.graph();
  const shorten = (s: string) => (s.length > 26 ? s.slice(0, 25) + "…" : s);
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Owners on the left, dependents on the right">
      <svg class="relations" width={size.width} height={size.height} viewBox={`-1 -1 ${(size.width ?? 0) + 2} ${(size.height ?? 0) + 2}`}>
        {drawn.edges().map((e) => (
          <polyline key={e.v + e.w} points={(drawn.edge(e).points as { x: number; y: number }[]).map((p) => `${p.x},${p.y}`).join(" ")} />
        ))}
        {members.map((m) => {
          const at = drawn.node(m.uid);
          const content = (
            <g class={m.uid === centre ? "centre" : ""} transform={`translate(${at.x - box.width / 2},${at.y - box.height / 2})`}>
              <title>{m.name}</title>
              <rect {...box} rx="6" />
              <text x="10" y="18" class="kind">
                {m.kind + " "}
              </text>
              <text x="10" y="36">{shorten(m.name)}</text>
            </g>
          );
          return m.href && m.uid !== centre ? (
            <a key={m.uid} href={m.href}>
              {content}
            </a>
          ) : (
            content
          );
        })}
      </svg>
    </div>
  );
}
